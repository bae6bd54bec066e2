/* codegen/emit.h: C text under way: the blocks that are open, and what is declared in them.
 *
 * emit_address.c gives names, integers and pointers, each declared at the shallowest loop where its
 * operands are known; emit.c the loops, calls and functions around them. */
#ifndef AT_CODEGEN_EMIT_H
#define AT_CODEGEN_EMIT_H

#include "codegen/codegen_int.h"
#include "codegen/tile/tile.h"

#define AT_EMIT_BLOCKS 128

typedef struct { /* a pointer (tensor >= 0) or an opaque symbol (tensor -1) declared in a block */
    int tensor;
    const at_aff *at;
    const char *name;
} at_emit_declared;

typedef struct { /* two texts, joined when it closes */
    int sym;     /* loop variable the block binds; -1: none */
    at_text decl, body;
    AT_VEC(at_emit_declared) known;
} at_emit_block;

/* stop_checks.c: where a kernel can be cut short (at_kernel.turns). */
enum { AT_MOST_CUT = 6 };
typedef struct {
    const at_ir *loop[AT_MOST_CUT]; /* one inside another; the innermost counts its turns, unless
                                     * it is parallel */
    int num;
    int64_t total; /* turns of the innermost one in a run */
} at_turns;
at_turns at_turns_of(at_low *l, const at_ir *list);

/* to_and_fro.c: does a parallel loop turn backwards in every second step of the loop around it? */
bool at_goes_to_and_fro(const at_low *l, const at_ir *loop, int step);

typedef struct {
    at_low *l;
    at_emit_block blocks[AT_EMIT_BLOCKS];
    int depth;                     /* open blocks of the current function */
    int base;                      /* first block of the current function */
    at_text functions;             /* bodies of parallel loops, in order */
    const char *var[AT_MAX_LOOPS]; /* C name of a loop symbol in scope */
    bool packing;                  /* emitting the pack function */
    int num_names, num_bodies;
    at_turns cut;    /* none, while it packs */
    const char *par; /* the at_par, where the text stands */
} at_emitter;

at_text *at_emit_body(at_emitter *e); /* of the innermost block */
int at_emit_indent(const at_emitter *e);
void at_emit_open(at_emitter *e, int sym);
void at_emit_close(at_emitter *e, at_text *out); /* appends declarations and body */
/* A C name that is free in the current function, this one where possible. */
const char *at_emit_variable(at_emitter *e, const char *name);
void at_emit_affine(at_emitter *e, at_text *out, const at_aff *x);
/* The name of a pointer to element `at` of a tensor. */
const char *at_emit_pointer(at_emitter *e, int tensor, const at_aff *at);

#endif
