/* cli/command_line.c: reading argv by the table of options. */
#include "cli/options_int.h"
#include "cli/other_file.h"

#include <string.h>

#include "cli/interrupt.h"
#include "engine/engine.h"
#include "network/network.h"
#include "templates/task.h"

static at_status unknown_option(const char *word, size_t len, at_error *err) {
    const char *names[AT_MAX_OPTIONS];
    char name[64];
    for (int i = 0; i < at_option_count(); i++) names[i] = at_option_at(i)->name + 2;
    snprintf(name, sizeof name, "%.*s", (int)len, word);
    const char *near = at_nearest(name + strspn(name, "-"), names, at_option_count());
    if (near) return at_fail(err, AT_E_USAGE, "unknown option %s; did you mean --%s?", name, near);
    return at_fail(err, AT_E_USAGE, "unknown option %s; autotune --help lists the options", name);
}

/* The verb's option that takes this word; NULL: none does. */
static const at_option_row *option_with_word(at_verb verb, const char *word) {
    const char *w;
    for (int i = 0; i < at_option_count(); i++) {
        const at_option_row *row = at_option_at(i);
        for (int n = 0; at_option_is_of(row, verb) && (w = at_option_word(row, n)); n++)
            if (!strcmp(w, word)) return row;
    }
    return NULL;
}

static at_status no_option_of(const at_option_row *row, at_verb verb, at_error *err) {
    const char *name = at_verb_at(verb)->name;
    const at_option_row *with = option_with_word(verb, row->name + 2);
    if (with)
        return at_fail(err, AT_E_USAGE, "%s is no option of %s; did you mean %s %s?", row->name,
                       name, with->name, row->name + 2);
    return at_fail(err, AT_E_USAGE, "%s is no option of %s; autotune help %s lists them", row->name,
                   name, name);
}

static at_status missing_value(const at_options *o, const at_option_row *row, at_error *err) {
    at_verb verb = o->num_operands ? at_verb_find(o->operands[0]) : AT_VERB_COUNT;
    if (verb < AT_VERB_COUNT && !(row->verbs >> verb & 1)) return no_option_of(row, verb, err);
    at_text words = {0};
    at_option_words(row, ", ", &words);
    at_status s = at_fail(err, AT_E_USAGE, "%s needs a value: %s %s%s%s", row->name, row->name,
                          row->argument, words.len ? "; there are " : "", at_text_str(&words));
    at_text_free(&words);
    return s;
}

/* Whether the first operand names one. */
static bool is_operator(const at_options *o) {
    at_request q = o->request;
    q.template_name = o->operands[0];
    return at_operator_find(&q) != NULL;
}

/* The first word, as it was written, may be a verb; AT_VERB_COUNT: it is none. */
static void take_verb(at_options *o) {
    o->verb = o->num_operands ? at_verb_find(o->operands[0]) : AT_VERB_COUNT;
    if (o->verb == AT_VERB_COUNT) return;
    o->num_operands--;
    memmove(o->operands, o->operands + 1, sizeof *o->operands * (size_t)o->num_operands);
}

/* Without a verb the first word is a template, which means tune. */
static at_status need_verb(at_options *o, at_error *err) {
    if (o->verb < AT_VERB_COUNT) return AT_OK;
    if (!o->num_operands && (o->command || o->workload)) {
        o->verb = AT_VERB_TUNE; /* what stands in the place of a template */
        return AT_OK;
    }
    if (!o->num_operands) {
        if (!o->help)
            return at_fail(err, AT_E_USAGE, "no command; autotune --help lists what there is");
        o->verb = AT_VERB_HELP;
        return AT_OK;
    }
    const at_template_row *row;
    const char *word = o->operands[0];
    o->verb = AT_VERB_TUNE;
    if (at_net_is_model(word) || is_operator(o)) return AT_OK;
    if (at_template_find(word, &row, NULL) == AT_OK) return AT_OK;
    AT_TRY(at_other_file(word, err));
    if (strchr(word, '+') || strchr(word, '/')) return at_template_find(word, &row, err);

    const char *near = at_verb_nearest(word);
    at_text begin_so = {0};
    at_template_add_beginning(&begin_so, word);
    if (near && !strncmp(near, word, strlen(word))) at_text_clear(&begin_so);
    if (begin_so.len)
        at_fail(err, AT_E_USAGE,
                "unknown command or template \"%s\"; templates that begin with it: %s", word,
                at_text_str(&begin_so));
    bool told = begin_so.len > 0;
    at_text_free(&begin_so);
    if (told) return AT_E_USAGE;
    if (near)
        return at_fail(err, AT_E_USAGE, "unknown command or template \"%s\"; did you mean %s?",
                       word, near);
    return at_fail(err, AT_E_USAGE,
                   "unknown command or template \"%s\"; autotune --help lists the commands, "
                   "autotune list the templates",
                   word);
}

/* A word that became the name of what its file holds, as it stood. */
static const char *as_given(const char *word) {
    const at_template_row *row;
    const char *file = at_template_find(word, &row, NULL) == AT_OK ? at_template_file(row) : NULL;
    return file ? file : word;
}

/* "--args N=1 H=56", or "conv2d N=1,H=56": a word that was meant to be of --args, or of --dim
 * behind a network. */
static bool was_meant_as(const at_options *o, const char *option, const char *word) {
    const char *equals = strchr(word, '=');
    const bool has_names = o->request.args ? strchr(o->request.args, '=') != NULL
                                           : at_option_is_of(at_option_find(option), o->verb);
    return has_names && equals && equals > word && word[strcspn(word, "/ .")] == '\0';
}

/* A word more than the verb takes. */
static at_status refuse_word(const at_options *o, const at_verb_row *verb, at_error *err) {
    const char *word = o->operands[verb->max_operands];
    const char *option = at_net_is_model(o->operands[0]) ? "--dim" : "--args";
    if (!was_meant_as(o, option, word))
        return at_fail(err, AT_E_USAGE, "unexpected word \"%s\": autotune %s%s%s [options]",
                       as_given(word), verb->name, *verb->operands ? " " : "", verb->operands);
    if (!o->request.args)
        return at_fail(err, AT_E_USAGE, "unexpected word \"%s\": write %s %s", word, option, word);
    return at_fail(err, AT_E_USAGE,
                   "unexpected word \"%s\": arguments are separated by commas: --args %s,%s", word,
                   o->request.args, word);
}

/* The space, and the derivation, are of one template. */
static at_status refuse_operator(const at_options *o, at_error *err) {
    const at_template_row *row;
    const char *last = "", *name;
    at_request q = {.template_name = o->operands[0]};
    if (o->verb != AT_VERB_SPACE && o->verb != AT_VERB_DERIVE) return AT_OK;
    const at_operator *p = at_operator_find(&q);
    if (!p || at_template_find(q.template_name, &row, NULL) == AT_OK) return AT_OK;
    at_text names = {0};
    for (int i = 0; (name = at_operator_way(p, i)); last = name, i++)
        if (strcmp(name, last)) at_text_addf(&names, "%s%s", names.len ? ", " : "", name);
    const at_status s =
        at_fail(err, AT_E_USAGE, "%s takes one template, and %s is an operator; its templates: %s",
                at_verb_at(o->verb)->name, q.template_name, at_text_str(&names));
    at_text_free(&names);
    return s;
}

static at_status check_use(const at_options *o, at_error *err) {
    const at_verb_row *verb = at_verb_at(o->verb);
    for (int i = 0; i < at_option_count(); i++)
        if (o->given[i] && !(at_option_at(i)->verbs >> o->verb & 1))
            return no_option_of(at_option_at(i), o->verb, err);
    if (o->quiet && (o->verbose || o->debug))
        return at_fail(err, AT_E_USAGE, "--quiet and --%s exclude each other",
                       o->verbose ? "verbose" : "debug");
    if (o->help) return AT_OK;
    if (o->log && !strcmp(o->log, "-"))
        return at_fail(err, AT_E_USAGE,
                       "--log -: a log is a file, which is locked and read again; name one, or "
                       "/dev/null");
    /* A file of layers names their templates. */
    bool named = o->verb == AT_VERB_TUNE && (o->workload || o->command);
    /* Among logs. */
    if (o->num_operands < verb->min_operands && o->num_template_files)
        return at_fail(err, AT_E_USAGE,
                       "%s needs %s beside %s, which only tells of tasks: autotune "
                       "%s %s [options]",
                       verb->name, o->verb == AT_VERB_CONVERT ? "a file" : "a log",
                       o->template_files[0], verb->name, verb->operands);
    if (o->num_operands < verb->min_operands && !named)
        return at_fail(err, AT_E_USAGE, "%s needs %s: autotune %s %s [options]", verb->name,
                       !strncmp(verb->operands, "TEMPLATE", 8) ? "a template"
                       : o->verb == AT_VERB_CONVERT            ? "a file"
                       : o->verb == AT_VERB_WORK               ? "a directory"
                                                               : "a log",
                       verb->name, verb->operands);
    const at_template_row *row;
    if (o->num_operands && !strncmp(verb->operands, "TEMPLATE", 8) &&
        at_template_find(o->operands[0], &row, NULL) != AT_OK)
        AT_TRY(at_other_file(o->operands[0], err));
    if (o->num_operands) AT_TRY(refuse_operator(o, err));
    if (o->num_operands > verb->max_operands) return refuse_word(o, verb, err);
    return AT_OK;
}

/* Logs may bring along the texts of the computations that their records are of. A search by the
 * name of a built-in template is of that template. */
static void load_texts(const at_options *o, bool among_logs) {
    const char *logs[AT_MAX_OPERANDS + 2];
    int n = 0;
    for (int i = 0; i < o->num_operands && among_logs; i++) logs[n++] = o->operands[i];
    if (o->log) logs[n++] = o->log;
    if (o->verb == AT_VERB_PICK_BEST && o->output)
        logs[n++] = o->output; /* its records compete, too */
    at_log_texts_load(logs, n, o->verb != AT_VERB_TUNE && o->verb != AT_VERB_COUNT);
}

/* A template's file stands for its name; among logs, it only makes their tasks known. */
static at_status load_templates(at_options *o, at_error *err) {
    const char *takes = o->verb < AT_VERB_COUNT ? at_verb_at(o->verb)->operands : "";
    const bool among_logs = !strncmp(takes, "LOG", 3) || !strncmp(takes, "FILE", 4);
    const bool is_path = o->verb == AT_VERB_WORK; /* a directory, whatever its name */
    int n = 0;
    for (int i = 0; i < o->num_operands; i++) {
        const at_template_row *row;
        const char *word = o->operands[i];
        if (!is_path && at_is_template_file(word) && !(among_logs && !strcmp(word, "-"))) {
            AT_TRY(at_user_template_load(word, &row, err));
            o->template_file = o->template_files[o->num_template_files++] = word;
            word = row->name;
            if (among_logs) continue;
        }
        o->operands[n++] = word;
    }
    o->num_operands = n;
    load_texts(o, among_logs);
    return AT_OK;
}

/* The template with stages is a template of its own name. */
static at_status fuse_template(at_options *o, at_error *err) {
    const at_template_row *row;
    if (!o->request.fuse || o->help) return AT_OK;
    if (!o->num_operands)
        return at_fail(err, AT_E_USAGE,
                       "--fuse %s needs a template; among layers and records its name says so: "
                       "TEMPLATE+bias+relu",
                       o->request.fuse);
    if (is_operator(o)) return AT_OK; /* of each of its ways */
    AT_TRY(at_template_find(o->operands[0], &row, err));
    AT_TRY(at_template_fuse(row, o->request.fuse, ",", &row, err));
    o->operands[0] = row->name;
    return AT_OK;
}

/* --output "-" is standard output: verbs that write there without the option need none, and report
 * takes the word itself. */
static at_status take_dash(at_options *o, at_error *err) {
    if (!o->output || strcmp(o->output, "-") != 0 || o->verb == AT_VERB_REPORT) return AT_OK;
    if (o->verb != AT_VERB_APPLY && o->verb != AT_VERB_PICK_BEST && o->verb != AT_VERB_CONVERT &&
        o->verb != AT_VERB_PLOT)
        return at_fail(err, AT_E_USAGE, "--output -: the path of a file is expected");
    o->output = NULL;
    return AT_OK;
}

static void note(void *unused, const char *text) {
    (void)unused;
    at_status_note(text);
}

/* What does not stand in the table. */
static void tell_engine(at_options *o) {
    static const struct {
        const char *option;
        unsigned set;
    } sets[] = {
        {"--compiler", AT_SET_COMPILER}, {"--pack", AT_SET_PACKING}, {"--threads", AT_SET_THREADS}};
    at_engine_options *e = &o->engine;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (at_given(o, sets[i].option)) e->set |= sets[i].set;
    e->for_dialect = o->verb == AT_VERB_APPLY;
    e->final_delivers = e->final_dialect != AT_DIALECT_TCC;
    e->transfer = o->transfer.items;
    e->num_transfer = o->transfer.num;
    e->warn = at_warn;
    e->note = note;
    e->stop = &at_interrupted;
    o->request.template_name = o->num_operands ? o->operands[0] : NULL;
    if (at_option_is_of(at_option_find("--line"), o->verb)) o->request.log = o->log;
}

static at_status fail_twice(const at_option_row *row, const char *first, const char *second,
                            at_error *err) {
    if (strstr(row->argument, ",.."))
        return at_fail(err, AT_E_USAGE, "%s is given twice; write %s %s,%s", row->name, row->name,
                       first, second);
    return at_fail(err, AT_E_USAGE, "%s is given twice: %s and %s", row->name, first, second);
}

at_status at_options_parse(int argc, char **argv, at_options *out, at_error *err) {
    at_options o = {0};
    for (int i = 0; i < at_option_count(); i++)
        if (at_option_at(i)->initial && !at_option_of_tuner(at_option_at(i)))
            AT_TRY(at_option_read(at_option_at(i), at_option_at(i)->initial, &o, err));

    o.engine.tuner = at_tuner_default();

    bool only_operands = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (only_operands || word[0] != '-' || !word[1]) {
            if (o.num_operands == AT_MAX_OPERANDS)
                return at_fail(err, AT_E_USAGE, "more than %d words", AT_MAX_OPERANDS);
            o.operands[o.num_operands++] = word;
            continue;
        }
        if (!strcmp(word, "--")) {
            only_operands = true;
            continue;
        }
        if (!strcmp(word, "--version") && !o.num_operands)
            word = "version", o.operands[o.num_operands++] = word;
        else {
            const char *equals = strchr(word, '=');
            size_t len = equals ? (size_t)(equals - word) : strlen(word);
            int r = at_option_index(word, len);
            if (r < 0) return unknown_option(word, len, err);
            const char *value = equals ? equals + 1 : NULL;
            if (value && !at_option_at(r)->argument)
                return at_fail(err, AT_E_USAGE, "%s takes no value", at_option_at(r)->name);
            if (!value && at_option_at(r)->argument) {
                if (i + 1 == argc) return missing_value(&o, at_option_at(r), err);
                value = argv[++i];
            }
            /* Of numbers the last counts, as is usual; of two tasks or files neither may be lost.
             */
            if (o.given[r] && at_option_at(r)->kind == TEXT)
                return fail_twice(at_option_at(r), o.given_text[r], value, err);
            AT_TRY(at_option_read(at_option_at(r), value, &o, err));
            o.given[r] = true;
            o.given_text[r] = value;
        }
    }
    at_template_limit(o.engine.timeout_s);
    at_halt_when(&(at_halt){
        &at_interrupted, o.engine.time_s > 0 ? at_now_ns() + (int64_t)(o.engine.time_s * 1e9) : 0});
    take_verb(&o);
    AT_TRY(load_templates(&o, err));
    AT_TRY(need_verb(&o, err));
    AT_TRY(check_use(&o, err));
    AT_TRY(take_dash(&o, err));
    AT_TRY(fuse_template(&o, err));
    *out = o;
    tell_engine(out);
    return AT_OK;
}

const at_option_row *at_option_find(const char *name) {
    int r = at_option_index(name, strlen(name));
    if (r < 0) AT_BUG("no option %s", name);
    return at_option_at(r);
}

bool at_given(const at_options *o, const char *option) {
    return o->given[at_option_find(option) - at_option_at(0)];
}

const char *at_option_text(const at_options *o, int i) {
    if (at_option_at(i)->kind == TEXT)
        return *(const char *const *)((const char *)o + at_option_at(i)->offset);
    return o->given_text[i];
}
