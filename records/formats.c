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
