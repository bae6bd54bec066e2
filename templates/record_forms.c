/* templates/record_forms.c: arguments of records in another form than ours that are the same task:
 * another form of the template's, or other spellings of the same numbers. */
#include "templates/template_int.h"

#include <string.h>

static bool holds_text(const at_json *v, const char *text) {
    if (v->kind == AT_JSON_STRING) return !strcmp(v->string, text);
    bool any = false;
    for (const at_json *x = v->child; x && !any; x = x->next) any = holds_text(x, text);
    return any;
}

/* As the task of args has them; NULL: they are none of the template's. */
static const at_json *own_form(at_arena *a, const at_template_row *row, const at_json *args) {
    const char *text = at_json_text(a, args);
    at_template t = {.arena = a, .row = row};
    const at_json *own;
    if (at_args_declare(&t, NULL) != AT_OK || at_args_read_array(&t, text, NULL) != AT_OK)
        return NULL;
    if (holds_text(args, "SAME")) { /* sizes say what it is */
        at_task *task;
        return at_task_open(a, row, text, "", &task, NULL) == AT_OK ? at_task_args(task) : NULL;
    }
    return at_args_json(&t, &own, NULL) == AT_OK ? own : NULL;
}

/* A log holds the same arguments on every line; those that this thread asked for last, and what
 * they are here, "" where that is the same. Rows live for ever. */
static _Thread_local struct {
    const at_template_row *row;
    char args[512], own[512];
} last;

static void look_up(const at_template_row *row, const char *text, const at_json *args) {
    at_arena *scratch = at_arena_new();
    const at_json *own = own_form(scratch, row, args);
    const char *to = own ? at_json_text(scratch, own) : text;
    last.row = NULL;
    if (strlen(text) < sizeof last.args && strlen(to) < sizeof last.own) {
        last.row = row;
        strcpy(last.args, text);
        strcpy(last.own, strcmp(to, text) ? to : "");
    }
    at_arena_free(scratch);
}

const at_json *at_template_record_args(at_arena *a, const char *task, const at_json *args) {
    const at_template_row *row;
    const at_json *own = args;
    if (at_template_find(task, &row, NULL) != AT_OK) return args;
    at_text text = {0};
    at_json_print(&text, args);
    if (row != last.row || strcmp(at_text_str(&text), last.args))
        look_up(row, at_text_str(&text), args);
    if (last.row && *last.own && at_json_parse(a, last.own, strlen(last.own), &own, NULL) != AT_OK)
        own = args;
    at_text_free(&text);
    return own;
}
