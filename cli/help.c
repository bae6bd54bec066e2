/* cli/help.c: help texts, printed from the tables of options and verbs. */
#include "cli/commands.h"

#include <string.h>

#include "cli/json_out.h"
#include "engine/engine.h"
#include "templates/task.h"
#include "sketch/sketch.h"

enum { COLUMN = 24 };

const char at_args_note[] = "An argument is at least 1, or 0 where \"from 0\" stands. padding=1 "
                            "sets all of padding(top, left,\n"
                            "bottom, right), padding=[0,1,0,1] sets each.\n";

/* "  head" padded to a column, then help. */
static void add_entry_at(at_text *out, int column, const char *head, const char *help) {
    int at = 2 + (int)strlen(head);
    at_text_addf(out, "  %s", head);
    if (at > column - 2) at_text_add(out, "\n"), at = 0;
    at_text_addf(out, "%*s", column - at, "");
    at_text_add_words(out, column, help);
}

static void add_entry(at_text *out, const char *head, const char *help) {
    add_entry_at(out, COLUMN, head, help);
}

static void add_usage(at_text *out, at_verb v) {
    const at_verb_row *row = at_verb_at(v);
    at_text_addf(out, "autotune %s%s%s%s", v == AT_VERB_TUNE ? "" : row->name,
                 v == AT_VERB_TUNE || !*row->operands ? "" : " ", row->operands, " [options]\n");
}

/* What people come with, before anything else. */
static const char doors[] =
    "autotune finds the fastest way to compute something on this CPU, and writes it as C.\n\n"
    "  a network              autotune model.onnx --time 120s\n"
    "  a computation          autotune ./product.te\n"
    "  a layer                autotune conv2d --args N=1,H=28,W=28,CI=64,CO=64\n"
    "  a kernel of your own   autotune ./kernel.c\n"
    "  logs of other tuners   autotune verify old.log --log mine.log\n\n";

static const struct {
    const char *title;
    at_verb verbs[8]; /* up to the first that is AT_VERB_COUNT */
} kinds[] = {
    {"To search", {AT_VERB_TUNE, AT_VERB_SPACE, AT_VERB_DERIVE, AT_VERB_LIST, AT_VERB_COUNT}},
    {"One configuration", {AT_VERB_RUN, AT_VERB_SHOW, AT_VERB_APPLY, AT_VERB_COUNT}},
    {"Logs",
     {AT_VERB_LOG, AT_VERB_PICK_BEST, AT_VERB_VERIFY, AT_VERB_REPORT, AT_VERB_PLOT, AT_VERB_CONVERT,
      AT_VERB_REPLAY, AT_VERB_COUNT}},
    {"Machines", {AT_VERB_MACHINE, AT_VERB_WORKERS, AT_VERB_WORK, AT_VERB_AGENT, AT_VERB_COUNT}},
    {"This program", {AT_VERB_HELP, AT_VERB_VERSION, AT_VERB_COUNT}},
};

static void add_commands(at_text *out) {
    enum { NAMES = 14 };
    at_text_add(out, "Commands; autotune help COMMAND lists the options of one:\n");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        at_text_addf(out, " %s:\n", kinds[k].title);
        for (const at_verb *v = kinds[k].verbs; *v < AT_VERB_COUNT; v++)
            add_entry_at(out, NAMES, at_verb_at(*v)->name, at_verb_at(*v)->help);
    }
}

static void add_names(at_text *out) {
    at_text names = {0};
    for (int i = 0; i < at_template_count(); i++)
        at_text_addf(&names, "%s%s", i ? ", " : "", at_template_at(i)->name);
    at_text_add(out, "\nTemplates; autotune list describes them and their arguments:\n  ");
    at_text_add_words(out, 2, at_text_str(&names));
    at_text_free(&names);
    at_text_add(out, "\nOperators, which all their templates are searched for:\n");
    for (int i = 0; i < at_operator_count(); i++)
        add_entry(out, at_operator_name(at_operator_at(i)), at_operator_help(at_operator_at(i)));
}

static void describe_program(at_text *out) {
    at_text_add(out, doors);
    at_text_add(out, "usage: autotune [COMMAND] [TEMPLATE | FILE | LOG] [options]\n\n");
    add_commands(out);
    add_names(out);
    at_text_add(out, "\nExit codes:\n");
    for (int s = 0; s < AT_STATUS_COUNT; s++) {
        char code[8];
        snprintf(code, sizeof code, "%d", at_exit_code((at_status)s));
        add_entry_at(out, 8, code, at_status_text((at_status)s));
    }
}

/* Headings for a verb with many options; what stands in none of them is for experts. */
static const struct {
    const char *title;
    const char *const names[16];
} groups[] = {
    {"Basic",
     {"--args", "--fuse", "--workload", "--only", "--trials", "--time", "--log", "--baseline",
      "--quiet", "--verbose", "--json", "--help"}},
    {"A command", {"--command", "--knob", "--require", "--metric", "--higher"}},
    {"Network", {"--dim", "--set", "--until", "--weights", "--input", "--output", "--max-error"}},
    {"Measuring",
     {"--threads", "--isa", "--compiler", "--pack", "--cache", "--timeout", "--weight", "--array",
      "--sparsity", "--block", "--on", "--sandbox", "--paranoid", "--stats", "--final-dialect"}},
    {"Search",
     {"--tuner", "--seed", "--early-stopping", "--jobs", "--transfer", "--prune", "--sketch",
      "--all-ways", "--per-task"}},
    {"For experts", {NULL}},
};
enum { GROUPS = sizeof groups / sizeof *groups, MANY_OPTIONS = 24 };

static int group_of(const char *name) {
    for (int g = 0; g < GROUPS - 1; g++)
        for (int i = 0; groups[g].names[i]; i++)
            if (!strcmp(groups[g].names[i], name)) return g;
    return GROUPS - 1;
}

static void add_option(at_text *out, const at_option_row *row, at_verb v) {
    char head[64];
    at_text help = at_option_help(row, v);
    snprintf(head, sizeof head, "%s%s%s", row->name, row->argument ? " " : "",
             row->argument ? row->argument : "");
    add_entry(out, head, at_text_str(&help));
    at_text_free(&help);
}

static void add_options(at_text *out, at_verb v) {
    int count = 0;
    for (int i = 0; i < at_option_count(); i++) count += at_option_is_of(at_option_at(i), v);
    for (int g = 0; g < GROUPS; g++) {
        bool begun = false;
        for (int i = 0; i < at_option_count(); i++) {
            const at_option_row *row = at_option_at(i);
            if (!at_option_is_of(row, v)) continue;
            if (count >= MANY_OPTIONS && group_of(row->name) != g) continue;
            if (!begun)
                at_text_addf(out, "\n%s:\n", count < MANY_OPTIONS ? "Options" : groups[g].title);
            begun = true;
            add_option(out, row, v);
        }
        if (count < MANY_OPTIONS) return;
    }
}

static void describe_verb(at_text *out, at_verb v) {
    at_text_add(out, "usage: ");
    add_usage(out, v);
    at_text about = {0};
    at_text_addf(&about, "%s: %s.", at_verb_at(v)->name, at_verb_at(v)->help);
    at_text_add(out, "\n");
    at_text_add_words(out, 0, at_text_str(&about));
    at_text_free(&about);
    add_options(out, v);
}

/* Text as it is, or as the member "help" of an object. */
static at_status print_help(const at_options *o, at_text *help, at_error *err) {
    if (!o->json) return at_print(help, err);
    at_out out = at_out_object();
    at_out_string(&out, "help", at_text_str(help));
    return at_out_print(&out, err);
}

static at_status unknown_topic(const char *word, at_error *err) {
    const char *near = at_verb_nearest(word);
    at_text begin_so = {0};
    if (!near || strncmp(near, word, strlen(word)) != 0) at_template_add_beginning(&begin_so, word);
    bool some = begin_so.len > 0;
    if (some)
        at_fail(err, AT_E_USAGE, "no command or template \"%s\"; templates that begin with it: %s",
                word, at_text_str(&begin_so));
    at_text_free(&begin_so);
    if (some) return AT_E_USAGE;
    if (near)
        return at_fail(err, AT_E_USAGE, "no command \"%s\"; did you mean autotune help %s?", word,
                       near);
    return at_fail(err, AT_E_USAGE, "no command \"%s\"; autotune --help lists them", word);
}

/* Its arguments with their defaults, and the knobs that it has then. */
static at_status template_help(const at_template_row *row, at_text *out, at_error *err) {
    at_arena *a = at_arena_new();
    at_task *task;
    at_status s = at_task_new(a, row, NULL, &task, err);
    if (s == AT_OK) {
        at_space *space = at_task_space(task);
        const char *open = at_operator_open_args(row->name);
        at_text_addf(out, "%s: %s\n\nArguments and their defaults (--args):\n  %s\n%s\n", row->name,
                     row->help ? row->help : "a template of your own", row->args, at_args_note);
        if (open) at_text_addf(out, "tune searches %s where --args does not give them.\n\n", open);
        at_text_addf(out, "Knobs, with these arguments (%lld configurations):\n",
                     (long long)at_space_len(space));
        for (int k = 0; k < at_space_num_knobs(space); k++) {
            at_text_addf(out, "  %-12s ", at_space_knob_name(space, k));
            at_space_print_knob(out, space, k);
            at_text_add(out, "\n");
        }
        at_text_add(out, "\n");
    }
    at_arena_free(a);
    return s;
}

/* Its arguments, and the templates that compute it; each once. */
static at_status operator_help(const at_operator *p, at_text *out, at_error *err) {
    const at_template_row *row;
    const char *last = "", *name;
    AT_TRY(at_template_find(at_operator_way(p, 0), &row, err));
    at_text_addf(out,
                 "%s: %s\n\nArguments and their defaults (--args), those of %s:\n  %s\n\n"
                 "Templates that are searched, as far as they have the arguments:\n",
                 at_operator_name(p), at_operator_help(p), row->name, row->args);
    for (int i = 0; (name = at_operator_way(p, i)); last = name, i++) {
        if (!strcmp(name, last)) continue;
        AT_TRY(at_template_find(name, &row, err));
        add_entry(out, name, row->help);
    }
    at_text_add(out, "\n");
    return AT_OK;
}

/* The operator of that name. NULL: there is none. */
static const at_operator *operator_named(const char *word) {
    for (int i = 0; i < at_operator_count(); i++)
        if (!strcmp(at_operator_name(at_operator_at(i)), word)) return at_operator_at(i);
    return NULL;
}

/* A template or an operator is explained, and then tune, which it stands for. */
static at_status verb_help(const at_options *o, at_text *help, at_error *err) {
    const at_template_row *row;
    const char *word = o->operands[0];
    at_verb v = at_verb_find(word);
    if (v == AT_VERB_COUNT) {
        const at_operator *p = operator_named(word);
        bool is_template = at_template_find(word, &row, NULL) == AT_OK;
        if (!is_template && !p) return unknown_topic(word, err);
        if (is_template) AT_TRY(template_help(row, help, err));
        if (p) AT_TRY(operator_help(p, help, err));
        v = AT_VERB_TUNE;
    }
    describe_verb(help, v);
    return AT_OK;
}

/* --as man takes the name of a page. */
static at_status manual(const at_options *o, at_text *help, at_error *err) {
    static const struct {
        const char *name;
        at_status (*print)(at_text *out, at_error *err);
    } pages[] = {{"autotune", at_manual_program},
                 {"templates", at_manual_templates},
                 {"records", at_manual_records}};
    const char *name = o->num_operands ? o->operands[0] : "autotune";
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (!strcmp(name, pages[i].name)) return pages[i].print(help, err);
    return at_fail(err, AT_E_USAGE,
                   "--as man: no page \"%s\"; there are autotune, templates, records", name);
}

static at_status write_help(const at_options *o, at_text *help, at_error *err) {
    const at_template_row *row;
    if (o->verb == AT_VERB_TUNE && o->num_operands &&
        at_template_find(o->operands[0], &row, NULL) == AT_OK)
        AT_TRY(template_help(row, help, err));
    if (o->verb != AT_VERB_HELP) describe_verb(help, o->verb);
    else if (o->help_as == AT_HELP_MAN) return manual(o, help, err);
    else if (o->help_as != AT_HELP_TEXT) at_complete(help, o->help_as);
    else if (o->num_operands) return verb_help(o, help, err);
    else describe_program(help);
    return AT_OK;
}

at_status at_cmd_help(const at_options *o, at_error *err) {
    at_text help = {0};
    at_status s = write_help(o, &help, err);
    if (s == AT_OK) s = print_help(o, &help, err);
    at_text_free(&help);
    return s;
}

at_status at_cmd_version(const at_options *o, at_error *err) {
    at_text text = {0};
    if (!o->json) {
        at_text_add(&text, "autotune " AT_VERSION "\n");
        return at_print(&text, err);
    }
    at_out out = at_out_object();
    at_out_string(&out, "version", AT_VERSION);
    return at_out_print(&out, err);
}
