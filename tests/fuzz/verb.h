/* tests/fuzz/verb.h: commands run on an input within the process, in a folder of their own, and
 * what must hold of everything they put out, whatever the input. */
#ifndef AT_TESTS_VERB_H
#define AT_TESTS_VERB_H

#include "tests/fuzz/fuzz.h"

typedef struct fuzz_output {
    int status;            /* exit code of the program */
    const char *out, *err; /* until the next run */
} fuzz_output;

/* Enters a folder of its own, empty but for `input`, which holds the data, and `bin/`, which comes
 * first in PATH and holds a command `c` that leaves a file CANARY. */
void fuzz_enter(const uint8_t *data, size_t size);
/* Back where it was. Beside `input` and `bin` only these files may lie there (NULL-terminated): a
 * command that the input held has been obeyed otherwise. They are removed. */
void fuzz_leave(const char *const *may_be);
/* "log input --csv": the program's main without its process. */
fuzz_output fuzz_verb(const char *words);

/* No byte that a terminal obeys. */
void fuzz_check_shown(const char *text, const char *what);
/* Elements are closed in their order, attributes quoted, references known: HTML of ours, of which
 * only harmless elements and attributes may be there, or anybody's XML. */
void fuzz_check_html(const char *text);
void fuzz_check_xml(const char *text);
/* Lines of equally many fields, of which none that is no number begins as a formula does. */
void fuzz_check_csv(const char *text);

/* Logs to start from: texts that are commands, markup, formulas and escape sequences. */
bool fuzz_seed_log(int i, at_text *out);

#endif
