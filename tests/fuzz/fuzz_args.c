/* --args of every template, by name and as a record's array: refused, or both spellings of the task
 * mean the same task again. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "templates/task.h"
#include "sketch/sketch.h"

enum { MOST_TEMPLATES = 64 };

static void check(const at_template_row *row, const char *args) {
    at_arena *a = at_arena_new();
    at_task *t, *named, *listed;
    at_error err;
    if (at_task_new(a, row, args, &t, &err) == AT_OK) {
        at_text json = {0}, again = {0};
        at_json_print(&json, at_task_args(t));
        if (at_task_new(a, row, at_task_args_text(t), &named, &err) != AT_OK ||
            at_task_new(a, row, json.data, &listed, &err) != AT_OK)
            AT_BUG("%s", err.text);
        at_json_print(&again, at_task_args(named));
        fuzz_expect_same(&json, &again);
        at_text_clear(&again);
        at_json_print(&again, at_task_args(listed));
        fuzz_expect_same(&json, &again);
        at_text_free(&json);
        at_text_free(&again);
    } else AT_ASSERT(err.status == AT_E_USAGE || err.status == AT_E_INPUT);
    at_arena_free(a);
}

static void run(const uint8_t *data, size_t size) {
    char *args = fuzz_text(data, size);
    for (int i = 0; i < at_template_count(); i++) check(at_template_at(i), args);
    free(args);
}

/* The arguments of each template as it spells them, and some by hand. */
static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "N=1,H=14",
        "[1, 7, 5, 3, 6, \"float32\"]",
        " H = 7 , strides=[2, 1],padding=SAME,dilation=2",
        "[[\"TENSOR\", [1, 2, 9, 9, 4], \"float32\"], [\"TENSOR\", [2, 2, 3, 3, 4, 8], "
        "\"float32\"], [1, 1], [1, 1, 1, 1], [1, 1], \"NCHW4c\", \"NCHW8c\", \"float32\"]",
        NULL,
    };
    static at_text own[MOST_TEMPLATES];
    int n = at_template_count();
    AT_ASSERT(n <= MOST_TEMPLATES);
    if (i >= n) return fuzz_seed_of(texts, i - n, out);
    if (!own[i].len) {
        at_arena *a = at_arena_new();
        at_task *t;
        at_error err;
        if (at_task_new(a, at_template_at(i), "", &t, &err) != AT_OK) AT_BUG("%s", err.text);
        at_json_print(&own[i], at_task_args(t));
        at_arena_free(a);
    }
    at_text_addn(out, own[i].data, own[i].len);
    return true;
}

const fuzz_target fuzz_args = {"args", run, seed, 1};
