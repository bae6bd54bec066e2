/* cli/options_int.h: between the table of options, the reading of values and the reading of argv.
 */
#ifndef AT_CLI_OPTIONS_INT_H
#define AT_CLI_OPTIONS_INT_H

#include "cli/options.h"

/* How the value of an option is read. */
enum {
    SWITCH,
    TEXT,
    INTEGER,
    UNSIGNED,
    DURATION,
    PAUSE,
    MILLISECONDS,
    FACTOR,
    SHARE,
    PERCENT,
    RANGE,
    FORMAT,
    ISA,
    ISAS,
    PRESET,
    TUNER,
    OF_TUNERS, /* an option that a tuner declares; in the table: all of them */
    SEVERAL,   /* texts, of which each counts */
    INPUT,
    OUTPUT,
    ARRAY,
    EXPECT,
    /* A word, which is a value of an enum: the first one is the row's `min`. */
    COMPILER,
    DIALECT,
    ABI,
    PACKING,
    CACHE,
    FEATURES,
    HISTORY,
    PER,
    AGAINST,
    OBJECTIVE,
    SANDBOX,
    COLOR,
    MANUAL,
    LAST_KIND
};
/* `min` of a TEXT: an empty value goes to the reader, whose message tells what there is. */
enum { READER_REFUSES_EMPTY = 1 };

/* Of the option so written, or of its letter; -1. */
int at_option_index(const char *name, size_t len);
/* Reads text by the row's kind into its member. */
at_status at_option_read(const at_option_row *row, const char *text, at_options *o, at_error *err);

#endif
