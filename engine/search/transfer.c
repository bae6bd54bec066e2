/* engine/search/transfer.c: trials of other tasks, for --transfer. */
#include "engine/search/config_features.h"

#include <math.h>
#include <string.h>

#include "engine/search/config_cost.h"
#include "engine/search/recorded_space.h"
#include "engine/task/task_config.h"
#include "engine/task/template_change.h"
#include "engine/task/user_template.h"

/* A task takes a thousand times the memory of a record: of the logs of a stranger, in which each
 * record may be of another one, only so many are held at a time. */
enum { MOST_OPEN = 16 };

typedef struct other_task {
    at_arena *arena; /* of what follows; NULL: not open */
    at_task *task;   /* NULL: it cannot be made */
    at_feature_maker maker;
    at_common_maker common; /* instead, across computations */
    at_features features;
} other_task;

/* One trial of it. */
typedef struct trial {
    int task, length;
    float *row;
    double score, cost_ns;
} trial;

typedef struct reading {
    at_arena *arena, *scratch;
    const at_engine_options *options;
    const at_task *own;
    bool across;      /* computations: loop trees are derived */
    at_key_map tasks; /* by their identity */
    at_key_map names; /* of computations that were looked for */
    other_task open[MOST_OPEN];
    int number_of[MOST_OPEN]; /* which task is open there */
    int next;                 /* to be opened */
    at_text key;
    AT_VEC(trial) trials;
    int64_t changed; /* records left out */
} reading;

static void close_task(other_task *t) {
    if (!t->arena) return;
    at_features_end(&t->maker);
    at_cost_model_free(t->common.costs);
    at_arena_free(t->arena);
    memset(t, 0, sizeof *t);
}

/* The computation of that name, which lies beside the task's own, is known from now on. */
static void look_beside(reading *r, const char *name) {
    const char *own = at_template_file(at_task_row(r->own)),
               *slash = own ? strrchr(own, '/') : NULL;
    const at_template_row *row;
    int looked_for = r->names.keys.len;
    if (strchr(name, '/') || at_key_map_add(&r->names, name) < looked_for) return;
    const char *path =
        at_format(r->arena, "%.*s%s.te", slash ? (int)(slash - own + 1) : 0, own ? own : "", name);
    if (at_is_template_file(path)) at_user_template_load(path, &row, NULL);
}

static int number_of_task(reading *r, const char *name, const at_json *record_args) {
    at_text_clear(&r->key);
    at_workload_identity(&r->key, &(at_record){.task = name, .args = record_args});
    return at_key_map_add(&r->tasks, at_text_str(&r->key));
}

static bool set_features(const reading *r, other_task *t) {
    at_error err;
    if (!r->across)
        return at_features_of(&t->maker, t->task, r->options, &t->features, &err) == AT_OK;
    t->common = (at_common_maker){at_cost_model_new(t->task, r->options), at_task_flops(t->task)};
    t->features = at_common_features(&t->common);
    return true;
}

static bool is_own_template(const reading *r, const char *task) {
    return !strcmp(task, at_task_record_name(r->own)) || !strcmp(task, at_task_row(r->own)->name);
}

static other_task *task_of(reading *r, const char *task, const at_json *record_args, int *number) {
    const char *name = is_own_template(r, task) ? at_task_row(r->own)->name : task;
    *number = number_of_task(r, name, record_args);
    for (int i = 0; i < MOST_OPEN; i++)
        if (r->open[i].arena && r->number_of[i] == *number) return &r->open[i];
    other_task *t = &r->open[r->next];
    r->number_of[r->next] = *number;
    r->next = (r->next + 1) % MOST_OPEN;
    close_task(t);
    t->arena = at_arena_new();
    at_error err;
    if (name == task) look_beside(r, task);
    if (at_task_of_record(t->arena, name, at_json_copy(t->arena, record_args), &t->task, &err) !=
            AT_OK ||
        !set_features(r, t))
        t->task = NULL;
    return t;
}

static bool is_other(const reading *r, const char *task, const at_json *args) {
    return is_own_template(r, task) ? !at_args_equal(args, at_task_args(r->own)) : r->across;
}

static void add(reading *r, other_task *t, int number, int64_t index, double time_s) {
    float features[8192];
    int n = t->features.of(t->features.ctx, index, features, 8192);
    if (n < 0 || n > 8192) return;
    double cost_ns = INFINITY;
    if (r->across) at_cost_points(t->common.costs, &index, 1, &cost_ns);
    *at_push(r->arena, &r->trials) = (trial){
        number, n, at_copy(r->arena, features, sizeof *features * (size_t)n),
        time_s > 0 ? (at_task_flops(t->task) > 0 ? at_task_flops(t->task) : 1) / time_s * 1e-9 : 0,
        cost_ns};
}

static void take(reading *r, const at_record *record) {
    at_config config;
    int number;
    if (!is_other(r, record->task, record->args) || at_record_is_at_least(record)) return;
    other_task *t = task_of(r, record->task, record->args, &number);
    if (t->task && !r->options->accept_changed && at_is_of_changed_template(record, t->task))
        r->changed++;
    else if (t->task &&
             at_config_rebind(r->scratch, at_task_space(t->task), &record->config, &config, NULL) ==
                 AT_OK &&
             config.index >= 0)
        add(r, t, number, config.index, record->error_no ? 0 : at_record_mean(record));
}

static at_status read_space_file(reading *r, const char *path, at_error *err) {
    at_recorded space;
    AT_TRY(at_recorded_read(r->arena, path, r->options->warn, r->options->ctx, &space, err));
    const at_json *args = space.args;
    if (!is_other(r, space.name, args)) return AT_OK;
    int number;
    other_task *t = task_of(r, space.name, args, &number);
    for (int64_t i = 0; i < at_space_range_length(space.space) && t->task; i++)
        if (space.time_s[i] != 0) add(r, t, number, i, space.time_s[i]);
    return AT_OK;
}

static at_status read_log(reading *r, const char *path, at_error *err) {
    at_log_reader *log;
    at_record record;
    AT_TRY(at_log_reader_open(path, r->options->warn, r->options->ctx, &log, err));
    while (at_log_reader_next(log, &record)) {
        at_arena_reset(r->scratch);
        take(r, &record);
    }
    at_status status = at_log_reader_status(log, err);
    at_log_reader_close(log);
    return status;
}

static at_status read_file(reading *r, const char *path, at_error *err) {
    int before = r->trials.len;
    r->changed = 0;
    if (at_is_space_file(path)) AT_TRY(read_space_file(r, path, err));
    else AT_TRY(read_log(r, path, err));
    if (r->changed)
        at_engine_warn(r->options,
                       at_changed_text(r->arena, path, r->changed, at_task_row(r->own)->name));
    if (r->trials.len == before)
        return at_fail(err, AT_E_INPUT, "--transfer %s: holds no trial of another task of %s%s",
                       path, at_task_row(r->own)->name,
                       r->across ? ", or of one whose .te lies beside it" : "");
    return AT_OK;
}

/* Trials of one task together, in the order of the logs. */
static void sort(const reading *r, at_history *out) {
    int n = r->trials.len, num_tasks = r->tasks.keys.len;
    const float **rows = AT_NEW_ARRAY(r->arena, const float *, n);
    int *lengths = AT_NEW_ARRAY(r->arena, int, n), *tasks = AT_NEW_ARRAY(r->arena, int, n);
    double *scores = AT_NEW_ARRAY(r->arena, double, n), *costs = AT_NEW_ARRAY(r->arena, double, n);
    int *from = AT_NEW_ARRAY(r->arena, int, num_tasks + 1); /* where each task's begin */
    for (int i = 0; i < n; i++) from[r->trials.data[i].task + 1]++;
    for (int t = 0; t < num_tasks; t++) from[t + 1] += from[t];
    for (int i = 0; i < n; i++) {
        const trial *x = &r->trials.data[i];
        int at = from[x->task]++;
        rows[at] = x->row;
        lengths[at] = x->length;
        scores[at] = x->score;
        costs[at] = x->cost_ns;
        tasks[at] = x->task;
    }
    *out = (at_history){n, rows, lengths, scores, tasks, r->across ? costs : NULL};
}

at_status at_history_read(at_arena *a, const at_engine_options *o, const at_task *task,
                          at_history *out, at_error *err) {
    reading r = {.arena = a,
                 .scratch = at_arena_new(),
                 .options = o,
                 .own = task,
                 .across = at_task_num_sketches(task) > 0};
    r.tasks.arena = r.names.arena = a;
    at_status status = AT_OK;
    for (int i = 0; i < o->num_transfer && status == AT_OK; i++)
        status = read_file(&r, o->transfer[i], err);
    if (status == AT_OK) sort(&r, out);
    for (int i = 0; i < MOST_OPEN; i++) close_task(&r.open[i]);
    at_text_free(&r.key);
    at_arena_free(r.scratch);
    return status;
}
