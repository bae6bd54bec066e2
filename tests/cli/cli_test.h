/* tests/cli/cli_test.h: running the program as a user does, in a folder of its own. */
#ifndef AT_CLI_TEST_H
#define AT_CLI_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"

/* In a command: the number of the line in which a log's first record stands. */
#define FIRST_RECORD(log) "$(sed -n '/^{/{=;q}' " log ")"

/* In a command: until the log has some records. */
#define UNTIL_RECORDS(log)                                                                         \
    "while [ $(cat " log " 2>/dev/null | grep -c '^{') -lt 3 ]; do sleep 0.05; done; "

typedef struct cli_result {
    int status; /* exit status, or 128 + signal */
    char *out, *err;
} cli_result;

/* Group setup and teardown: a new empty working folder with ./autotune in it, which is where all
 * commands run and all paths below begin. */
int cli_setup(void **state);
int cli_teardown(void **state);

/* Runs a shell command. The result is valid until the next call. */
const cli_result *cli_run(const char *command, ...) __attribute__((format(printf, 1, 2)));
/* Runs it and expects this exit status; prints both outputs where it differs. */
const cli_result *cli_expect(int status, const char *command, ...)
    __attribute__((format(printf, 2, 3)));
/* The library, its worker and the Python package of this build are found where installed ones would
 * be, and python3 is one with NumPy where there is one. true: the library has a sanitizer, which
 * wants to be in a program first. */
bool cli_as_if_installed(void);
/* Has python3 NumPy? */
bool cli_has_numpy(void);
/* How many cores this process may use. */
int cli_cores(void);
/* Has the program the tuner xgb, which needs XGBoost? */
bool cli_has_xgb(void);
/* Are there facts of this CPU, without which --why and --prune are refused? Says so where not. */
bool cli_knows_cpu(void);
/* Defines `child_of PID` in a command: a child of that process, nothing where it has none. */
#define CLI_CHILD_OF                                                                               \
    "child_of() { for p in /proc/[0-9]*; do grep -qs \"^PPid:[[:space:]]*$1\\$\" $p/status && "    \
    "echo ${p#/proc/}; done | head -1; }; "

/* Runs a search with --log and a --time of some tenths of a second; with longer ones where the
 * machine is too busy for one trial in it. It must end well. */
const cli_result *cli_expect_within(const char *command, const char *log);

/* Parses the last result's stdout as one JSON object. */
const at_json *cli_json(void);
/* A member by path: "best.index". Fails the test where it is absent. */
const at_json *cli_member(const at_json *object, const char *path);
double cli_number(const at_json *object, const char *path); /* of one that is a number */

/* For `sed -E`: a record's times as if they were these, of trials, of their pairs, and of finals.
 */
#define CLI_CLAIM(x, y)                                                                            \
    "s/\"samples_s\": \\[[^]]*\\]/\"samples_s\": [" x ", " y                                       \
    "]/; s/\"ratios\": \\[[^]]*\\](, \"states\": \"[a-z]*\")?/\"ratios\": [" x ", " y              \
    "]/; s/\"rounds\": .*/\"rounds\": 2, "                                                         \
    "\"rounds_s\": [[" x "], [" y "]], \"peaks_gflops\": [0, 0]}/"
#define CLI_SLOW_CLAIM CLI_CLAIM("1000.0", "1001.0")
/* `verify` finds each record of the log reproduced, where its times are as long: by its results,
 * whatever the machine does meanwhile. more: further arguments. */
void cli_expect_verified(const char *log, const char *more);

/* How many processes work in the folder, but for the test itself: what a run left behind. */
int cli_processes(void);
/* Until there are none. Without a limit: one that lives on hangs the test, and nothing else can
 * decide it. */
void cli_wait_for_processes(void);

void cli_write(const char *path, const char *text);
/* An array of 2 axes, a .npy: every element has these bytes. */
void cli_write_array(const char *path, const char *descr, int rows, int columns,
                     const char *element, int bytes);
/* bin/gcc: $REAL_GCC, but every kernel has done that line of C to its buffers, buf[], when it is
 * through. */
void cli_write_faulty_gcc(const char *fault);
char *cli_read(const char *path);                /* valid until the next call of cli_run */
char *cli_source(at_arena *a, const char *path); /* of the project, in a */
at_arena *cli_arena(void);                       /* reset by the next call of cli_run */
int cli_count_lines(const char *text, const char *beginning);
/* The records of a log without that of the anchor, which is no trial. */
char *cli_trials(const char *log);

#endif
