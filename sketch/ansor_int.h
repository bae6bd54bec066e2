/* sketch/ansor_int.h: a state of Ansor's, as steps have made it. Source: TVM's auto_scheduler,
 * steps SP RE FU AN PR CA CI CR CHR CHW RF FSP FFSP SA. */
#ifndef AT_SKETCH_ANSOR_INT_H
#define AT_SKETCH_ANSOR_INT_H

#include "sketch/sketch.h"

enum {
    ANSOR_AXES = 24,
    ANSOR_PIECES = 160,
    ANSOR_LOOPS = 64,
    ANSOR_STAGES = 48,
    ANSOR_STEPS = 2000
};

typedef struct ansor_axis {
    const char *name;
    int64_t extent;
    bool is_gone; /* a digit of another axis by now */
} ansor_axis;

/* A part of an axis, outer ones first; a split puts several in place of one. */
typedef struct ansor_piece {
    int axis;
    int64_t length; /* as a split said; 0: what is left */
    int64_t extent; /* once the region is known */
    const char *name;
} ansor_piece;

/* Pieces of a loop, several where it is fused; or pieces that count an axis, outer ones first,
 * without pieces that run once. */
typedef struct ansor_pieces {
    ansor_piece *piece[ANSOR_LOOPS];
    int n;
} ansor_pieces;

typedef struct ansor_loop {
    ansor_pieces of;
    bool is_reduce;
    at_ann ann;
} ansor_loop;

typedef struct ansor_stage {
    const char *name;
    const at_tensor *declared; /* an input, with numbers as extents; NULL: a stage */
    at_tensor text;            /* its expressions as written, without axes */
    ansor_axis axis[ANSOR_AXES];
    int num_axes, num_reduce;
    int num_blocks;                   /* its first axes: blocks of its reader's (ansor_region.c), */
    ansor_pieces block[ANSOR_AXES];   /* which these pieces of the reader count */
    ansor_piece *piece[ANSOR_PIECES]; /* per axis, outer ones first */
    int num_pieces;
    ansor_loop *loop[ANSOR_LOOPS];
    int num_loops;
    struct ansor_stage *at; /* where it is attached, */
    ansor_loop *at_loop;    /* NULL: at the root */
    bool is_inlined;
    int unroll_max; /* auto_unroll_max_step */
    int id;         /* as it stands at the end */
} ansor_stage;

typedef struct ansor_state {
    at_arena *arena;
    at_error *err;
    ansor_stage *stage[ANSOR_STAGES];
    int num_stages;
    bool adds; /* regions (ansor_region.c), and vectors that Ansor leaves to its compiler */
    at_text notes;
} ansor_state;

typedef struct ansor_workload {
    const char *name, *text; /* text: as a .te file */
    int name_length, least;  /* least: numbers in a key: TVM's function has no defaults for these */
    size_t length;
} ansor_workload;
bool ansor_find_workload(const char *name, ansor_workload *out); /* false: it is not known */
void ansor_add_workloads(at_text *out);
#define ANSOR_REFUSE(s, ...) at_fail((s)->err, AT_E_INPUT, __VA_ARGS__)

/* Defines n names, one or digits, before all others of the stage (ansor_loops.c). extents: of
 * digits. */
void ansor_define(ansor_state *s, ansor_stage *x, int n, const char *const *names,
                  at_expr *const *extents, at_expr *value);
/* The computation with the stages that there are. AT_E_INPUT */
at_status ansor_compute(const ansor_state *s, const at_symbols *symbols, at_compute **out);

/* Arguments of a step (ansor_loops.c). AT_E_INPUT names the item. */
at_status ansor_number(ansor_state *s, const at_json *step, int i, int64_t *out);
at_status ansor_list(ansor_state *s, const at_json *step, int i, int64_t *out, int most, int *n);
at_status ansor_word(ansor_state *s, const at_json *step, int i, const char **out);
at_status ansor_stage_at(ansor_state *s, const at_json *step, int i, int64_t *id,
                         ansor_stage **out);
at_status ansor_loop_at(ansor_state *s, const at_json *step, int i, const ansor_stage *x, int *id);

/* Where a stage is computed, and its loops (ansor_loops.c). AT_E_INPUT */
at_status ansor_add_loop(ansor_state *s, ansor_stage *x, ansor_piece *piece, bool is_reduce);
void ansor_detach(ansor_stage *x);
bool ansor_has_attached(const ansor_state *s, const ansor_stage *x); /* stages at its loops */
bool ansor_is_place(const ansor_state *s, const ansor_loop *l);      /* of a stage at it */
at_status ansor_attach(ansor_state *s, const at_json *step, ansor_stage *x);
at_status ansor_inline(ansor_state *s, ansor_stage *x);
/* Is that piece of the loop the only one of its axis? */
bool ansor_is_whole(const ansor_stage *x, const ansor_loop *l, int piece);
/* How long a piece is with its axis at its full length. */
int64_t ansor_full_length(const ansor_stage *x, const ansor_piece *p);
/* A loop without annotation in two, the inner one of so many steps. */
at_status ansor_split_loop(ansor_state *s, ansor_stage *x, int at, int64_t inner);
at_status ansor_split(ansor_state *s, const at_json *step, ansor_stage *x);
at_status ansor_follow_split(ansor_state *s, const at_json *steps, const at_json *step,
                             ansor_stage *x);
at_status ansor_follow_fused_split(ansor_state *s, const at_json *steps, const at_json *step,
                                   ansor_stage *x);
at_status ansor_fuse(ansor_state *s, const at_json *step, ansor_stage *x);
at_status ansor_reorder(ansor_state *s, const at_json *step, ansor_stage *x);
at_status ansor_annotate(ansor_state *s, const at_json *step, ansor_stage *x);
at_status ansor_pragma(ansor_state *s, const at_json *step, ansor_stage *x);

/* Stages (ansor_stages.c). */
at_status ansor_cache_write(ansor_state *s, const at_json *step, int64_t id, ansor_stage *x);
at_status ansor_cache_read(ansor_state *s, const at_json *step);
at_status ansor_factor(ansor_state *s, const at_json *step, int64_t id, ansor_stage *x);
/* Of a computation with numbers, one stage per tensor. */
at_status ansor_start(ansor_state *s, const at_compute *c, const int64_t *values);
/* Its tree, of pieces whose sizes are numbers: "i0 = 8, i1 = 4". c: that computation, over symbols
 * which get the names of pieces; values: by slot. *again: a stage became one of blocks, so that the
 * computation is another one, and there is no tree yet. */
at_status ansor_make_tree(ansor_state *s, const at_compute *c, at_symbols *symbols,
                          const int64_t *values, at_tree **tree, at_text *sizes, bool *again);
/* The axis of a stage that the k-th of its tensor is. */
int ansor_axis_of(const ansor_stage *x, int k);
bool ansor_has_digit(const ansor_pieces *d, const ansor_piece *p);
/* Has anything of the computation, or of what it is made of, this name? */
bool ansor_is_named(const ansor_state *s, const at_compute *c, const char *name);

/* A stage in loops of its only reader becomes one of what is read in each block of these (
 * ansor_region.c). digits: [stage][axis]; around: the loops that it stands in. false: it cannot,
 * and nothing has changed. */
bool ansor_make_region(ansor_state *s, const at_compute *c, const int64_t *values, ansor_stage *x,
                       const ansor_pieces digits[][ANSOR_AXES], const ansor_pieces *around);

#endif
