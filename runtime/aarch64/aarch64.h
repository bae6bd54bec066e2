/* runtime/aarch64/aarch64.h: between the files of this folder. */
#ifndef AT_RUNTIME_AARCH64_AARCH64_H
#define AT_RUNTIME_AARCH64_AARCH64_H

#include "runtime/arch.h"

/* facts.c. */
bool at_aarch64_has_base(void); /* with NEON: every CPU that runs this program has it */
bool at_aarch64_has_dotprod(void);
bool at_aarch64_has_i8mm(void);
bool at_aarch64_has_fp16fml(void);

#endif
