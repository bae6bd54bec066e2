/* records/best.c: the best record of each task and context, out of several logs. */
#include "records/records_int.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What all logs hold. */
typedef struct tally {
    int64_t records, bad, of[AT_STANDING_COUNT];
} tally;

static at_status read_one(at_chooser *c, const at_pick_job *job, int i, bool is_output, tally *all,
                          at_error *err) {
    at_log_reader *reader;
    at_record record;
    const at_pick_request *q = job->asked;
    const char *path = job->paths[i];
    if (is_output) AT_TRY(at_log_reader_open_empty(path, q->warn, q->warn_ctx, &reader, err));
    else AT_TRY(at_log_reader_open(path, q->warn, q->warn_ctx, &reader, err));
    at_log_reader_on_comment(reader, at_chooser_comment, c);
    at_chooser_begin(c, path);
    at_chooser_limit(c, reader);
    while (at_log_reader_next(reader, &record)) {
        all->of[at_record_standing(&record)]++;
        if (!q->use || q->use(q->use_ctx, path, &record)) at_chooser_add(c, &record);
        else at_chooser_refuse(c, &record);
    }
    at_status s = at_log_reader_status(reader, err);
    if (s == AT_OK && job->num_paths == 1) s = at_log_reader_needs_records(reader, err);
    all->records += at_log_reader_stats(reader)->records;
    all->bad += at_log_reader_stats(reader)->bad;
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
    at_here_fn *is_here; /* those come first; NULL: no difference */
} groups;

/* Times of another CPU say little about this one. */
static bool is_better(const groups *g, const at_pick *x, const at_pick *than) {
    const bool here = g->is_here && g->is_here(&x->record),
               was_here = g->is_here && g->is_here(&than->record);
    return here != was_here ? here : x->time_s < than->time_s;
}

/* task: whose best it competes for; NULL: the record's own. */
static void enter(groups *g, const char *name, const at_record *task, const at_pick *picks, int i) {
    at_text_clear(&g->name);
    at_text_addf(&g->name, "%s\n", name);
    at_workload_identity(&g->name, task ? task : &picks[i].record);
    int n = at_key_map_add(&g->names, at_text_str(&g->name));
    if (n == g->of.len) *at_push(g->names.arena, &g->of) = (group){.best = i};
    group *x = &g->of.data[n];
    x->considered += picks[i].considered;
    if (is_better(g, &picks[i], &picks[x->best])) x->best = i;
}

static void enter_all(groups *g, const at_pick_job *job, const at_pick *picks, int i) {
    at_arena *a = job->arena;
    const at_per per = job->asked->per;
    at_tvm_target t = {0};
    const char *mcpu = "";
    if (per == AT_PER_OPERATOR) {
        at_record task = {0};
        bool is_way = job->asked->judge.operator_of &&
                      job->asked->judge.operator_of(a, &picks[i].record, &task.task, &task.args);
        enter(g, is_way ? "operator" : "", is_way ? &task : NULL, picks, i);
        return;
    }
    if (per != AT_PER_TASK && !at_tvm_target_parse(a, picks[i].record.target, &t))
        t = (at_tvm_target){0};
    if (per != AT_PER_KEY || !t.keys.len) {
        for (int k = t.options.len - 1; k >= 0; k--)
            if (!strcmp(t.options.data[k].name, "mcpu")) mcpu = t.options.data[k].value;
        enter(g, per == AT_PER_MCPU ? mcpu : "", NULL, picks, i);
        return;
    }
    for (int k = 0; k < t.keys.len; k++) enter(g, t.keys.data[k], NULL, picks, i);
}

/* Finals say which is best within a context; from one to another only times are compared. So what
 * is chosen once is chosen again from what was chosen. Returns how many are left. */
static int choose_groups(const at_pick_job *job, at_pick *picks, int n) {
    at_arena *a = job->arena;
    const at_pick_request *q = job->asked;
    groups g = {.names.arena = a, .is_here = q->per != AT_PER_MCPU ? q->judge.is_here : NULL};
    int left = 0;
    bool *is_best = AT_NEW_ARRAY(a, bool, n); /* of a group */
    int64_t *considered = AT_NEW_ARRAY(a, int64_t, n);
    for (int i = 0; i < n; i++) enter_all(&g, job, picks, i);
    for (int k = 0; k < g.of.len; k++) {
        const group *x = &g.of.data[k]; /* several may have one best */
        is_best[x->best] = true;
        if (x->considered > considered[x->best]) considered[x->best] = x->considered;
    }
    for (int i = 0; i < n; i++) {
        if (!is_best[i]) continue;
        picks[left] = picks[i];
        picks[left++].considered = considered[i];
    }
    at_text_free(&g.name);
    return left;
}

/* Each text once, before the first record that needs it. */
static void add_texts(at_pick_job *job) {
    at_key_map seen = {.arena = job->arena};
    for (int i = 0; i < job->picks.len; i++) {
        at_pick *p = &job->picks.data[i];
        const int before = seen.keys.len;
        const char *text = job->asked->judge.text_of(job->arena, &p->record);
        if (text && at_key_map_add(&seen, text) == before) p->text = text;
    }
}

static at_status fail_none(const at_pick_job *job, const tally *all, at_error *err) {
    at_text counts = {0};
    at_standings_print(&counts, all->of, all->bad);
    if (all->of[AT_STANDING_CANDIDATE])
        at_text_addf(&counts, ", %lld of no use here", (long long)all->of[AT_STANDING_CANDIDATE]);
    at_status s = at_fail(err, AT_E_NO_VALID, "no valid record in %s%s: %lld record%s%s",
                          job->paths[0], job->num_paths > 1 ? " and the others" : "",
                          (long long)all->records, at_plural(all->records), at_text_str(&counts));
    at_text_free(&counts);
    return s;
}

static at_status choose(at_chooser *c, at_pick_job *job, bool with_output, at_error *err) {
    tally all = {0};
    for (int i = 0; i < job->num_paths; i++)
        AT_TRY(read_one(c, job, i, with_output && i == job->num_paths - 1, &all, err));
    if (!at_chooser_len(c)) return fail_none(job, &all, err);
    AT_TRY(at_chooser_settle(c, err));
    for (int i = 0; i < at_chooser_len(c); i++) {
        at_pick pick;
        if (at_chooser_pick(c, i, job->arena, &pick)) *at_push(job->arena, &job->picks) = pick;
    }
    if (!job->picks.len)
        return at_fail(err, AT_E_NO_VALID,
                       "no valid record in %s%s: all that were valid failed in a final",
                       job->paths[0], job->num_paths > 1 ? " and the others" : "");
    if (job->asked->per != AT_PER_CONTEXT)
        job->picks.len = choose_groups(job, job->picks.data, job->picks.len);
    if (job->asked->judge.text_of) add_texts(job);
    for (int i = 0; i < job->picks.len; i++) at_pick_print(job->out, &job->picks.data[i]);
    return AT_OK;
}

static at_status pick_best(at_pick_job *job, bool with_output, at_error *err) {
    const at_pick_request *q = job->asked;
    at_chooser *c = at_chooser_new(q->per == AT_PER_MCPU || q->per == AT_PER_KEY, q->objective);
    at_status s = choose(c, job, with_output, err);
    at_chooser_free(c);
    return s;
}

/* The output, which is there, as something to choose from: *fd holds its lock until it is
 * replaced. What a run, or another pick_best, adds meanwhile would be lost. */
static at_status lock_output(const char *path, at_output_rules *rules, int *fd, bool *is_log,
                             at_error *err) {
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return AT_OK;
    AT_TRY(at_log_open_locked(path, O_RDONLY, fd, err));
    if (*fd < 0) return AT_OK;
    rules->is_locked = true;
    at_error is_none;
    *is_log = at_log_check_kind(*fd, path, &is_none) == AT_OK;
    return *is_log ? at_refuse_tuning_log(path, err) : AT_OK;
}

static at_status pick_into(at_pick_job *job, bool with_output, at_output *out, at_error *err) {
    AT_TRY(job->asked->per == AT_PER_COMPAT ? at_pick_compat(job, err)
                                            : pick_best(job, with_output, err));
    if (!out) return AT_OK;
    AT_TRY(at_output_add(out, at_text_str(job->out), job->out->len, err));
    return at_output_commit(&out, 1, err);
}

at_status at_pick_best(at_arena *a, const at_pick_request *q, at_pick **picks, int *num_picks,
                       at_error *err) {
    for (int i = 0; q->output && i < q->num_logs; i++)
        if (at_same_file(q->output, q->logs[i]))
            return at_fail(err, AT_E_USAGE, "%s is both input and output; name another output",
                           q->output);
    int fd = -1;
    bool with_output = false;
    at_text text = {0};
    at_output *out = NULL;
    at_output_rules rules = {.kind = "log", .is_kind = at_is_log_head, .force = q->force};
    at_status s = q->output ? lock_output(q->output, &rules, &fd, &with_output, err) : AT_OK;
    if (s == AT_OK && q->output) s = at_output_open(q->output, &rules, &out, err);
    const char **paths = AT_NEW_ARRAY(a, const char *, q->num_logs + 1);
    memcpy(paths, q->logs, (size_t)q->num_logs * sizeof *paths);
    at_pick_job job = {
        .arena = a, .asked = q, .paths = paths, .num_paths = q->num_logs, .out = &text};
    if (with_output) paths[job.num_paths++] = q->output;
    if (s == AT_OK) s = pick_into(&job, with_output, out, err);
    at_output_close(out);
    if (fd >= 0) close(fd);
    at_text_free(&text);
    *picks = job.picks.data;
    *num_picks = s == AT_OK ? job.picks.len : 0;
    return s;
}
