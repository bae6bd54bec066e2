/* codegen/aarch64/aarch64.h: AArch64 as a target, and the parts that its record is made of. */
#ifndef AT_CODEGEN_AARCH64_AARCH64_H
#define AT_CODEGEN_AARCH64_AARCH64_H

#include "codegen/codegen.h"
#include "codegen/target.h"

extern const at_architecture at_aarch64; /* targets.c */

int at_a64_disassemble(const uint8_t *code, int len, char *out, size_t out_size); /* asm.c */
void at_aarch64_cpu_test(const at_target *target, const char *name, bool by_compiler,
                         at_text *out); /* cpu_test.c */
/* peak_loop.c */
double at_aarch64_peak_loop(const at_target *target, const char *name, at_text *out);
/* Machine code: neon.c, doubles.c. */
bool at_encode_neon(at_arena *arena, struct at_tile *t);
bool at_encode_neon_doubles(at_arena *arena, struct at_tile *t);
/* What tiles in C for gcc and clang are written in: prelude_neon.c. */
void at_prelude_neon(const at_target *target, at_text *out);
void at_halves_neon(const at_target *target, at_text *out);
void at_integers_neon(const at_target *target, at_text *out);

#endif
