/* cli/template_file.c: see template_file.h. */
#include "cli/template_file.h"

#include <string.h>

#include "cli/outputs.h"
#include "engine/engine.h"

/* A template is named by its file. */
static at_status file_name(at_arena *a, const char *path, const char **name, at_error *err) {
    const char *base = at_base_name(path);
    if (!at_ends_in(base, ".c"))
        return at_fail(err, AT_E_USAGE, "--output %s: a template's file ends in .c", path);
    *name = at_strndup(a, base, strlen(base) - 2);
    if (at_is_template_name(*name)) return AT_OK;
    return at_fail(err, AT_E_USAGE, "--output %s: a template has the name of its file; %s", path,
                   AT_TEMPLATE_NAME_RULE);
}

at_status at_write_template(at_arena *a, const at_options *o, const at_schedulable *s,
                            const char *help, at_error *err) {
    at_text text = {0};
    at_schedulable named = *s;
    at_output_rules rules = at_rules_of_output(o);
    AT_TRY(file_name(a, o->output, &named.row.name, err));
    named.row.help = help;
    at_schedulable_print(&text, &named);
    at_status status = at_write_output(o->output, &rules, at_text_str(&text), text.len, err);
    at_text_free(&text);
    return status;
}
