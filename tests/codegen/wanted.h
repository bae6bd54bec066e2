/* tests/codegen/wanted.h: the instructions that a tile of x86 wants, as objdump writes them. */
#ifndef AT_TESTS_WANTED_H
#define AT_TESTS_WANTED_H

#include "tests/codegen/hand_made.h"

#define WANT(m, ...) (at_text_addf(&(m)->want, __VA_ARGS__), at_text_add(&(m)->want, "\n"))

/* Registers of pointers. */
extern const char *const wanted_bases[AT_TILE_MAX_SLOTS];
/* The operand in memory, so many bytes of it, `more` behind where it lies. */
const char *wanted_memory(const maker *m, const at_tile_op *op, int bytes, int64_t more);
const char *wanted_vector(const maker *m, int r, int bytes);
bool wanted_has_vex(const at_target *target);
/* Of the last operation added, of straight-line code. */
void want(maker *m);

#endif
