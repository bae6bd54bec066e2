/* records/best.c: the best record of each task and context, out of several logs. */
#include "records/records_int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Finals are held among five, and a final comes after its trials: so many of the best of each key
 * are kept until the end. */
enum { KEPT = 8 };

typedef struct kept {
    double mean_s;
    at_text line; /* as it will be written */
    const char *source;
    int64_t line_number;
} kept;

/* The best records of one task and context. */
typedef struct leaders {
    kept of[KEPT]; /* ascending by mean */
    int n;
    int64_t considered;
} leaders;

typedef struct chooser {
    at_key_map keys;
    AT_VEC(leaders) leaders; /* [keys] */
    at_finals finals;
    at_text key; /* of the record in hand */
    int64_t records;
} chooser;

/* A record of ours tells its context. Of a foreign one only the target is known. */
static void print_key(at_text *out, const at_record *r) {
    at_text_clear(out);
    at_text_add(out, r->extra.present ? r->extra.context_hash : r->target);
    at_text_add(out, "\n");
    at_workload_identity(out, r);
}

static void keep(leaders *l, const at_record *r, const char *source) {
    double mean_s = at_record_mean(r);
    int at = l->n;
    while (at > 0 && mean_s < l->of[at - 1].mean_s) at--;
    /* Copies of one measurement would crowd out the others. */
    if (at == KEPT || (at > 0 && r->extra.same_as >= 0 && mean_s == l->of[at - 1].mean_s)) return;
    kept last = l->of[KEPT - 1];
    if (l->n < KEPT) last = l->of[l->n++];
    memmove(l->of + at + 1, l->of + at, (size_t)(l->n - 1 - at) * sizeof *l->of);
    at_text_clear(&last.line); /* its memory serves again */
    l->of[at] = (kept){mean_s, last.line, source, r->line};
    at_record_print(&l->of[at].line, r);
}

static void consider(chooser *c, const at_record *r, const char *source) {
    c->records++;
    if (!at_record_is_candidate(r)) return;
    print_key(&c->key, r);
    int i = at_key_map_add(&c->keys, at_text_str(&c->key));
    if (i == c->leaders.len) *at_push(c->keys.arena, &c->leaders) = (leaders){0};
    leaders *l = &c->leaders.data[i];
    l->considered++;
    keep(l, r, source);
}

const at_record *at_record_best(const at_record *const *records, int n) {
    const at_record *best = NULL, *in_final = NULL;
    for (int i = 0; i < n; i++) {
        const at_record *r = records[i];
        if (!at_record_is_candidate(r)) continue;
        if (!best || at_record_mean(r) < at_record_mean(best)) best = r;
        if (r->final_s > 0 && (!in_final || r->final_s < in_final->final_s)) in_final = r;
    }
    /* One that came after the last final has nothing but its mean. */
    return best && best->final_s > 0 ? in_final : best;
}

void at_pick_add(at_pick_job *job, const at_record *r, const char *source, int64_t considered) {
    size_t start = job->out->len;
    at_record_print(job->out, r);
    at_pick *pick = at_push(job->arena, &job->picks);
    *pick = (at_pick){.source = at_strdup(job->arena, source), .considered = considered};
    /* A copy that outlives the reader. */
    at_status s = at_record_parse(job->arena, job->out->data + start, job->out->len - start,
                                  &pick->record, NULL);
    AT_ASSERT(s == AT_OK);
    pick->record.line = r->line;
    pick->record.final_s = r->final_s;
}

static at_status read_one(chooser *c, const at_pick_job *job, int i, bool is_output,
                          at_error *err) {
    at_log_reader *reader;
    at_record record;
    const char *path = job->paths[i];
    if (is_output) AT_TRY(at_log_reader_open_empty(path, job->warn, job->warn_ctx, &reader, err));
    else AT_TRY(at_log_reader_open(path, job->warn, job->warn_ctx, &reader, err));
    at_log_reader_on_comment(reader, at_finals_add, &c->finals);
    while (at_log_reader_next(reader, &record)) consider(c, &record, path);
    at_status s = at_log_reader_status(reader, err);
    const at_log_stats *stats = at_log_reader_stats(reader);
    if (s == AT_OK && is_output && stats->bad && !stats->records)
        s = at_fail(err, AT_E_INPUT, "%s is no log, and is not replaced by one", path);
    at_log_reader_close(reader);
    return s;
}

static void pick_one(const chooser *c, const leaders *l, at_pick_job *job, at_arena *scratch) {
    at_record parsed[KEPT];
    const at_record *records[KEPT];
    int n = c->finals.of.len ? l->n : 1; /* without finals the first is the best */
    at_arena_reset(scratch);
    for (int i = 0; i < n; i++) {
        const kept *k = &l->of[i];
        at_status s = at_record_parse(scratch, k->line.data, k->line.len, &parsed[i], NULL);
        AT_ASSERT(s == AT_OK);
        parsed[i].line = k->line_number;
        at_finals_apply(&c->finals, &parsed[i]);
        records[i] = &parsed[i];
    }
    const at_record *best = at_record_best(records, n);
    at_pick_add(job, best, l->of[best - parsed].source, l->considered);
}

static at_status choose(chooser *c, at_pick_job *job, bool with_output, at_error *err) {
    for (int i = 0; i < job->num_paths; i++)
        AT_TRY(read_one(c, job, i, with_output && i == job->num_paths - 1, err));
    if (!c->leaders.len)
        return at_fail(err, AT_E_NO_VALID, "no valid record in %s%s: %lld records, none of them %s",
                       job->paths[0], job->num_paths > 1 ? " and the others" : "",
                       (long long)c->records, "without failure and checked");
    at_arena *scratch = at_arena_new();
    for (int i = 0; i < c->leaders.len; i++) pick_one(c, &c->leaders.data[i], job, scratch);
    at_arena_free(scratch);
    return AT_OK;
}

static at_status pick_best(at_pick_job *job, bool with_output, at_error *err) {
    at_arena *a = at_arena_new();
    chooser c = {.keys.arena = a};
    at_finals_init(&c.finals, a);
    at_status s = choose(&c, job, with_output, err);
    for (int i = 0; i < c.leaders.len; i++)
        for (int j = 0; j < c.leaders.data[i].n; j++) at_text_free(&c.leaders.data[i].of[j].line);
    at_text_free(&c.key);
    at_arena_free(a);
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
                       const char *output_path, bool compat, at_warn_fn *warn, void *ctx,
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
    at_status s = compat ? at_pick_compat(&job, err) : pick_best(&job, with_output, err);
    if (s == AT_OK && output_path) s = at_write_file(output_path, at_text_str(&out), out.len, err);
    if (fd >= 0) close(fd);
    at_text_free(&out);
    *picks = job.picks.data;
    *num_picks = s == AT_OK ? job.picks.len : 0;
    return s;
}
