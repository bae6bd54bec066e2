/* cli/log_view.h: what the verb log shows of a log. */
#ifndef AT_CLI_LOG_VIEW_H
#define AT_CLI_LOG_VIEW_H

#include "cli/json_out.h"
#include "cli/options.h"

/* One line per trial, with a header. */
at_status at_log_print_csv(const char *path, at_error *err);
/* The best of two logs, task by task. */
at_status at_log_print_diff(const at_options *o, at_error *err);

/* Members task, args; index, entity. */
void at_out_record(at_out *o, const at_record *r);
/* "conv2d_3x3_gemm [1, 56, 56, 64, 64, "float32"]" */
void at_text_add_record_task(at_text *out, const char *task, const at_json *args);

/* The kind of failure in a summary's list: "timeout", "unchecked", "other". */
const char *at_failure_name(int error_no);
/* "2026-11-21 13:42:25 to 2026-11-21 13:43:01", local time. */
void at_text_add_span(at_text *out, double first_s, double last_s);
double at_record_time(const at_record *r); /* of its finals, else of its trial */

/* Rows of texts in columns of one width; those between the first and the last, which hold numbers,
 * to the right. */
typedef struct at_table {
    at_arena *arena;
    int columns;
    AT_VEC(const char *) cells; /* row by row */
} at_table;
void at_table_add(at_table *t, const char *cell); /* copied */
void at_table_print(at_text *out, const at_table *t);

#endif
