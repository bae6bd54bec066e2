/* engine/task/operator.c: see operator.h. */
#include "engine/task/operator.h"

#include <string.h>

#include "engine/task/task_weight.h"

/* From the arguments of a task to those of another: of the operator's first template to those of a
 * way, or back. NULL: it is no way there. */
typedef const char *way_args(at_arena *a, const at_task *t);

typedef struct way {
    const char *template_name;
    way_args *args, *back; /* back NULL: another operator has it */
    way_args *own;         /* back, also where another operator has it; NULL: back */
    bool outputs_first;    /* of its weight */
    const char *block;     /* of the sparse weight; NULL: it has none */
    /* Winograd's, instead of args: tiles of so many rows and columns, which m and the kernel make.
     */
    int side, points;
    bool rarely; /* the fastest: it is tried where all ways are asked for */
} way;

enum { MOST_WAYS = 24 };

struct at_operator {
    const char *name, *help;
    bool is_sparse;   /* its weight is, by default as the templates' */
    bool is_template; /* of its name, with arguments that are searched where none are given */
    at_weight_form (*form)(const at_task *t); /* of a task of the first way: its weight */
    way ways[MOST_WAYS];                      /* the first takes the arguments as they are */
};

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
/* The last ones are templates, and listed as such. */
enum { NUM_FOUND = sizeof operators / sizeof *operators, NUM_OPERATORS = NUM_FOUND - 2 };

int at_operator_count(void) { return NUM_OPERATORS; }
const at_operator *at_operator_at(int i) { return &operators[i]; }
const char *at_operator_name(const at_operator *p) { return p->name; }
const char *at_operator_help(const at_operator *p) { return p->help; }

bool at_operator_is_sparse(const at_operator *p) { return p->is_sparse; }

const char *at_operator_way(const at_operator *p, int i) {
    return i < MOST_WAYS ? p->ways[i].template_name : NULL;
}

/* ---- which operator -------------------------------------------------------------------------- */

static const at_operator *find(const char *name) {
    size_t n = strcspn(name, "+");
    for (int i = 0; i < NUM_FOUND; i++)
        if (strlen(operators[i].name) == n && !strncmp(operators[i].name, name, n))
            return &operators[i];
    return NULL;
}

/* Whether --args gives this one. A record's array gives all. */
static bool gives(const char *args, const char *name) {
    size_t n = strlen(name);
    if (!args) return false;
    for (const char *at = args; at; at = strchr(at, ',')) {
        at += strspn(at, ", ");
        if (*at == '[' && at == args) return true;
        if (!strncmp(at, name, n) && at[n + strspn(at + n, " ")] == '=') return true;
    }
    return false;
}

const char *at_operator_open_args(const char *template_name) {
    const at_operator *p = find(template_name);
    return p && p->is_template ? "m and points" : NULL;
}

const at_operator *at_operator_find(const at_request *q) {
    const at_template_row *row; /* of that name, built in or in a file of the user's */
    const char *name = q->template_name, *args = q->args;
    const at_operator *p = q->row || !name ? NULL : find(name);
    if (!p || at_template_find(name, &row, NULL) != AT_OK) return p;
    bool asked = p->is_template ? !gives(args, "m") || !gives(args, "points")
                                : q->all_ways || q->sparsity || q->block;
    return asked && !at_template_file(at_template_base(row)) ? p : NULL;
}

/* ---- its ways -------------------------------------------------------------------------------- */

static const char *stages_of(const char *name) { return name + strcspn(name, "+"); }

at_status at_operator_way_row(at_arena *a, const at_request *q, const char *template_name,
                              const at_template_row **out, at_error *err) {
    const char *stages = stages_of(q->template_name);
    AT_TRY(at_template_find(at_format(a, "%s%s", template_name, stages), out, err));
    return q->fuse ? at_template_fuse(*out, q->fuse, ",", out, err) : AT_OK;
}

/* What a way is asked for. A weight that the tool makes is sparse for the sparse ways only: no time
 * of a dense one hangs on what it holds. */
static at_request request_of(const at_request *of, const way *w, const at_template_row *row,
                             const char *args, const at_input *weight, const at_weight_form *form) {
    at_request q = *of;
    q.row = row;
    q.template_name = row->name;
    q.fuse = NULL;
    q.all_ways = false;
    q.args = args;
    q.weight_file = weight;
    q.form = *form;
    q.form.outputs_first = w->outputs_first;
    if (!w->block) q.sparsity = q.block = NULL;
    else if (!q.block) q.block = w->block;
    return q;
}

/* The weight of the user's, read once for all ways; NULL: there is none. *zeros: something in it
 * is 0. */
static at_status read_weight(at_arena *a, const at_request *q, const at_weight_form *form,
                             const at_input **out, bool *zeros, at_error *err) {
    at_input *file = AT_NEW(a, at_input), in;
    *out = NULL;
    *zeros = false;
    if (!q->weight) return AT_OK;
    AT_TRY(at_weight_read(a, q->weight, file, err));
    AT_TRY(at_weight_in_form(a, q->weight, file, form, &in, err));
    *zeros = at_weight_form_zeros(form, &in) > 0;
    *out = file;
    return AT_OK;
}

static const char *winograd(at_arena *a, const at_operator *p, const at_task *t, const way *w) {
    int taps = (int)arg(t, "KH"), m = w->side - taps + 1;
    if (m < 2 || !(p->is_template || is_square(t, 3) || is_square(t, 5))) return NULL;
    return at_format(a, "%s,KH=%d,KW=%d,padding=%s,m=%d,points=%d", sizes(a, t), taps, taps,
                     padding(a, t), m, w->points);
}

/* Errors of large tiles exceed smaller limits; kernels of 6x6 and 7x7 have no others. */
static bool is_tried(const at_engine_options *o, const at_request *q, const at_operator *p,
                     const at_task *t, const way *w) {
    bool small = w->side < 8 || arg(t, "KH") > 5, given = p->is_template && gives(q->args, "m");
    if (given && w->side != arg(t, "m") + arg(t, "KH") - 1) return false;
    if (p->is_template && gives(q->args, "points") && w->points != arg(t, "points")) return false;
    if (q->all_ways) return true;
    double from = small ? 0 : arg(t, "KH") == 3 ? 2e-5 : 4e-5;
    return given || (!w->rarely && from <= at_accuracy_limit(o));
}

/* The task that --args is of. Of a template with open arguments, with one of those that go with
 * the others. */
static at_status base_task(at_arena *a, const at_request *q, const at_operator *p,
                           const at_template_row *row, at_task **out, at_error *err) {
    static const char *const rest[] = {"m=2", "m=3"};
    const char *args = q->args;
    at_status status = at_task_new(a, row, args, out, err);
    for (int i = 0; status != AT_OK && p->is_template && !gives(args, "m") && i < 2; i++)
        if (at_task_new(a, row, args ? at_format(a, "%s,%s", args, rest[i]) : rest[i], out, NULL) ==
            AT_OK)
            return AT_OK;
    return status;
}

at_status at_operator_ways(at_arena *a, const at_engine_options *o, const at_request *asked_for,
                           const at_operator *p, const at_request **ways, int *num_ways,
                           at_error *err) {
    const at_template_row *row;
    at_task *task;
    at_error why;
    AT_VEC(at_request) all = {0};
    const at_input *weight;
    const bool asked = p->is_sparse || asked_for->sparsity || asked_for->block;
    bool zeros, one_block = false, any_sparse = false;
    AT_TRY(at_operator_way_row(a, asked_for, p->ways[0].template_name, &row, err));
    AT_TRY(base_task(a, asked_for, p, row, &task, err));
    const at_weight_form form = p->form(task);
    AT_TRY(read_weight(a, asked_for, &form, &weight, &zeros, err));
    const bool is_sparse = asked || zeros; /* ways with a sparse weight compete */
    for (int i = 0; i < MOST_WAYS && p->ways[i].template_name; i++) {
        const way *w = &p->ways[i];
        const char *args = w->side ? winograd(a, p, task, w) : w->args(a, task);
        if (!args || (w->block && (!is_sparse || one_block)) || !is_tried(o, asked_for, p, task, w))
            continue;
        AT_TRY(at_operator_way_row(a, asked_for, w->template_name, &row, err));
        at_request q = request_of(asked_for, w, row, args, weight, &form);
        one_block |= w->block && asked_for->block;
        if (w->block && !asked_for->block && !at_weight_fits(a, &q, row, args, &why)) continue;
        any_sparse |= w->block != NULL;
        *at_push(a, &all) = q;
    }
    if (asked && !any_sparse)
        return at_fail(err, AT_E_USAGE,
                       "%s: no template with a sparse weight has these arguments; "
                       "spconv2d_nhwc, spconv2d_3x3_gemm and sparse_dense are the ones there are",
                       asked_for->template_name);
    *ways = all.data;
    *num_ways = all.len;
    return AT_OK;
}

/* ---- records --------------------------------------------------------------------------------- */

/* A task's layer, as the first template of p has it, without stages. */
static bool layer_by(at_arena *a, const at_operator *p, way_args *args, const at_task *task,
                     const at_task **layer) {
    const at_template_row *row;
    at_task *first;
    const char *given = args ? args(a, task) : NULL;
    if (!given || at_template_find(p->ways[0].template_name, &row, NULL) != AT_OK ||
        at_task_new(a, row, given, &first, NULL) != AT_OK)
        return false;
    *layer = first;
    return true;
}

static bool is_way(const way *w, const at_task *task) {
    return !strcmp(w->template_name, at_template_base(at_task_row(task))->name);
}

static bool find_layer(at_arena *a, const at_task *task, bool sparse_too, const char **name,
                       const at_task **layer) {
    for (int i = 0; i < NUM_OPERATORS; i++)
        for (int k = 0; k < MOST_WAYS && operators[i].ways[k].template_name; k++) {
            const way *w = &operators[i].ways[k];
            if ((w->block && !sparse_too) || !is_way(w, task) ||
                !layer_by(a, &operators[i], w->back, task, layer))
                continue;
            *name = at_format(a, "%s%s", operators[i].name, stages_of(at_task_row(task)->name));
            return true;
        }
    return false;
}

bool at_operator_of_task(at_arena *a, const at_task *task, const char **name,
                         const at_task **layer) {
    return find_layer(a, task, false, name, layer);
}

bool at_operator_of_record(at_arena *a, const at_record *r, const char **name,
                           const at_json **args) {
    const at_task *layer;
    at_task *task;
    if (at_task_of_record(a, r->task, r->args, &task, NULL) != AT_OK ||
        !find_layer(a, task, false, name, &layer))
        return false;
    *args = at_task_args(layer);
    return true;
}

bool at_operator_layer(at_arena *a, const at_record *r, const char **layer, const at_task **task) {
    const at_task *first;
    at_task *of;
    const char *name;
    if (at_task_of_record(a, r->task, r->args, &of, NULL) != AT_OK ||
        !find_layer(a, of, true, &name, &first))
        return false;
    *layer = at_format(a, "%s %s", name, at_task_args_text(first));
    *task = of;
    return true;
}

/* ---- one operator ---------------------------------------------------------------------------- */

bool at_operator_layer_of(at_arena *a, const char *name, const at_task *task,
                          const at_task **layer) {
    const at_operator *p = find(name);
    const at_template_row *row;
    for (int k = 0; p && k < MOST_WAYS && p->ways[k].template_name; k++) {
        const way *w = &p->ways[k];
        if (w->block || !is_way(w, task)) continue;
        if (at_template_find(at_format(a, "%s%s", w->template_name, stages_of(name)), &row, NULL) ==
                AT_OK &&
            row == at_task_row(task) && layer_by(a, p, w->own ? w->own : w->back, task, layer))
            return true;
    }
    return false;
}

const int *at_operator_weight_order(const char *name, const at_task *task, int *tensor) {
    static const int outputs_last[] = {1, 0}, outputs_first[] = {3, 0, 1, 2};
    const at_operator *p = find(name);
    const at_compute *c = at_task_compute(task);
    const way *w = p ? p->ways : NULL;
    while (w && w->template_name && !is_way(w, task)) w++;
    *tensor = 0;
    while (*tensor < c->num_tensors && c->tensors[*tensor].role != AT_ROLE_WEIGHT) ++*tensor;
    if (!w || !w->template_name || w->outputs_first == p->ways->outputs_first) return NULL;
    return w->outputs_first ? outputs_last : outputs_first;
}
