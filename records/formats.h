/* records/formats.h: files of other tuners, read into records and written from them. A format is
 * one file of this folder and a row of formats.c. */
#ifndef AT_RECORDS_FORMATS_H
#define AT_RECORDS_FORMATS_H

#include "records/log.h"

typedef struct at_exchange {
    at_arena *arena; /* of everything read */
    /* The first part of knob number `knob`, which the record leaves open (-1); 0 or less: not
     * known. May be NULL. */
    int64_t (*split_part)(void *ctx, const at_record *r, int knob);
    /* The text of the record's computation as a log has it, "te {"name": .., "text": ..}", and what
     * a file tells of one, before its records are read. NULL: there is none. May be NULL. */
    const char *(*text_of)(at_arena *a, const at_record *r);
    at_status (*take_text)(const char *name, const char *text, at_error *err);
    at_warn_fn *loss; /* told each field that is dropped: "lost: tvm_version (3 records)" */
    at_warn_fn *warn; /* of log readers */
    void *ctx;
} at_exchange;
/* A format: a file of records/ and a row of formats.c. A file of another tuner is one JSON object;
 * the log, row 0, has NULL for what only such a file needs. docs/how-to/add-a-record-format.md */
typedef struct at_file_format {
    const char *name; /* "t4", as --to takes it */
    const char *help; /* "results, schema 1.0.0" */
    const char *kind; /* "T4 file", in messages */
    bool (*begins)(const char *head,
                   size_t len); /* whether it is such a file; for at_output_rules */
    bool (*is)(const at_json *file);
    const char *const *taken; /* names that no parameter may have; NULL-terminated. NULL: none */
    /* The text of a file that its run left unfinished, in an arena. NULL: none is read. */
    at_status (*parse_torn)(at_arena *a, const char *text, size_t len, const at_json **out);
    /* task: its name, where the file tells none. AT_E_INPUT */
    at_status (*read)(const at_exchange *x, const at_json *file, const char *task,
                      at_record **records, int *n, at_error *err);
    /* At least one record; all are of one task and have the parameters of the first one. */
    void (*print)(const at_exchange *x, const at_record *records, int n, at_text *out);
} at_file_format;
const at_file_format *at_file_format_at(int i);              /* NULL behind the last */
const at_file_format *at_file_format_find(const char *name); /* NULL: there is none */
/* Of another tuner's file that begins so; NULL: it is none. */
const at_file_format *at_file_format_of_head(const char *head, size_t len);
/* Whether a file may be one object, not a log: of that the first line is looked at. A file that
 * cannot be read twice is told to be a log. AT_E_INPUT: it cannot be read. */
at_status at_is_exchange_file(const char *path, bool *may, at_error *err);
/* Everything in a file of any of them; compressed or not. AT_E_INPUT. */
at_status at_exchange_read(const at_exchange *x, const char *path, const at_file_format **format,
                           at_record **records, int *n, at_error *err);
/* AT_E_INPUT: results of no or of several tasks, which only a log can hold. */
at_status at_exchange_print(const at_exchange *x, const at_file_format *format,
                            const at_record *records, int n, at_text *out, at_error *err);

#endif
