/* records/records_int.h: what the files of records/ share. */
#ifndef AT_RECORDS_INT_H
#define AT_RECORDS_INT_H

#include "base/json_value.h"
#include "records/records.h"

/* By the number of the state; NULL: of another word. */
extern const char *const at_check_words[AT_CHECK_OTHER + 1];
extern const char *const at_samples_words[AT_SAMPLES_OTHER + 1];

/* Limits of one record, and of a final: docs/notes/records.md. */
enum {
    AT_MOST_VALUES = 1 << 16, /* JSON values of a line */
    AT_MOST_ARG_VALUES = 1024,
    AT_MOST_TARGET_BYTES = 4096,
};

/* ---- record.c ------------------------------------------------------------------------------- */

/* As at_record_parse. *old_version: the line is of log version 0.1. */
at_status at_record_parse_line(at_arena *a, const char *line, size_t len, at_record *out,
                               bool *old_version, at_error *err);
/* The index a record is written with: the one it was read with, or that of its configuration. */
int64_t at_record_index(const at_record *r);

/* ---- extra.c -------------------------------------------------------------------------------- */

/* The value of our extra member. from NULL: that of a foreign record. */
void at_extra_print(at_text *out, const at_extra *e);
at_status at_extra_read(at_arena *a, const at_json *from, at_extra *e, at_error *err);
/* Arrays of numbers; place: what an error calls the array. AT_E_INPUT */
void at_add_doubles(at_text *out, const double *x, int n);
at_status at_read_doubles(at_arena *a, const at_json *from, const char *place, const double **out,
                          int *n, at_error *err);

/* ---- upgrade.c ------------------------------------------------------------------------------ */

bool at_is_old_version(const at_json *row); /* log version 0.1 */
/* Such a row as one of version 0.2. AT_E_INPUT */
at_status at_upgrade(at_arena *a, const at_json *old, const at_json **out, at_error *err);

/* ---- target_text.c
 * ------------------------------------------------------------------------------- */

typedef struct at_tvm_target_option {
    const char *name, *value;
} at_tvm_target_option;
typedef struct at_tvm_target {
    const char *kind;  /* "llvm" */
    const char *model; /* "unknown" where none is given */
    AT_VEC(const char *) keys;
    AT_VEC(at_tvm_target_option) options; /* by name; without keys and link-params */
} at_tvm_target;
/* false: not of the form "kind -name=value ...". */
bool at_tvm_target_parse(at_arena *a, const char *text, at_tvm_target *out);

/* ---- comment_line.c ------------------------------------------------------------------------- */

typedef struct at_comment {
    const at_json *value;
    const char *task, *context_hash;
    const at_json *args; /* the task's own */
} at_comment;
/* false: another comment than NAME, or torn. Owned by a. NULL: of any name. */
bool at_comment_read(at_arena *a, const char *comment, const char *name, at_comment *out);

/* ---- turns.c -------------------------------------------------------------------------------- */

/* Are states known of the samples? */
bool at_turns_have_states(const at_turns *t);

/* ---- spread.c ------------------------------------------------------------------------------- */

/* The middle half, or all of a few; n >= 1. */
at_spread at_spread_of(const double *sorted, int n);

/* ---- gzip.c --------------------------------------------------------------------------------- */

typedef struct at_gunzip at_gunzip;
enum { AT_GUNZIP_HEAD_MAX = 256 << 10 };
bool at_is_gzip(const char *head, size_t len);
/* head: what of the file has been read already, at most AT_GUNZIP_HEAD_MAX. Borrows fd. */
at_gunzip *at_gunzip_new(int fd, const char *head, size_t len);
/* *got = 0 at the end; *torn: which came too early. AT_E_INPUT: unreadable or damaged. */
at_status at_gunzip_read(at_gunzip *z, const char *path, char *out, size_t cap, size_t *got,
                         bool *torn, at_error *err);
void at_gunzip_free(at_gunzip *z); /* NULL is fine */
/* As at_read_file; what is compressed is unpacked. */
at_status at_read_file_gunzip(at_arena *a, const char *path, size_t most_bytes, char **text,
                              size_t *len, at_error *err);
/* Its first bytes, unpacked; NUL behind. */
at_status at_read_head_gunzip(at_arena *a, const char *path, size_t most_bytes, char **head,
                              size_t *len, at_error *err);
/* AT_E_OUTPUT where the file is compressed: nothing can be appended to it. */
at_status at_refuse_gzip(int fd, const char *path, at_error *err);

/* ---- log_read.c ----------------------------------------------------------------------------- */

/* Refuses what AutoTVM refuses: the first line that is neither a comment nor a record ends the
 * reading, and at_log_reader_status tells why. An empty file is fine. */
at_status at_log_reader_open_strict(const char *path, at_log_reader **out, at_error *err);
/* As at_log_reader_open, but an empty file is fine. */
at_status at_log_reader_open_empty(const char *path, at_warn_fn *warn, void *ctx,
                                   at_log_reader **out, at_error *err);

/* ---- log_write.c ---------------------------------------------------------------------------- */

/* Opens with these flags and locks a regular file against other runs; *fd is -1 if it does not
 * exist and flags do not create it. The lock ends with the descriptor. */
at_status at_log_open_locked(const char *path, int flags, int *fd, at_error *err);

/* ---- log_kind.c ----------------------------------------------------------------------------- */

/* AT_E_USAGE: the file is not empty and no log. */
at_status at_log_check_kind(int fd, const char *path, at_error *err);
/* AT_E_USAGE: it holds more than pick_best writes, the trials of a search. */
at_status at_refuse_tuning_log(const char *path, at_error *err);

/* ---- winner.c ------------------------------------------------------------------------------- */

/* What a record competes in: its task and the hash of its context or, of a foreign one, its target.
 */
void at_record_competition(at_text *out, const at_record *r);

/* ---- anchor_times.c ------------------------------------------------------------------------- */

/* What #anchor lines of a log say, by context, workload and number. */
typedef struct at_anchor_scales {
    double of_first, first_s;
    at_scale by[AT_STATE_COUNT];
} at_anchor_scales;
typedef struct at_anchor_times {
    at_key_map keys;
    AT_VEC(at_anchor_scales) of; /* [keys] */
} at_anchor_times;
void at_anchor_times_init(at_anchor_times *t, at_arena *a);
/* Other comments are ignored. */
void at_anchor_times_add(at_anchor_times *t, const char *comment);
typedef struct at_timed {
    double time_s;
    double of_first;  /* over the time of the first anchor; 0: it was timed alone */
    bool is_in_state; /* some of its pairs were in the state; else it is of all */
} at_timed;
/* Of its trial, for an objective; NONE: as it was recorded. */
at_timed at_record_timed(const at_anchor_times *t, const at_record *r, at_objective o);

/* ---- contenders.c --------------------------------------------------------------------------- */

/* Keeps what can win of each key: task and context; by_target: and target. */
typedef struct at_chooser at_chooser;
at_chooser *at_chooser_new(bool by_target, at_objective objective);
void at_chooser_free(at_chooser *c);
void at_chooser_comment(void *chooser, const char *comment, int64_t line); /* of the log */
/* Before the records of a log are added; path outlives the chooser. What is no file cannot be read
 * again, and all of it is kept. */
void at_chooser_begin(at_chooser *c, const char *path);
/* The number of the record's key, from 0 in order of appearance; -1: no candidate. */
int at_chooser_add(at_chooser *c, const at_record *r);
/* The same of a candidate whose key is known to be this one. */
void at_chooser_add_to(at_chooser *c, int key, const at_record *r);
/* A record of the log that must not win, whatever finals say of it. */
void at_chooser_refuse(at_chooser *c, const at_record *r);
/* Reading ends where too much is kept of what can win, or of finals. */
void at_chooser_limit(const at_chooser *c, at_log_reader *r);
int at_chooser_len(const at_chooser *c);
/* After all was added, before anything is picked. AT_E_INPUT */
at_status at_chooser_settle(at_chooser *c, at_error *err);
/* The best of a key, in memory of a; false: all failed when they were timed again. */
bool at_chooser_pick(at_chooser *c, int key, at_arena *a, at_pick *out);

/* ---- best.c, best_compat.c ------------------------------------------------------------------ */

/* The logs to choose from, in order; the last one is the existing output, if there is one. */
typedef struct at_pick_job {
    at_arena *arena; /* of the picks and their records */
    const at_pick_request *asked;
    const char *const *paths;
    int num_paths;
    at_text *out; /* the lines chosen */
    AT_VEC(at_pick) picks;
} at_pick_job;
at_status at_pick_compat(at_pick_job *job, at_error *err);

#endif
