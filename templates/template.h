/* templates/template.h: what a template author writes against. Plain C99 without any other header,
 * so that TinyCC can compile a user's own template at run time. docs/templates.md walks through
 * one.
 *
 * A template says in text what is computed and how its loops may be arranged; its knobs span the
 * space. define() is called once per task; the task's arguments are names that its texts may use.
 * The first mistake is kept and reported with the template's name; later calls do nothing. */
#ifndef AT_TEMPLATE_H
#define AT_TEMPLATE_H

#include "knobs/policy.h"

typedef struct at_template at_template; /* one task being defined */

typedef struct at_template_row {
    const char *name;        /* on the command line and in files */
    const char *record_name; /* in logs; NULL: the same */
    const char *help;        /* one line */
    /* Names with defaults, in order: "N=1, H=56". A number is at least 1, or what stands behind
     * "from": "bias=0 from 0". "strides(sh, sw)=1" stands for several numbers in one place of a
     * record, "layout=\"NCHW\" or \"NCHW{ib}c\"" for one of these texts (ib: a number's value). */
    const char *args;
    /* The JSON array of a record with argument names for values: "[N, H, W, CI, CO, \"float32\"]".
     * Several forms: "[M, N] with bias=0 | [M, N, [N]] with bias=1". */
    const char *record_args;
    void (*define)(at_template *t);
    /* The default configuration by at_default, where the limits of at_split do not suffice; lanes:
     * 32-bit numbers in a vector. NULL: there are only limits. */
    void (*defaults)(at_template *t, int lanes);
    /* What a task is in few signs, with arguments in braces; the others follow where they are not
     * their defaults. sizes: in names of kernels, "{N}x{H}x{W}x{CI}_{CO}"; title: in tables,
     * "conv3x3 {CI} to {CO} @{H}x{W}". NULL: all numbers, in their order. */
    const char *sizes, *title;
} at_template_row;

/* Names for integers, in order: "Y = N*H*W, X = CO". |xi| is the extent of split part xi. A name is
 * defined once, before its use. Sizes that use split parts or options are worked out again for
 * every configuration; while the task is being defined they have the values of entity 0. */
void at_sizes(at_template *t, const char *definitions);

/* The text of sizes for a window of `kernel` elements, `dilation` apart, that moves by `stride`
 * along `in` elements with a padding of `before` and `after`, of which AutoTVM's SAME makes -1: p
 * and q are the padding as it comes out, `out` is how many places the window has. All are texts. */
#define AT_WINDOW(out, in, kernel, stride, dilation, before, after, p, q)                          \
    p " = " before " < 0 ? ((" kernel "-1)*" dilation " + 1)/2 : " before ", " q " = " after       \
      " < 0 ? (" kernel "-1)*" dilation "/2 : " after ", " out " = (" in " + " p " + " q           \
      " - (" kernel "-1)*" dilation " - 1)/" stride " + 1"

/* A split of `axis` (an expression) into the named parts, outermost first. */
typedef struct at_split_spec {
    int unused_; /* takes the 0 of at_split, so that nothing else need be named */
    at_policy policy;
    const char *filter;    /* "last <= 64" */
    long long max_factor;  /* 0: none */
    int no_tail;           /* 0: the policy's own; 1, -1 */
    long long fallback[8]; /* limits of the default configuration, per part, -1 none; all 0: none */
    const char *listed;    /* policy AT_LISTED: "pow2 | 6 8 14", by part but the first */
} at_split_spec;
void at_split_(at_template *t, const char *knob, const char *axis, const char *parts,
               at_split_spec spec);
#define at_split(t, knob, axis, parts, ...)                                                        \
    at_split_((t), (knob), (axis), (parts), (at_split_spec){0, __VA_ARGS__})

/* A value from a JSON array, "[true, false]". Where all are integers or truth values, its name may
 * be used in sizes and conditions (true is 1). fallback: the position of the default. */
void at_option(at_template *t, const char *knob, const char *values, int fallback);
/* An order of so many loops, as AutoTVM's reorder knob: policy is all (their permutations),
 * identity or the orders themselves, "0 1 2, 0 2 1". `name` is a size: the order's number, for [a,
 * b, c]:order(name) in a tree. The default is the order as written. */
void at_reorder(at_template *t, const char *knob, const char *name, int num_loops,
                const char *policy);
/* Annotations of loops, as AutoTVM's annotate knob: policy is try_unroll, try_vec or
 * try_unroll_vec, where try is none; or marks in another order, of which the first is the default:
 * vec_unroll_none. Each of the names is a size, for a:ann(name) in a tree: 0 none, 1 unroll, 2 vec.
 */
void at_annotate(at_template *t, const char *knob, const char *names, const char *policy);
/* In defaults: of a split, the sizes of its parts but the first; of an option, its value; of
 * annotations, the number of each. */
void at_default(at_template *t, const char *knob, const long long *values);
/* The largest divisor of n that is at most limit (at least 1). */
long long at_divisor(long long n, long long limit);
/* How many of n elements a tile takes in vectors of `lanes`: the largest divisor of n of at most so
 * many vectors; where that fills less than half of one, the smallest that fills one. */
long long at_vectors(long long n, int lanes, int most);
/* How many of n rows a tile takes, `most` of them at most: a divisor of n, or where such have half
 * or less, a power of two, as AT_VERBOSE has. */
long long at_fitting_rows(long long n, long long most);
/* How many rows of so many elements, two vectors of them or more, the sums in registers are. */
long long at_most_rows(long long elements, int lanes);
/* In defaults(): are they for a set that multiplies by one lane of a register (AArch64's), where
 * loads in a row serve several terms? */
int at_by_element(const at_template *t);

/* The value of an expression while the task is being defined, for declaring knobs, computations or
 * trees that only some arguments have. */
long long at_evaluate(at_template *t, const char *expression);
/* The i-th of the types of elements that an argument's text names: of "u8s8s32" "u8", "s8", "s32";
 * "f32" where it names none. */
const char *at_argument_type(at_template *t, const char *argument, int i);
/* Of data, weight and output of such types: the type of sums, and the text of the output "out".
 * Sums of integers are put into other types by channel: times scale[c], plus zero[c], rounded to
 * the nearest where the output has integers. */
typedef struct at_typed {
    const char *axes;               /* "y:Y, x:X" */
    const char *channel, *channels; /* "x", "X" */
    const char *value;              /* "acc[y, x]" */
} at_typed;
const char *at_sum_type(at_template *t, const char *argument);
const char *at_typed_output(at_template *t, const char *argument, const at_typed *x);
/* The types that such an argument takes; "": float32. Does it name any? */
int at_is_typed(at_template *t, const char *argument);
#define AT_TYPES                                                                                   \
    "types=\"\" or \"u8s8s32\" or \"u8s8u8\" or \"u8s8s8\" or \"u8s8f32\" or \"s8s8s32\" or "      \
    "\"s8s8s8\" or \"s8s8u8\" or \"s8s8f32\" or \"u8u8s32\" or \"u8u8u8\" or \"u8u8f32\" or "      \
    "\"f32f16f32\" or \"f16f16f32\" or \"f16f16f16\" or \"f32bf16f32\" or \"bf16bf16f32\" or "     \
    "\"bf16bf16bf16\""
/* Text as printf makes it, for texts that differ between arguments; it lives as long as the task.
 */
const char *at_textf(at_template *t, const char *format, ...);
/* Arguments that do not fit each other: where the condition does not hold, problem is what the user
 * is told. */
void at_require(at_template *t, const char *condition, const char *problem);

/* A joint condition over all knobs, "tile_y.size[2]*tile_x.size[2] <= 512"; at most one. */
void at_joint_filter(at_template *t, const char *condition);

/* The computation, and one tree or several: the first whose condition holds is used ("" or NULL:
 * always). Their texts may use every name of the template, wherever it is defined. */
void at_compute_text(at_template *t, const char *text);
void at_schedule_when(at_template *t, const char *condition, const char *text);
/* Of a tensor whose shape depends on knobs: the order in which its axes make up the plain tensor,
 * which does not: "data[n, C, y, x, c] = n, C, c, y, x". */
void at_layout(at_template *t, const char *text);
/* A block-sparse weight: the tensors blocks[nnz, R, C], indices[nnz] (block columns) and indptr
 * (where each block row begins), and the number of block columns, an expression. The template has
 * arguments named nnz, R and C, which options set for the user. */
void at_sparse(at_template *t, const char *blocks, const char *indices, const char *indptr,
               const char *columns);
/* Floating-point operations, where they depend on data: 2 per multiply-add. */
void at_flops(at_template *t, const char *expression);
#define at_compute(t, text) at_compute_text((t), (text))
#define at_schedule(t, text) at_schedule_when((t), "", (text))

#endif
