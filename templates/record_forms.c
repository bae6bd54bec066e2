/* templates/record_forms.c: arguments of records in another form than ours that are the same task.
 */
#include "templates/template_int.h"

#include <string.h>

static const at_json *first_form(at_arena *a, const at_template_row *row, const at_json *args) {
    at_arena *scratch = at_arena_new();
    at_template t = {.arena = scratch, .row = row};
    const at_json *own = NULL;
    if (at_args_declare(&t, NULL) == AT_OK &&
        at_args_read_array(&t, at_json_text(scratch, args), NULL) == AT_OK &&
        at_args_json(&t, &own, NULL) == AT_OK)
        own = strcmp(at_json_text(scratch, own), at_json_text(scratch, args)) ? at_json_copy(a, own)
                                                                              : NULL;
    else own = NULL;
    at_arena_free(scratch);
    return own ? own : args;
}

const at_json *at_template_record_args(at_arena *a, const char *task, const at_json *args) {
    const at_template_row *row;
    if (at_template_find(task, &row, NULL) != AT_OK || !strchr(row->record_args, '|')) return args;
    return first_form(a, row, args);
}
