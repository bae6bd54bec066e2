/* tests/schedule/edited.h: a computation and its tree, edited step by step, as tests of edits have
 * them. */
#ifndef AT_TEST_EDITED_H
#define AT_TEST_EDITED_H

#include "schedule/edit/edit_compute.h"
#include "tests/schedule/examples.h"

/* What edits go on from; of one test at a time. */
typedef struct edited {
    fixture f;
    const at_compute *compute;
    at_tree *tree;
    at_error err;
} edited;
extern edited e;

/* The user's product and sum, in plain loops. */
extern const example edited_product;
#define EDITED_SIZES "N=8, M=12, L=6, i0=2, i1=4, j0=3, j1=4, k0=2, k1=3, P=4"

void begin_edits(const example *x);
void end_edits(void);
void expect_tree(const char *wanted);
/* The line of the computation that begins with the tensor's name. */
void expect_stage(const char *wanted);
/* Every output as the computation before all edits has it, to so many units in the last place. */
void expect_outputs(float ulps);
void expect_same_outputs(void);

#define DO(call)                                                                                   \
    do {                                                                                           \
        if ((call) != AT_OK) fail_msg("%s\n%s", #call, e.err.text);                                \
    } while (0)
#define REFUSED(message, call)                                                                     \
    do {                                                                                           \
        assert_int_equal((call), AT_E_INPUT);                                                      \
        assert_string_equal(e.err.text, message);                                                  \
    } while (0)
#define NAMES(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / 8
#define SPLIT(stage, loop, ...)                                                                    \
    at_edit_split(e.f.arena, e.tree, e.compute, stage, loop, NAMES(__VA_ARGS__), &e.tree, &e.err)
#define ORDER(stage, ...)                                                                          \
    at_edit_order(e.f.arena, e.tree, e.compute, stage, NAMES(__VA_ARGS__), &e.tree, &e.err)
#define FUSE(stage, ...)                                                                           \
    at_edit_fuse(e.f.arena, e.tree, e.compute, stage, NAMES(__VA_ARGS__), &e.tree, &e.err)
#define MARK(stage, loop, ann)                                                                     \
    at_edit_mark(e.f.arena, e.tree, e.compute, stage, loop, ann, &e.tree, &e.err)
#define NEST(stage, beside, loop, before)                                                          \
    at_edit_nest(e.f.arena, e.tree, e.compute, stage, beside, loop, before, &e.tree, &e.err)
#define COPY(kind, tensor, reader, name)                                                           \
    at_edit_copy(e.f.arena, e.tree, kind, tensor, reader, name, &e.compute, &e.tree, &e.err)
#define FACTOR(stage, loop, name, before)                                                          \
    at_edit_factor(e.f.arena, e.tree, stage, loop, name, before, &e.compute, &e.tree, &e.err)

#endif
