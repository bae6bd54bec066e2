/* cli/cmd_list.c: templates and tuners, from their registries. */
#include "cli/commands.h"
#include "cli/json_out.h"
#include "templates/task.h"
#include "tuners/tuners.h"

static at_status print_json(at_error *err) {
    at_out out = at_out_object();
    at_out_begin(&out, "templates", '[');
    for (int i = 0; i < at_template_count(); i++) {
        const at_template_row *row = at_template_at(i);
        at_out_begin(&out, NULL, '{');
        at_out_string(&out, "name", row->name);
        at_out_string(&out, "record_name", row->record_name ? row->record_name : row->name);
        at_out_string(&out, "help", row->help);
        at_out_string(&out, "args", row->args);
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    at_out_begin(&out, "operators", '[');
    for (int i = 0; i < at_operator_count(); i++) {
        at_out_begin(&out, NULL, '{');
        at_out_string(&out, "name", at_operator_name(at_operator_at(i)));
        at_out_string(&out, "help", at_operator_help(at_operator_at(i)));
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    at_out_begin(&out, "tuners", '[');
    for (int i = 0; i < at_tuner_count(); i++) {
        at_out_begin(&out, NULL, '{');
        at_out_string(&out, "name", at_tuner_row(i)->name);
        at_out_string(&out, "help", at_tuner_row(i)->help);
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    return at_out_print(&out, err);
}

at_status at_cmd_list(const at_options *o, at_error *err) {
    enum { INDENT = 6, COLUMN = 16 };
    if (o->json) return print_json(err);
    at_text out = {0};
    at_text_add(&out, "templates, with their arguments and defaults:\n");
    for (int i = 0; i < at_template_count(); i++) {
        const at_template_row *row = at_template_at(i);
        at_text_addf(&out, "  %s\n%*s", row->name, INDENT, "");
        at_text_add_words(&out, INDENT, row->args);
        at_text_addf(&out, "%*s", INDENT, "");
        at_text_add_words(&out, INDENT, row->help);
    }
    at_text_addf(&out, "\n%s", at_args_note);
    at_text_add(&out, "\noperators, which tune searches all templates of:\n");
    for (int i = 0; i < at_operator_count(); i++) {
        at_text_addf(&out, "  %-13s ", at_operator_name(at_operator_at(i)));
        at_text_add_words(&out, COLUMN, at_operator_help(at_operator_at(i)));
    }
    at_text_add(&out, "\ntuners:\n");
    for (int i = 0; i < at_tuner_count(); i++) {
        at_text_addf(&out, "  %-13s ", at_tuner_row(i)->name);
        at_text_add_words(&out, COLUMN, at_tuner_row(i)->help);
    }
    return at_print(&out, err);
}
