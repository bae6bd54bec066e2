/* records/best.c: the best record of each task and context, out of several logs. */
#include "records/records_int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct best {
    double mean_s;
    at_text line; /* as it will be written */
    const char *source;
    int64_t line_number;
    int64_t considered;
} best;

typedef struct chooser {
    at_key_map keys;
    AT_VEC(best) best; /* [keys] */
    at_text key;       /* of the record in hand */
    int64_t records;
} chooser;

/* A record of ours tells its context. Of a foreign one only the target is known. */
static void print_key(at_text *out, const at_record *r) {
    at_text_clear(out);
    at_text_add(out, r->extra.present ? r->extra.context_hash : r->target);
    at_text_add(out, "\n");
    at_workload_identity(out, r);
}

static void consider(chooser *c, const at_record *r, const char *source) {
    c->records++;
    if (!at_record_is_candidate(r)) return;
    print_key(&c->key, r);
    int i = at_key_map_add(&c->keys, at_text_str(&c->key));
    if (i == c->best.len) *at_push(c->keys.arena, &c->best) = (best){0};
    best *b = &c->best.data[i];
    double mean_s = at_record_mean(r);
    if (b->considered++ && !(mean_s < b->mean_s)) return;
    b->mean_s = mean_s;
    b->source = source;
    b->line_number = r->line;
    at_text_clear(&b->line);
    at_record_print(&b->line, r);
}

at_status at_pick_add(at_pick_job *job, const char *line, size_t len, const char *source,
                      int64_t line_number, int64_t considered, at_error *err) {
    at_pick *pick = at_push(job->arena, &job->picks);
    *pick = (at_pick){.source = at_strdup(job->arena, source), .considered = considered};
    at_text_addn(job->out, line, len);
    AT_TRY(at_record_parse(job->arena, line, len, &pick->record, err));
    pick->record.line = line_number;
    return AT_OK;
}

static at_status read_one(chooser *c, const at_pick_job *job, int i, bool may_be_empty,
                          at_error *err) {
    at_log_reader *reader;
    at_record record;
    const char *path = job->paths[i];
    if (may_be_empty)
        AT_TRY(at_log_reader_open_empty(path, job->warn, job->warn_ctx, &reader, err));
    else AT_TRY(at_log_reader_open(path, job->warn, job->warn_ctx, &reader, err));
    while (at_log_reader_next(reader, &record)) consider(c, &record, path);
    at_status s = at_log_reader_status(reader, err);
    at_log_reader_close(reader);
    return s;
}

static at_status fail_no_valid(const chooser *c, const at_pick_job *job, at_error *err) {
    return at_fail(err, AT_E_NO_VALID, "no valid record in %s%s: %lld records, none of them %s",
                   job->paths[0], job->num_paths > 1 ? " and the others" : "",
                   (long long)c->records, "without failure and checked");
}

static at_status choose(chooser *c, at_pick_job *job, bool with_output, at_error *err) {
    for (int i = 0; i < job->num_paths; i++)
        AT_TRY(read_one(c, job, i, with_output && i == job->num_paths - 1, err));
    if (!c->best.len) return fail_no_valid(c, job, err);
    for (int i = 0; i < c->best.len; i++) {
        const best *b = &c->best.data[i];
        AT_TRY(at_pick_add(job, b->line.data, b->line.len, b->source, b->line_number, b->considered,
                           err));
    }
    return AT_OK;
}

static at_status pick_best(at_pick_job *job, bool with_output, at_error *err) {
    chooser c = {.keys.arena = at_arena_new()};
    at_status s = choose(&c, job, with_output, err);
    for (int i = 0; i < c.best.len; i++) at_text_free(&c.best.data[i].line);
    at_text_free(&c.key);
    at_arena_free(c.keys.arena);
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
