/* bench/tuned.c: the layers, and the tool's own runs on them: what the bench times is what a user
 * of the command line gets. */
#include "bench/bench.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/task/user_template.h"
#include "records/records.h"
#include "sketch/sketch.h"

#define CONV3X3(hw, c)                                                                             \
    { 1, hw, hw, c, c, 3, 3, 1, 1, 0 }
const at_bench_layer at_bench_layers[AT_BENCH_LAYERS] = {
    {"64@56", CONV3X3(56, 64), 0.91},
    {"128@28", CONV3X3(28, 128), 0.91},
    {"256@14", CONV3X3(14, 256), 0.91},
    {"512@7", CONV3X3(7, 512), 0.78}, /* weights of 9.4 MB stream from L3 */
};

at_status at_bench_each_layer(at_status (*run)(at_arena *a, int i, at_error *err), at_error *err) {
    at_status s = AT_OK;
    for (int i = 0; i < AT_BENCH_LAYERS && s == AT_OK; i++)
        if (at_bench_is_wanted(at_bench_layers[i].name))
            s = at_bench_row(run, i, at_bench_layers[i].name, err);
    return s;
}

int at_bench_trials;
/* A run of scalar tiles needs minutes; what was tried by then has to do. */
static const char *const time_limit = "75s";

int at_bench_conv_oh(const at_bench_conv *s) {
    return (s->ih + 2 * s->pad - s->kh) / s->stride + 1;
}
int at_bench_conv_ow(const at_bench_conv *s) {
    return (s->iw + 2 * s->pad - s->kw) / s->stride + 1;
}
double at_bench_conv_flops(const at_bench_conv *s) {
    return 2.0 * s->n * at_bench_conv_oh(s) * at_bench_conv_ow(s) * s->oc * s->kh * s->kw * s->ic;
}

/* Steps of a kernel's axis with the picture under them, over all positions of the kernel. */
static double steps_inside(int in, int out, int kernel, int stride, int pad) {
    int steps = 0;
    for (int o = 0; o < out; o++)
        for (int k = 0; k < kernel; k++)
            steps += o * stride + k >= pad && o * stride + k < pad + in;
    return steps;
}

void at_bench_note_padding(const at_bench_conv *s) {
    int oh = at_bench_conv_oh(s), ow = at_bench_conv_ow(s);
    double inside = steps_inside(s->ih, oh, s->kh, s->stride, s->pad) *
                    steps_inside(s->iw, ow, s->kw, s->stride, s->pad);
    double most = (double)oh * s->kh * ow * s->kw / inside;
    if (most > 1)
        at_bench_report_note("    (at most %.2f: products with padding count, and are left out)",
                             most);
}

at_bench_search at_bench_layer_search(at_arena *a, const at_bench_layer *l,
                                      const at_target *target) {
    const at_bench_conv *s = &l->conv;
    return (at_bench_search){
        .name = l->name,
        .template_name = "conv2d_3x3_gemm",
        .args = at_format(a, "N=%d,H=%d,W=%d,CI=%d,CO=%d", s->n, s->ih, s->iw, s->ic, s->oc),
        .options = "--tuner random",
        .trials = 500,
        .target = target};
}

at_bench_search at_bench_te_search(at_arena *a, const char *name, const char *file,
                                   const char *args, int trials) {
    return (at_bench_search){.name = name,
                             .template_name = at_format(a, "examples/te/%s.te", file),
                             .args = args,
                             .options = "",
                             .trials = trials,
                             .target = at_bench_target()};
}

/* ---- running the tool ------------------------------------------------------------------------ */

const char *at_bench_folder(at_arena *a) {
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    AT_ASSERT(n > 0);
    path[n] = 0;
    *strrchr(path, '/') = 0;
    return at_strdup(a, path);
}

static at_status read_output(at_arena *a, const char *command, char **out, int *status,
                             at_error *err) {
    at_text text = {0};
    char some[4096];
    FILE *f = popen(command, "r");
    if (!f) return at_fail(err, AT_E_BUG, "cannot start %s: %s", command, strerror(errno));
    for (size_t n; (n = fread(some, 1, sizeof some, f)) > 0;) at_text_addn(&text, some, n);
    *status = pclose(f);
    *out = at_text_take(a, &text);
    return AT_OK;
}

static void last_line(at_arena *a, const char *path, char *out, size_t size) {
    enum { MOST_BYTES = 64 << 20 };
    char *text;
    size_t len;
    snprintf(out, size, "the tool failed without a message");
    if (at_read_file(a, path, MOST_BYTES, &text, &len, NULL) != AT_OK) return;
    while (len && text[len - 1] == '\n') text[--len] = 0;
    if (!len) return;
    const char *line = strrchr(text, '\n');
    snprintf(out, size, "%s", line ? line + 1 : text);
}

static at_status read_trials(at_arena *a, const char *log, at_bench_tuned *t, at_error *err) {
    at_record *records;
    int n;
    AT_TRY(at_log_read_all(a, log, NULL, NULL, &records, &n, err));
    if (!n) return at_fail(err, AT_E_NO_VALID, "%s holds no record", log);
    double *cost_s = AT_NEW_ARRAY(a, double, n);
    for (int i = 0; i < n; i++) cost_s[i] = records[i].all_cost_s;
    t->per_trial_s = at_bench_spread_of(cost_s, n);
    return AT_OK;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

static double children_cpu_s(void) {
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return seconds(u.ru_utime) + seconds(u.ru_stime);
}

/* Names one search on the command line and among the runs. */
static const char *search_command(at_arena *a, const at_bench_search *s) {
    /* The default is left to the tool. */
    const char *isa =
        s->target == at_bench_target() ? "" : at_format(a, " --isa %s", s->target->name);
    return at_format(a, "%s --args %s --trials %d --time %s %s%s", s->template_name, s->args,
                     at_bench_trials ? at_bench_trials : s->trials, time_limit, s->options, isa);
}

static at_status tune(at_arena *a, const at_bench_search *s, at_bench_tuned *t, at_error *err) {
    const char *folder = at_bench_folder(a);
    const char *slash = strrchr(s->template_name, '/');
    const char *log = at_format(a, "%s/%s.%s.%s.log", folder, slash ? slash + 1 : s->template_name,
                                s->name, s->target->name);
    const char *messages = at_format(a, "%s.err", log);
    const char *command = at_format(a, "'%s/../autotune' %s --json --log '%s' 2>'%s'", folder,
                                    search_command(a, s), log, messages);
    char *output = NULL;
    int status = 0;
    if (unlink(log) && errno != ENOENT)
        return at_fail(err, AT_E_OUTPUT, "%s: %s", log, strerror(errno));
    double cpu_s = children_cpu_s();
    int64_t start_ns = at_now_ns();
    AT_TRY(read_output(a, command, &output, &status, err));
    t->total_s = at_seconds_since(start_ns);
    t->cpu_s = children_cpu_s() - cpu_s;
    if (status) {
        last_line(a, messages, t->why, sizeof t->why);
        return AT_OK;
    }
    const at_json *json;
    AT_TRY(at_json_parse(a, output, strlen(output), &json, err));
    const at_json *best = at_json_get(json, "best"), *trials = at_json_get(json, "trials");
    const at_json *index = best ? at_json_get(best, "index") : NULL;
    if (!index || !trials)
        return at_fail(err, AT_E_BUG, "the tool's JSON lacks best or trials: %s", output);
    t->ok = true;
    t->index = index->integer;
    t->trials = (int)trials->integer;
    return read_trials(a, log, t, err);
}

enum { MAX_RUNS = 512 };

const at_bench_tuned *at_bench_tune(const at_bench_search *s) {
    static at_bench_tuned runs[MAX_RUNS];
    static char *commands[MAX_RUNS];
    static int num_runs;
    at_arena *a = at_arena_new();
    const char *command = search_command(a, s);
    for (int i = 0; i < num_runs; i++)
        if (!strcmp(commands[i], command)) {
            at_arena_free(a);
            return &runs[i];
        }
    AT_ASSERT(num_runs < MAX_RUNS);
    at_bench_tuned *t = &runs[num_runs];
    at_error err;
    commands[num_runs] = strdup(command);
    AT_ASSERT(commands[num_runs]);
    num_runs++;
    if (tune(a, s, t, &err) != AT_OK) {
        t->ok = false;
        snprintf(t->why, sizeof t->why, "%s", err.text);
    }
    int wanted = at_bench_trials ? at_bench_trials : s->trials;
    if (t->ok && t->trials < wanted)
        at_bench_report_note("%s, %s: %d of %d trials in %s, or the space is whole", s->name,
                             s->target->name, t->trials, wanted, time_limit);
    at_arena_free(a);
    return t;
}

/* A built-in template, whatever files have been read, or a file's. */
static at_status find_row(const char *name, const at_template_row **out, at_error *err) {
    enum { MOST_FILES = 32 };
    static const char *files[MOST_FILES];
    static const at_template_row *loaded[MOST_FILES];
    static int n;
    for (int i = 0; i < at_template_count(); i++)
        if (!strcmp(at_template_at(i)->name, name)) return *out = at_template_at(i), AT_OK;
    for (int i = 0; i < n; i++)
        if (!strcmp(files[i], name)) return *out = loaded[i], AT_OK;
    if (!at_is_template_file(name) || n == MOST_FILES) return at_template_find(name, out, err);
    AT_TRY(at_user_template_load(name, out, err));
    files[n] = strdup(name);
    loaded[n++] = *out;
    return AT_OK;
}

at_status at_bench_task(at_arena *a, const char *template_name, const char *args, at_task **out,
                        at_error *err) {
    const at_template_row *row;
    AT_TRY(find_row(template_name, &row, err));
    return at_task_new(a, row, args, out, err);
}

at_status at_bench_program_at(at_arena *a, const at_bench_search *s, int64_t index,
                              at_program **out, at_error *err) {
    at_task *task;
    at_config config;
    AT_TRY(at_bench_task(a, s->template_name, s->args, &task, err));
    AT_TRY(at_config_at(a, at_task_space(task), index, &config, err));
    return at_task_program(a, task, &config, out, err);
}

at_status at_bench_best(at_arena *a, const at_bench_search *s, at_program **out, at_error *err) {
    const at_bench_tuned *t = at_bench_tune(s);
    if (!t->ok) return at_fail(err, AT_E_NO_VALID, "%s", t->why);
    return at_bench_program_at(a, s, t->index, out, err);
}

const char at_bench_pack_inline[] = "--pack inline";

at_status at_bench_best_open(at_arena *a, const at_bench_search *s, at_program **program,
                             at_bench_data *data, at_bench_kernel *kernel, at_error *err) {
    at_lower_options lo = at_bench_lower_options(s->target);
    lo.pack_inline = !strcmp(s->options, at_bench_pack_inline);
    AT_TRY(at_bench_best(a, s, program, err));
    AT_TRY(at_bench_data_new(a, (*program)->compute, (*program)->values, data, err));
    return at_bench_kernel_open(a, *program, &lo, AT_TCC, NULL, data, kernel, err);
}

at_status at_bench_best_meets(at_arena *a, const at_bench_search *s, at_bench_meet *peers,
                              const void *row, at_error *err) {
    at_bench_search search = *s;
    at_program *program;
    at_bench_data data;
    at_bench_kernel kernel;
    search.target = at_bench_target();
    AT_TRY(at_bench_best_open(a, &search, &program, &data, &kernel, err));
    at_status status = peers(a, row, program, &kernel, &data, err);
    at_bench_kernel_close(&kernel);
    return status;
}
