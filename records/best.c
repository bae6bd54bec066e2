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
    while (at_log_reader_next(reader, &record)) at_chooser_add(c, &record, path);
    at_status s = at_log_reader_status(reader, err);
    const at_log_stats *stats = at_log_reader_stats(reader);
    if (s == AT_OK && is_output && stats->bad && !stats->records)
        s = at_fail(err, AT_E_INPUT, "%s is no log, and is not replaced by one", path);
    *records += stats->records;
    at_log_reader_close(reader);
    return s;
}

static at_status choose(at_chooser *c, at_pick_job *job, bool with_output, at_error *err) {
    int64_t records = 0;
    for (int i = 0; i < job->num_paths; i++)
        AT_TRY(read_one(c, job, i, with_output && i == job->num_paths - 1, &records, err));
    if (!at_chooser_len(c))
        return at_fail(err, AT_E_NO_VALID, "no valid record in %s%s: %lld records, none of them %s",
                       job->paths[0], job->num_paths > 1 ? " and the others" : "",
                       (long long)records, "without failure and checked");
    at_pick pick;
    for (int i = 0; i < at_chooser_len(c); i++) {
        if (!at_chooser_pick(c, i, job->arena, &pick)) continue;
        at_pick_print(job->out, &pick);
        *at_push(job->arena, &job->picks) = pick;
    }
    return AT_OK;
}

static at_status pick_best(at_pick_job *job, at_per per, bool with_output, at_error *err) {
    at_chooser *c = at_chooser_new(per);
    at_status s = choose(c, job, with_output, err);
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
