/* runtime/x86/x86.h: between the files of this folder. */
#ifndef AT_RUNTIME_X86_X86_H
#define AT_RUNTIME_X86_X86_H

#include "runtime/arch.h"

/* cpuid.c. */
bool at_x86_has_base(void);
bool at_x86_has_avx2(void);      /* with FMA */
bool at_x86_has_f16c(void);      /* and F16C */
bool at_x86_has_avx_vnni(void);  /* and AVX_VNNI */
bool at_x86_has_avx512(void);    /* F, BW, DQ and VL */
bool at_x86_has_vnni(void);      /* and VNNI */
bool at_x86_has_bf16(void);      /* and BF16 */
bool at_x86_has_slow_bf16(void); /* a dot product every second cycle */

#endif
