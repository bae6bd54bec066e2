/* engine/task/operator_table.c: operators, and the arguments of their ways; see operator_table.h.
 */
#include "engine/task/operator_table.h"

#include <string.h>

static const char *as_it_is(at_arena *a, const at_task *t) {
    return at_strdup(a, at_task_args_text(t));
}

static long long arg(const at_task *t, const char *name) { return (long long)at_task_arg(t, name); }

/* ---- conv2d ---------------------------------------------------------------------------------- */

static bool has(const at_task *t, const char *const *names, int value) {
    for (; *names; names++)
        if (at_task_arg(t, *names) != value) return false;
    return true;
}

static const char *const steps[] = {"sh", "sw", "dh", "dw", NULL};
static const char *const sides[] = {"top", "left", "bottom", "right", NULL};

static bool is_square(const at_task *t, int side) {
    static const char *const kernel[] = {"KH", "KW", NULL};
    return has(t, kernel, side) && has(t, steps, 1);
}

static const char *sizes(at_arena *a, const at_task *t) {
    return at_format(a, "N=%lld,H=%lld,W=%lld,CI=%lld,CO=%lld", arg(t, "N"), arg(t, "H"),
                     arg(t, "W"), arg(t, "CI"), arg(t, "CO"));
}

static const char *padding(at_arena *a, const at_task *t) {
    if (at_task_arg(t, "top") < 0) return "SAME";
    if (has(t, sides, (int)arg(t, "top"))) return at_format(a, "%lld", arg(t, "top"));
    return at_format(a, "[%lld,%lld,%lld,%lld]", arg(t, "top"), arg(t, "left"), arg(t, "bottom"),
                     arg(t, "right"));
}

static const char *gemm(at_arena *a, const at_task *t) {
    return is_square(t, 3) && has(t, sides, 1) ? sizes(a, t) : NULL;
}

/* With padding its data have a pixel more than the operator's, unless it copies them. */
static const char *indirect(at_arena *a, const at_task *t) {
    return has(t, sides, 0) && !is_square(t, 1) ? as_it_is(a, t) : NULL;
}

static const char *indirect_copy(at_arena *a, const at_task *t) {
    return has(t, sides, 0) ? NULL : at_format(a, "%s,copy=1", at_task_args_text(t));
}

/* A kernel of one element is a product of matrices. */
static const char *product(at_arena *a, const at_task *t) {
    if (!is_square(t, 1) || !(has(t, sides, 0) || has(t, sides, -1))) return NULL;
    return at_format(a, "M=%lld,N=%lld,K=%lld", arg(t, "N") * arg(t, "H") * arg(t, "W"),
                     arg(t, "CO"), arg(t, "CI"));
}

/* Where neither of the two above is. */
static const char *other_sparse(at_arena *a, const at_task *t) {
    return gemm(a, t) || product(a, t) ? NULL : as_it_is(a, t);
}

/* One spelling of the same, whatever the way. */
static const char *own_direct(at_arena *a, const at_task *t) {
    return at_format(a, "%s,KH=%lld,KW=%lld,strides=[%lld,%lld],padding=%s,dilation=[%lld,%lld]",
                     sizes(a, t), arg(t, "KH"), arg(t, "KW"), arg(t, "sh"), arg(t, "sw"),
                     padding(a, t), arg(t, "dh"), arg(t, "dw"));
}

/* A product of matrices is the operator dense's. */
static const char *of_direct(at_arena *a, const at_task *t) {
    return product(a, t) ? NULL : own_direct(a, t);
}

static const char *of_indirect(at_arena *a, const at_task *t) {
    return has(t, sides, 0) || arg(t, "copy") ? of_direct(a, t) : NULL;
}

static const char *of_winograd(at_arena *a, const at_task *t) {
    return at_format(a, "%s,KH=%lld,KW=%lld,strides=[1,1],padding=%s,dilation=[1,1]", sizes(a, t),
                     arg(t, "KH"), arg(t, "KW"), padding(a, t));
}

static const char *of_gemm(at_arena *a, const at_task *t) {
    return at_format(a, "%s,KH=3,KW=3,strides=[1,1],padding=1,dilation=[1,1]", sizes(a, t));
}

static at_weight_form form_of_conv2d(const at_task *t) {
    return (at_weight_form){
        .kh = arg(t, "KH"), .kw = arg(t, "KW"), .ci = arg(t, "CI"), .co = arg(t, "CO")};
}

const char *at_way_winograd(at_arena *a, const at_operator *p, const at_task *t, const at_way *w) {
    int taps = (int)arg(t, "KH"), m = w->side - taps + 1;
    if (m < 2 || !(p->is_template || is_square(t, 3) || is_square(t, 5))) return NULL;
    return at_format(a, "%s,KH=%d,KW=%d,padding=%s,m=%d,points=%d", sizes(a, t), taps, taps,
                     padding(a, t), m, w->points);
}

/* ---- dense ----------------------------------------------------------------------------------- */

static bool is_plain_product(const at_task *t) {
    return has(t, (const char *const[]){"bias", "wb", NULL}, 0);
}

static const char *convolution(at_arena *a, const at_task *t) {
    if (!is_plain_product(t)) return NULL;
    return at_format(a, "N=1,H=1,W=%lld,CI=%lld,CO=%lld,KH=1,KW=1,padding=0", arg(t, "M"),
                     arg(t, "K"), arg(t, "N"));
}

static const char *same_product(at_arena *a, const at_task *t) {
    if (!is_plain_product(t)) return NULL;
    return at_format(a, "M=%lld,N=%lld,K=%lld", arg(t, "M"), arg(t, "N"), arg(t, "K"));
}

static const char *of_sparse_product(at_arena *a, const at_task *t) {
    return at_format(a, "M=%lld,N=%lld,K=%lld", arg(t, "M"), arg(t, "N"), arg(t, "K"));
}

static at_weight_form form_of_dense(const at_task *t) {
    return (at_weight_form){.kh = 1, .kw = 1, .ci = arg(t, "K"), .co = arg(t, "N")};
}

/* ---- the table ------------------------------------------------------------------------------- */

/* clang-format off */
#define WAY(name, to, from, ...) {.template_name = name, .args = to, .back = from, __VA_ARGS__}
#define WINOGRAD(name, from, rows, set, ...)                                                       \
    WAY(name, NULL, from, .side = rows, .points = set, __VA_ARGS__)
#define WINOGRADS(name, from, seldom)                                                              \
    WINOGRAD(name, from, 6, 0, ),                                                                  \
    WINOGRAD(name, from, 4, 0, ),                                                                  \
    WINOGRAD(name, from, 8, 0, ),                                                                  \
    WINOGRAD(name, from, 6, 1, .rarely = seldom),                                                  \
    WINOGRAD(name, from, 6, 2, .rarely = seldom),                                                  \
    WINOGRAD(name, from, 6, 3, .rarely = seldom)
#define SPARSE(name, to, from, shape) WAY(name, to, from, .outputs_first = true, .block = shape)

#define SPARSES(name, to, from)                                                                    \
    SPARSE(name, to, from, "16x1"),                                                                \
    SPARSE(name, to, from, "8x1"),                                                                 \
    SPARSE(name, to, from, "4x4"),                                                                 \
    SPARSE(name, to, from, "1x1")

#define CONV2D                                                                                     \
    WAY("conv2d_nhwc", as_it_is, of_direct, .own = own_direct),                                                     \
    WINOGRADS("conv2d_winograd_nhwc", of_winograd, true),                                          \
    WAY("conv2d_3x3_gemm", gemm, of_gemm, .outputs_first = true),                                  \
    WAY("dense", product, NULL, .outputs_first = true),                                            \
    WAY("indirect_conv2d_nhwc", indirect, of_indirect, ),                                          \
    WAY("indirect_conv2d_nhwc", indirect_copy, of_indirect, .rarely = true),                       \
    SPARSES("spconv2d_3x3_gemm", gemm, of_gemm),                                                   \
    SPARSES("sparse_dense", product, NULL),                                                        \
    SPARSES("spconv2d_nhwc", other_sparse, of_direct)
#define DENSE                                                                                      \
    WAY("dense", as_it_is, same_product, .outputs_first = true),                                   \
    WAY("conv2d_nhwc", convolution, product, ),                                                    \
    SPARSES("sparse_dense", same_product, of_sparse_product)
/* clang-format on */

static const at_operator operators[] = {
    {"conv2d",
     "convolution, channels last: directly, as a matrix product or by Winograd's algorithm",
     false,
     false,
     form_of_conv2d,
     {CONV2D}},
    {"sparse_conv2d",
     "conv2d with a sparse weight: by its blocks, or as if it were dense",
     true,
     false,
     form_of_conv2d,
     {CONV2D}},
    {"dense",
     "product of data and transposed weights, with --all-ways or a sparse weight: as such, as a "
     "convolution or by its blocks",
     false,
     false,
     form_of_dense,
     {DENSE}},
    {"conv2d_winograd_nhwc",
     NULL,
     false,
     true,
     form_of_conv2d,
     {WINOGRADS("conv2d_winograd_nhwc", NULL, false)}},
    {"conv2d_winograd_NCHWc",
     NULL,
     false,
     true,
     form_of_conv2d,
     {WINOGRADS("conv2d_winograd_NCHWc", NULL, false)}},
};
enum { NUM_FOUND = sizeof operators / sizeof *operators, NUM_OPERATORS = NUM_FOUND - 2 };

const at_operator *at_operator_at(int i) { return i < NUM_FOUND ? &operators[i] : NULL; }

int at_operator_count(void) { return NUM_OPERATORS; }
