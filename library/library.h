/* library/library.h: what the files behind autotune.h share. Every public function begins
 * with at_lib_enter and ends with at_lib_leave; in between, numbers are read, written and rounded
 * as everywhere in this program, whatever the caller's locale and floating-point state are. */
#ifndef AT_LIBRARY_H
#define AT_LIBRARY_H

#include "engine/engine.h"
#include "library/autotune.h"

#include <fenv.h>
#include <locale.h>

struct at_lib {
    at_error error;
    void (*message)(void *ctx, const char *text);
    void *ctx;
    char *worker;                      /* owned; NULL: chosen by at_lib_worker */
    const struct at_lib_state *caller; /* of the call under way */
};

struct at_lib_task {
    at_lib *lib;
    at_arena *arena;     /* of the task and its options */
    at_arena *scratch;   /* of the last answer */
    at_request request;  /* name or row, args, weight */
    at_problem problem;  /* its ways of being computed */
    at_selection chosen; /* the task of the first way alone */
    at_engine_options options;
    at_tuner_caller tuner; /* asks the caller's functions; next NULL: there are none */
    at_lib_next_fn *next;
    at_lib_update_fn *update;
    void *tuner_ctx;
    volatile int stop;
};

/* The caller's locale and floating-point state. */
typedef struct at_lib_state {
    locale_t locale;
    fenv_t floating;
} at_lib_state;
void at_lib_enter(at_lib *lib, at_lib_state *s);
void at_lib_leave(at_lib *lib, const at_lib_state *s);
/* Around a call of the caller's own function, which finds the caller's state. */
void at_lib_out(const at_lib *lib);
void at_lib_in(const at_lib *lib);

/* The at_lib_code of a status; from now on lib->error is err, where s is not AT_OK. */
int at_lib_code_of(at_lib *lib, at_status s, const at_error *err);
/* A mistake of the caller's: AT_LIB_USAGE, with this text in lib->error. */
int at_lib_misuse(at_lib *lib, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* at_warn_fn of a handle: in the caller's own state. */
void at_lib_tell(void *lib, const char *text);
/* The worker's absolute path. AT_E_USAGE: the path that was named is none, or no program. */
at_status at_lib_worker(const at_lib *lib, const char **out, at_error *err);
/* The engine's options of a task, for this call. AT_E_USAGE */
at_engine_options at_lib_options(at_lib_task *t);
/* Record of a log, as the public struct; texts live in a. */
void at_lib_fill_record(at_arena *a, const at_record *r, at_lib_record *out);

#endif
