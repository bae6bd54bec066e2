/* A task of a template by its name, or of a computation's file. */
#ifndef AT_TESTS_ENGINE_ANY_TASK_H
#define AT_TESTS_ENGINE_ANY_TASK_H

#include "engine/engine.h"
#include "sketch/sketch.h"
#include "tests/whole_file.h"

#include <string.h>

static inline at_task *any_task(at_arena *a, const char *name, const char *args) {
    const at_template_row *row;
    at_task *t;
    at_error err;
    char *text;
    size_t length;
    bool derived = strstr(name, ".te");
    if ((derived ? read_whole(a, name, &text, &length, &err) != AT_OK ||
                       at_te_parse(a, name, text, length, &row, &err) != AT_OK
                 : at_template_find(name, &row, &err) != AT_OK) ||
        at_task_new(a, row, args, &t, &err) != AT_OK)
        fail_msg("%s", err.text);
    return t;
}

#endif
