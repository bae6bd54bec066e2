/* records/formats.c: the formats that records are converted between. A new one is one file, which
 * includes exchange.h, and one row here. */
#include "records/exchange.h"

#include <string.h>

#define FORMATS(ROW) ROW(at_t4_format) ROW(at_kernel_tuner_format)

#define DECLARE(row) extern const at_file_format row;
FORMATS(DECLARE)
static const at_file_format log_format = {.name = "log", .help = "AutoTVM's", .kind = "log"};
#define ADDRESS(row) &row,
static const at_file_format *const rows[] = {&log_format, FORMATS(ADDRESS)};
enum { NUM_ROWS = sizeof rows / sizeof *rows };

const at_file_format *at_file_format_at(int i) { return i < NUM_ROWS ? rows[i] : NULL; }

const at_file_format *at_file_format_find(const char *name) {
    for (int i = 0; i < NUM_ROWS; i++)
        if (!strcmp(rows[i]->name, name)) return rows[i];
    return NULL;
}

const at_file_format *at_file_format_of_head(const char *head, size_t len) {
    for (int i = 1; i < NUM_ROWS; i++)
        if (rows[i]->begins(head, len)) return rows[i];
    return NULL;
}
