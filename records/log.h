/* records/log.h: a log as a file: its records are read one by one, tolerantly, and appended,
 * exactly. Source: TVM v0.12, python/tvm/autotvm/record.py. */
#ifndef AT_RECORDS_LOG_H
#define AT_RECORDS_LOG_H

#include "records/record.h"

/* Told one line of text, without '\n'. */
typedef void at_warn_fn(void *ctx, const char *text);

/* ---- reading (log_read.c) ------------------------------------------------------------------- */

/* How the text of a computation begins as a comment, behind '#': engine/task/log_texts.h. */
#define AT_COMMENT_TE "te {"

typedef struct at_log_reader at_log_reader;
typedef struct at_log_stats {
    int64_t lines, records, comments, blank, bad;
    int64_t texts;       /* comments that are texts of computations */
    int64_t old_version; /* of version 0.1; those that are well-formed are records, too */
} at_log_stats;
/* Line by line in constant memory. warn (may be NULL) gets one text per blank, torn or bad line,
 * which is then skipped ("conv.log:12: not a record: ...; skipped"), up to a limit; one for all
 * records of version 0.1. AT_E_INPUT: missing, unreadable, empty, binary ("conv.log looks like no
 * log: byte 0 is 0x7f"). */
at_status at_log_reader_open(const char *path, at_warn_fn *warn, void *ctx, at_log_reader **out,
                             at_error *err);
/* The next record into *out, its memory valid until the next call; false at the end. */
bool at_log_reader_next(at_log_reader *r, at_record *out);
/* Told each comment line from now on, without '#'. */
void at_log_reader_on_comment(at_log_reader *r,
                              void (*comment)(void *ctx, const char *text, int64_t line),
                              void *ctx);
const at_log_stats *at_log_reader_stats(const at_log_reader *r);
/* After the end: AT_OK, or what cut the reading short. */
at_status at_log_reader_status(const at_log_reader *r, at_error *err);
/* At its end: AT_E_INPUT where none of its lines was a record. */
at_status at_log_reader_needs_records(const at_log_reader *r, at_error *err);
void at_log_reader_close(at_log_reader *r);
/* From now on, reading ends with AT_E_INPUT where this arena (of three at most) has grown by more
 * than so many MiB: for what is kept of each task. */
enum { AT_KEPT_MIB = 4 };
void at_log_reader_watch(at_log_reader *r, const at_arena *a, int most_mib);
/* As at_log_read_all below, of the records that are wanted; what is not takes no memory. stats:
 * of all lines; may be NULL. AT_E_INPUT also where no line is a record. */
at_status at_log_read_wanted(at_arena *a, const char *path,
                             bool (*wants)(void *ctx, const at_record *r), void *wants_ctx,
                             at_warn_fn *warn, void *ctx, at_record **out, int *count,
                             at_log_stats *stats, at_error *err);
/* All records of a log with their finals, owned by arena. */
at_status at_log_read_all(at_arena *a, const char *path, at_warn_fn *warn, void *ctx,
                          at_record **out, int *count, at_error *err);

/* ---- writing (log_write.c) ------------------------------------------------------------------ */

typedef struct at_log at_log;
/* Opens for appending, creates if absent, locks. AT_E_LOCKED names the owner's pid; AT_E_USAGE: the
 * file is there and no log; AT_E_OUTPUT. A
 * last line without '\n' (torn by a crash) gets one before the first append, so that nothing is
 * lost. A new file that nothing was written to is removed when it is closed. */
at_status at_log_open(const char *path, at_log **out, at_error *err);
at_status at_log_append(at_log *l, const at_record *r, at_error *err); /* one write() */
at_status at_log_comment(at_log *l, const char *text, at_error *err);  /* "#text" */
/* Whole lines at the end of the log, in place of those that the call before wrote, if these were
 * not the last and nothing was appended since. A kill at any moment leaves the lines of this call
 * or of the one before. What is no file, but a pipe or a device, is written the last ones only. */
at_status at_log_put_tail(at_log *l, const at_text *lines, bool is_last, at_error *err);
at_status at_log_close(at_log *l, at_error *err); /* NULL is fine; flush errors are reported */

/* Whether a file that begins so is a log; for at_output_rules. An empty one may become one. */
bool at_is_log_head(const char *head, size_t len);
/* AT_E_USAGE: path is a log of more records than these, which are to replace it. */
at_status at_refuse_larger_log(const char *path, int64_t records, at_error *err);

#endif
