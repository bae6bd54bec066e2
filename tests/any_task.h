/* tests/any_task.h: a task of a template by its name, of a computation's file, or of its text. */
#ifndef AT_TESTS_ANY_TASK_H
#define AT_TESTS_ANY_TASK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sketch/sketch.h"
#include "tests/whole_file.h"

#include <string.h>

static inline at_task *task_of_text(at_arena *a, const char *what, const char *text,
                                    const char *args) {
    const at_template_row *row;
    at_task *t;
    at_error err;
    if (at_te_parse(a, what, text, strlen(text), &row, &err) != AT_OK ||
        at_task_new(a, row, args, &t, &err) != AT_OK)
        fail_msg("%s %s: %s\n%s", what, args ? args : "", err.text, text);
    return t;
}

/* name: a file of a computation ends with .te; a text of one has lines. */
static inline at_task *any_task(at_arena *a, const char *name, const char *args) {
    const at_template_row *row;
    at_task *t;
    at_error err;
    char *text;
    size_t length;
    if (strchr(name, '\n')) return task_of_text(a, "own.te", name, args);
    if (strstr(name, ".te")) {
        if (read_whole(a, name, &text, &length, &err) != AT_OK) fail_msg("%s", err.text);
        return task_of_text(a, name, text, args);
    }
    if (at_template_find(name, &row, &err) != AT_OK || at_task_new(a, row, args, &t, &err) != AT_OK)
        fail_msg("%s", err.text);
    return t;
}

/* Its tensors are of integers, or of floats of 16 bits; what tests of floats look at has cases of
 * its own (cli/test_int8, cli/test_types). */
static inline bool any_has_other_types(const at_template_row *row) {
    at_arena *a = at_arena_new();
    const at_compute *c = at_task_compute(any_task(a, row->name, ""));
    const bool has = c->in_steps || c->has_halves;
    at_arena_free(a);
    return has;
}

#endif
