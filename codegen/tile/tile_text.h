/* codegen/tile/tile_text.h: a tile as text: to be read, in plain C, and in C with vector types. */
#ifndef AT_CODEGEN_TILE_TEXT_H
#define AT_CODEGEN_TILE_TEXT_H

#include "codegen/tile/tile.h"

/* tile_dump.c: readable text. */
void at_tile_print(at_text *out, const at_tile *t);
/* tile_text.c: what the printers of C share. */
void at_c_float(at_text *out, float x);
void at_c_constant(at_text *out, const at_tile *t, const at_tile_op *op); /* its number */
/* The operation's form in a dialect's table, [kind]; where it has none the one of C's arithmetic;
 * NULL: neither has. */
const char *at_c_form(const char *const *forms, const at_tile_op *op);
void at_tile_comment(at_text *out, const at_tile *t); /* which tensors the pointers are */
void at_tile_scatter_c(at_text *out, const at_tile *t, const at_tile_op *op);
/* tile_integers.c: macros for integers, once per file. to_int: the instruction that makes integers
 * of floats, letter: of the registers that an instruction may name. */
void at_tile_integers(at_text *out, const char *to_int, char letter);
void at_tile_two(at_text *out); /* and those with floats of 16 bits */
typedef struct at_tile_style {  /* what tells one dialect of C from another */
    const char *type;           /* of a register */
    char letter;                /* its name: v0, v1, ... */
    const char *types;          /* that the function begins with; or "" */
    const char *aligned;        /* before an array that begins with a line of the cache; or "" */
    const char *(*form)(const at_tile_op *op); /* of its statement, or NULL: `other` prints it */
    void (*other)(at_text *out, const at_tile *t, const at_tile_op *op);
    void (*place)(at_text *out, const at_tile *t, const at_tile_op *op, char place);
} at_tile_style;
/* A statement's form is its text, in which $d, $a and $b are registers, $n is `by`, $l the lanes,
 * $s the slot, $o the offset there, and $p the prefix of helpers. All else is printed by `place`:
 * $x is the second operand, wherever it lies, $u its bits; a table of forms names what else it has.
 */
void at_tile_function(at_text *out, const at_tile *t, const at_tile_style *style,
                      const char *prefix);
void at_tile_declare(at_text *out, const at_tile *t, const char *prefix);
/* tile_c.c: the function in plain C. */
void at_tile_print_c(at_text *out, const at_tile *t, const char *prefix);
/* Functions that they call, before them. */
void at_tile_helpers_c(at_text *out, at_tile *const *tiles, int n, const char *prefix);
/* tile_gnu.c: with vector types, for gcc and clang; the target's prelude comes before, once. */
void at_tile_print_gnu(at_text *out, const at_tile *t, const char *prefix);

#endif
