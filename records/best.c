/* records/best.c: the best record of each task and context, out of several logs. */
#include "records/records_int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static at_status read_one(at_chooser *c, const at_pick_job *job, int i, bool is_output,
                          int64_t *records, at_error *err) {
    at_log_reader *reader;
    at_record record;
    const char *path = job->paths[i];
    if (is_output) AT_TRY(at_log_reader_open_empty(path, job->warn, job->warn_ctx, &reader, err));
    else AT_TRY(at_log_reader_open(path, job->warn, job->warn_ctx, &reader, err));
    at_log_reader_on_comment(reader, at_finals_add, at_chooser_finals(c));
    at_chooser_begin(c, path);
    while (at_log_reader_next(reader, &record)) at_chooser_add(c, &record);
    at_status s = at_log_reader_status(reader, err);
    const at_log_stats *stats = at_log_reader_stats(reader);
    if (s == AT_OK && is_output && stats->bad && !stats->records)
        s = at_fail(err, AT_E_INPUT, "%s is no log, and is not replaced by one", path);
    *records += stats->records;
    at_log_reader_close(reader);
    return s;
}

/* ---- beyond contexts ------------------------------------------------------------------------- */

/* What competes: the best of some contexts. */
typedef struct group {
    int best; /* of the contexts' picks */
    int64_t considered;
} group;

typedef struct groups {
    at_key_map names;
    AT_VEC(group) of; /* [names] */
    at_text name;
} groups;

static void enter(groups *g, const char *name, const at_pick *picks, int i) {
    at_text_clear(&g->name);
    at_text_addf(&g->name, "%s\n", name);
    at_workload_identity(&g->name, &picks[i].record);
    int n = at_key_map_add(&g->names, at_text_str(&g->name));
    if (n == g->of.len) *at_push(g->names.arena, &g->of) = (group){.best = i};
    group *x = &g->of.data[n];
    x->considered += picks[i].considered;
    if (at_record_time(&picks[i].record) < at_record_time(&picks[x->best].record)) x->best = i;
}

static void enter_all(groups *g, at_arena *a, at_per per, const at_pick *picks, int i) {
    at_target t = {0};
    const char *mcpu = "";
    if (per != AT_PER_TASK && !at_target_parse(a, picks[i].record.target, &t)) t = (at_target){0};
    if (per != AT_PER_KEY || !t.keys.len) {
        for (int k = t.options.len - 1; k >= 0; k--)
            if (!strcmp(t.options.data[k].name, "mcpu")) mcpu = t.options.data[k].value;
        enter(g, per == AT_PER_MCPU ? mcpu : "", picks, i);
        return;
    }
    for (int k = 0; k < t.keys.len; k++) enter(g, t.keys.data[k], picks, i);
}

/* Finals say which is best within a context; from one to another only times are compared. So what
 * is chosen once is chosen again from what was chosen. Returns how many are left. */
static int choose_groups(at_arena *a, at_per per, at_pick *picks, int n) {
    groups g = {.names.arena = a};
    int left = 0;
    int64_t *considered = AT_NEW_ARRAY(a, int64_t, n); /* for the best of a group, else 0 */
    for (int i = 0; i < n; i++) enter_all(&g, a, per, picks, i);
    for (int k = 0; k < g.of.len; k++) {
        const group *x = &g.of.data[k]; /* several may have one best */
        if (x->considered > considered[x->best]) considered[x->best] = x->considered;
    }
    for (int i = 0; i < n; i++) {
        if (!considered[i]) continue;
        picks[left] = picks[i];
        picks[left++].considered = considered[i];
    }
    at_text_free(&g.name);
    return left;
}

static at_status choose(at_chooser *c, at_pick_job *job, at_per per, bool with_output,
                        at_error *err) {
    int64_t records = 0;
    for (int i = 0; i < job->num_paths; i++)
        AT_TRY(read_one(c, job, i, with_output && i == job->num_paths - 1, &records, err));
    if (!at_chooser_len(c))
        return at_fail(err, AT_E_NO_VALID, "no valid record in %s%s: %lld records, none of them %s",
                       job->paths[0], job->num_paths > 1 ? " and the others" : "",
                       (long long)records, "without failure and checked");
    AT_TRY(at_chooser_settle(c, err));
    for (int i = 0; i < at_chooser_len(c); i++) {
        at_pick pick;
        if (at_chooser_pick(c, i, job->arena, &pick)) *at_push(job->arena, &job->picks) = pick;
    }
    if (!job->picks.len)
        return at_fail(err, AT_E_NO_VALID,
                       "no valid record in %s%s: all that were valid failed in a final",
                       job->paths[0], job->num_paths > 1 ? " and the others" : "");
    if (per != AT_PER_CONTEXT)
        job->picks.len = choose_groups(job->arena, per, job->picks.data, job->picks.len);
    for (int i = 0; i < job->picks.len; i++) at_pick_print(job->out, &job->picks.data[i]);
    return AT_OK;
}

static at_status pick_best(at_pick_job *job, at_per per, bool with_output, at_error *err) {
    at_chooser *c = at_chooser_new(per == AT_PER_MCPU || per == AT_PER_KEY);
    at_status s = choose(c, job, per, with_output, err);
    at_chooser_free(c);
    return s;
}

/* The output is not read again where it is one of the inputs. */
static bool is_among(const char *path, const char *const *paths, int n) {
    struct stat x, y;
    if (stat(path, &x) != 0) return false;
    for (int i = 0; i < n; i++)
        if (stat(paths[i], &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev) return true;
    return false;
}

static bool is_file(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

at_status at_pick_best(at_arena *a, const char *const *inputs, int num_inputs,
                       const char *output_path, at_per per, at_warn_fn *warn, void *ctx,
                       at_pick **picks, int *num_picks, at_error *err) {
    /* Held until the output is replaced: what a run, or another pick_best, adds meanwhile would be
     * lost. */
    int fd = -1;
    if (output_path && is_file(output_path))
        AT_TRY(at_log_open_locked(output_path, O_RDONLY, &fd, err));
    at_text out = {0};
    const char **paths = AT_NEW_ARRAY(a, const char *, num_inputs + 1);
    memcpy(paths, inputs, (size_t)num_inputs * sizeof *paths);
    at_pick_job job = {.arena = a,
                       .paths = paths,
                       .num_paths = num_inputs,
                       .warn = warn,
                       .warn_ctx = ctx,
                       .out = &out};
    bool with_output = fd >= 0 && !is_among(output_path, inputs, num_inputs);
    if (with_output) paths[job.num_paths++] = output_path;
    at_status s =
        per == AT_PER_COMPAT ? at_pick_compat(&job, err) : pick_best(&job, per, with_output, err);
    if (s == AT_OK && output_path) s = at_write_file(output_path, at_text_str(&out), out.len, err);
    if (fd >= 0) close(fd);
    at_text_free(&out);
    *picks = job.picks.data;
    *num_picks = s == AT_OK ? job.picks.len : 0;
    return s;
}
