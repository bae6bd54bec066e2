/* tests/runtime/rig.h: a store, a worker, and a kernel that adds two vectors, for every test here.
 */
#ifndef RIG_H
#define RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/types.h>

#include "runtime/runtime.h"

#define RIG_N 1000 /* elements of each tensor; 4,000 bytes is no multiple of a line */

typedef struct rig {
    at_store *store;
    at_worker *worker;
    float *a, *b, *out, *expected; /* out = a + b */
    at_buf bufs[4];                /* a, b, out; one to spare */
    int64_t expected_offset[1];
    at_job job; /* correct but for its source */
    at_outcome outcome;
} rig;

/* The head of every kernel: declares the names and types that the body uses. */
#define KERNEL(body)                                                                               \
    "typedef struct { void (*parallel_for)(void (*)(long, int, void *), long, void *);"            \
    " int threads; } at_par;\n"                                                                    \
    "int k_entry(void *const buf[], void *workspace, at_par *par) {\n"                             \
    "  const float *a = buf[0], *b = buf[1]; float *out = buf[2]; long i, n = 1000; (void)i;\n"    \
    "  (void)a, (void)b, (void)out, (void)n, (void)workspace, (void)par;\n" body                   \
    "\n  return 0;\n}\n"
#define ADD "for (i = 0; i < n; i++) out[i] = a[i] + b[i];"

int rig_setup(void **state);            /* of a test group */
int rig_setup_unconfined(void **state); /* its kernels may call the system */
int rig_teardown(void **state);
int rig_reset(void **state); /* of a test: the job as it should be */

/* Runs the job with this source and returns its error number. */
int rig_run(rig *r, const char *source);
/* Fails the test unless the outcome is as given; text NULL: not looked at. */
void rig_expect(rig *r, const char *source, at_job_end end, const char *text);

/* The parent's number, 0 if there is no such process; a dead one that nobody reaps does not count.
 */
pid_t rig_parent_of(pid_t pid);
pid_t rig_child_of(pid_t parent); /* one that lives, or 0 */

#endif
