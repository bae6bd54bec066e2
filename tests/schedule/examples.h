/* tests/schedule/examples.h: computations with trees and sizes that several tests share, and what
 * it takes to run one. */
#ifndef AT_TEST_EXAMPLES_H
#define AT_TEST_EXAMPLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schedule/schedule.h"

typedef struct example {
    const char *name;
    const char *sizes; /* "N=1, Y=N*H*W": a later one may use the earlier */
    const char *compute, *tree;
} example;

/* conv_gemm: 3x3 convolution as im2col and GEMM, weights packed; conv_tails: the same where no part
 * needs to divide; conv_direct: blocked channels, padding, strides and dilation, padding dissolved;
 * sparse: stored blocks, data-dependent reduction; notes_*: the trees of the user's notes;
 * transform: Winograd's F(2, 3) along one axis, with tables. */
extern const example conv_gemm, conv_tails, conv_direct, sparse, notes_direct, notes_gemm,
    notes_sparse, transform;
extern const example *const examples[];
extern const int num_examples;

/* Everything of one example; sizes can be set again before fixture_build. */
typedef struct fixture {
    at_arena *arena;
    at_symbols symbols;
    int64_t values[64];
    at_compute *compute;
    at_tree *tree;
    at_program *program;
    at_data *data;  /* [tensor]: inputs, index tensors and expected stages */
    at_data *found; /* [tensor]: inputs of data; stages of a tree's run */
    void *loaded;   /* what fixture_compile has made */
    at_error err;
} fixture;

typedef int naive_entry(void *const buf[], void *workspace, void *par);

void fixture_sizes(fixture *f, const char *sizes); /* makes the arena; values of these names */
void fixture_set(fixture *f, const char *sizes);   /* "yt=1, yo=5": changes values */
void fixture_text(fixture *f, const char *sizes, const char *text); /* and the computation */
void fixture_open(fixture *f, const example *e);                    /* sizes, computation, tree */
void fixture_close(fixture *f);
int64_t fixture_value(const fixture *f, const char *name);
/* Inputs: integers of small absolute value; index tensors of `sparse`: a few blocks per row. */
void fixture_fill(fixture *f, uint64_t seed);
/* C text with a function `reference`, compiled without a warning; lives as long as the fixture. */
naive_entry *fixture_compile(fixture *f, const char *source);
/* Builds and verifies; the status of the first that fails. */
at_status fixture_build(fixture *f);
/* Runs the tree; it must compute every output that the expressions compute. */
void fixture_compare(fixture *f, const char *what);

#define assert_ok(f, call)                                                                         \
    do {                                                                                           \
        if ((call) != AT_OK) fail_msg("%s", (f)->err.text);                                        \
    } while (0)

/* An im2col, weights packed, and their product. */
#define GEMM_TREE                                                                                  \
    "p, b, k =>\n"                                                                                 \
    "    @packw = p, k, b\n"                                                                       \
    "yt, xt, yo =>\n"                                                                              \
    "    yi, k9, ci:vec =>\n"                                                                      \
    "        @im2col = {yt, yo, yi}/y, {k9, ci}/k\n"                                               \
    "    xo =>\n"                                                                                  \
    "        ko, ki:unroll, yi:unroll, xi:vec =>\n"                                                \
    "            @acc = {yt, yo, yi}/y, {xt, xo, xi}/x  // {ko, ki}/k\n"                           \
    "        yi:unroll, xi:vec =>\n"                                                               \
    "            @out = {yt, yo, yi}/y, {xt, xo, xi}/x\n"

#endif
