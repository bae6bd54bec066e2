/* cli/operator.c: see operator.h. */
#include "cli/operator.h"

#include <string.h>

#include "templates/task.h"

/* The arguments of a way, from the task of the operator's first template; NULL: it is no way there.
 */
typedef const char *at_way_args(at_arena *a, const at_task *t);

typedef struct way {
    const char *template_name;
    at_way_args *args;
} way;

enum { MOST_WAYS = 6 };

struct at_operator {
    const char *name, *help;
    way ways[MOST_WAYS]; /* the first takes the arguments as they are */
};

/* ---- conv2d ---------------------------------------------------------------------------------- */

static const char *as_it_is(at_arena *a, const at_task *t) {
    return at_strdup(a, at_task_args_text(t));
}

static bool has(const at_task *t, const char *const *names, int value) {
    for (; *names; names++)
        if (at_task_arg(t, *names) != value) return false;
    return true;
}

static bool is_3x3(const at_task *t) {
    static const char *const kernel[] = {"KH", "KW", NULL}, *const steps[] = {"sh", "sw", "dh",
                                                                              "dw", NULL};
    return has(t, kernel, 3) && has(t, steps, 1);
}

static const char *sizes(at_arena *a, const at_task *t) {
    return at_format(a, "N=%lld,H=%lld,W=%lld,CI=%lld,CO=%lld", (long long)at_task_arg(t, "N"),
                     (long long)at_task_arg(t, "H"), (long long)at_task_arg(t, "W"),
                     (long long)at_task_arg(t, "CI"), (long long)at_task_arg(t, "CO"));
}

static const char *winograd(at_arena *a, const at_task *t, int m) {
    if (!is_3x3(t)) return NULL;
    bool same = at_task_arg(t, "top") < 0;
    const char *padding =
        same ? "SAME"
             : at_format(a, "[%lld,%lld,%lld,%lld]", (long long)at_task_arg(t, "top"),
                         (long long)at_task_arg(t, "left"), (long long)at_task_arg(t, "bottom"),
                         (long long)at_task_arg(t, "right"));
    return at_format(a, "%s,padding=%s,m=%d", sizes(a, t), padding, m);
}

static const char *winograd_2(at_arena *a, const at_task *t) { return winograd(a, t, 2); }
static const char *winograd_4(at_arena *a, const at_task *t) { return winograd(a, t, 4); }

static const char *gemm(at_arena *a, const at_task *t) {
    static const char *const sides[] = {"top", "left", "bottom", "right", NULL};
    return is_3x3(t) && has(t, sides, 1) ? sizes(a, t) : NULL;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* F(6, 3) is none of them: its errors exceed 1e-5 of the output. */
static const at_operator operators[] = {
    {"conv2d",
     "convolution, channels last: directly, as a matrix product or by Winograd's algorithm",
     {{"conv2d_nhwc", as_it_is},
      {"conv2d_winograd_nhwc", winograd_4},
      {"conv2d_winograd_nhwc", winograd_2},
      {"conv2d_3x3_gemm", gemm}}},
};
enum { NUM_OPERATORS = sizeof operators / sizeof *operators };

int at_operator_count(void) { return NUM_OPERATORS; }
const at_operator *at_operator_at(int i) { return &operators[i]; }
const char *at_operator_name(const at_operator *p) { return p->name; }
const char *at_operator_help(const at_operator *p) { return p->help; }

const at_operator *at_operator_find(const char *name) {
    const at_template_row *own; /* of that name, in a file of the user's: it comes first */
    size_t n = strcspn(name, "+");
    if (at_template_find(name, &own, NULL) == AT_OK) return NULL;
    for (int i = 0; i < NUM_OPERATORS; i++)
        if (strlen(operators[i].name) == n && !strncmp(operators[i].name, name, n))
            return &operators[i];
    return NULL;
}

/* With the stages of the operator's name, and those of --fuse. */
static at_status find_row(at_arena *a, const at_options *o, const char *name,
                          const at_template_row **row, at_error *err) {
    const char *stages = o->operands[0] + strcspn(o->operands[0], "+");
    AT_TRY(at_template_find(at_format(a, "%s%s", name, stages), row, err));
    return o->fuse ? at_template_fuse(*row, o->fuse, ",", row, err) : AT_OK;
}

at_status at_operator_tasks(at_arena *a, const at_options *o, const at_operator *p,
                            at_options **tasks, int *num_tasks, at_error *err) {
    const at_template_row *row;
    at_task *task;
    AT_VEC(at_options) all = {0};
    AT_TRY(find_row(a, o, p->ways[0].template_name, &row, err));
    AT_TRY(at_task_new(a, row, o->request.args, &task, err));
    for (int i = 0; i < MOST_WAYS && p->ways[i].args; i++) {
        const char *args = p->ways[i].args(a, task);
        if (!args) continue;
        AT_TRY(find_row(a, o, p->ways[i].template_name, &row, err));
        at_options *of = at_push(a, &all);
        *of = *o;
        of->request.template_name = row->name;
        of->request.args = args;
        of->count = 1;
    }
    for (int i = 0; i < all.len; i++) all.data[i].task = i + 1, all.data[i].num_tasks = all.len;
    *tasks = all.data;
    *num_tasks = all.len;
    return AT_OK;
}
