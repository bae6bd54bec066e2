/* codegen/x86/x86.h: x86-64 as a target, and the parts that its record is made of. */
#ifndef AT_CODEGEN_X86_X86_H
#define AT_CODEGEN_X86_X86_H

#include "codegen/codegen.h"
#include "codegen/target.h"

extern const at_architecture at_x86_64; /* targets.c */

int at_x86_disassemble(const uint8_t *code, int len, char *out, size_t out_size); /* asm.c; Intel's
                                                                                     syntax */
void at_x86_cpu_test(const at_target *target, const char *name, bool by_compiler,
                     at_text *out);                                               /* cpu_test.c */
double at_x86_peak_loop(const at_target *target, const char *name, at_text *out); /* peak_loop.c */
/* Machine code: avx512.c, avx2.c, sse2.c. */
bool at_encode_scalar(at_arena *arena, struct at_tile *t);
bool at_encode_sse2(at_arena *arena, struct at_tile *t);
bool at_encode_avx2(at_arena *arena, struct at_tile *t);
bool at_encode_avx512(at_arena *arena, struct at_tile *t);
/* Of registers of doubles: sse2.c, which makes those of the scalar set, too, and doubles.c. */
bool at_encode_sse2_doubles(at_arena *arena, struct at_tile *t);
bool at_encode_avx2_doubles(at_arena *arena, struct at_tile *t);
bool at_encode_avx512_doubles(at_arena *arena, struct at_tile *t);
/* What tiles in C for gcc and clang are written in: prelude.c. */
void at_prelude_sse2(const at_target *target, at_text *out);
void at_prelude_avx2(const at_target *target, at_text *out);
void at_prelude_avx512(const at_target *target, at_text *out);
void at_integers_sse2(const at_target *target, at_text *out);
void at_integers_avx2(const at_target *target, at_text *out);
void at_integers_avx512(const at_target *target, at_text *out);
void at_prelude_halves(const at_target *target, at_text *out);
/* Dot products of 512 bits by one instruction, as at_NAMEdot. */
void at_x86_prelude_dots(const char *name, const char *instruction, at_text *out);

#endif
