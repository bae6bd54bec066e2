/* tests/templates/support.h: tasks made or refused, and running a program on exact data. */
#ifndef AT_TESTS_TEMPLATES_SUPPORT_H
#define AT_TESTS_TEMPLATES_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "templates/pattern.h"
#include "templates/task.h"

/* A test's arena, made by setup and freed by teardown: *state. */
int arena_setup(void **state);
int arena_teardown(void **state);

const at_template_row *row_named(const char *name);
at_task *task_of(at_arena *a, const at_template_row *row, const char *args);
/* Expects at_task_new to fail so. */
void expect_refused(at_arena *a, const at_template_row *row, const char *args, at_status status,
                    const char *text);
at_config config_at(at_arena *a, const at_task *t, int64_t index);
/* By its entity's JSON, without the brackets around the whole. */
at_config config_of(at_arena *a, const at_task *t, const char *entity);
const char *entity_text(at_arena *a, const at_config *c);

/* Builds and verifies the program, runs it and the expressions on the same integers, and expects
 * the same bits in every output. */
void expect_right(at_arena *a, const at_task *t, const at_config *c);

/* The same of this many entities drawn at random. */
void expect_random_right(const at_task *t, int count);

/* "spaces" of a golden file; and what one of them says of a task's space. */
const at_json *golden_file(at_arena *a, const char *path); /* all of it */
const at_json *golden(at_arena *a, const char *path);
void expect_space(at_arena *a, const at_task *t, const at_json *space);
/* The default configuration's entity, and that its program computes the right thing. */
void expect_default(at_arena *a, const at_task *t, int lanes, const char *entity);

#endif
