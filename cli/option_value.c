/* cli/option_value.c: the values of options, read by kind. */
#include "cli/options_int.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static at_status parse_unsigned(const char *text, const char *what, uint64_t *out, at_error *err) {
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno)
        return at_fail(err, AT_E_USAGE, "%s %s: not an integer from 0 to 2^64-1", what, text);
    *out = v;
    return AT_OK;
}

/* A positive number with one of the units; unit[0] is what a bare number means. */
static at_status parse_measure(const char *text, const char *what, const char *example,
                               bool zero_too, const char *const *units, const double *factors,
                               double *out, at_error *err) {
    char *end;
    double v = strtod(text, &end);
    bool number = end != text && (isdigit((unsigned char)*text) || *text == '.');
    for (int i = 0; number && units[i]; i++) {
        if (strcmp(end, units[i]) && !(i == 0 && !*end)) continue;
        v *= factors[i];
        if (!(v < 1e9) || v < 0 || (v == 0 && !zero_too)) break;
        *out = v;
        return AT_OK;
    }
    return at_fail(err, AT_E_USAGE, "%s %s: not a duration%s; write for example %s", what, text,
                   zero_too ? "" : " above 0", example);
}

static at_status parse_duration(const char *text, const char *what, bool zero_too, double *out,
                                at_error *err) {
    static const char *const units[] = {"s", "ms", "m", "min", "h", NULL};
    static const double factors[] = {1, 1e-3, 60, 60, 3600};
    return parse_measure(text, what, "30s, 5m or 1h", zero_too, units, factors, out, err);
}

static at_status parse_milliseconds(const char *text, const char *what, double *out,
                                    at_error *err) {
    static const char *const units[] = {"ms", "s", NULL};
    static const double factors[] = {1, 1e3};
    return parse_measure(text, what, "40", true, units, factors, out, err);
}

/* "5" or "5%", as a share. */
static at_status parse_percent(const char *text, const char *what, int most, double *out,
                               at_error *err) {
    char *end;
    double v = strtod(text, &end);
    bool number = end != text && (isdigit((unsigned char)*text) || *text == '.');
    if (!number || (*end && strcmp(end, "%") != 0) || !(v >= 0 && v <= most))
        return at_fail(err, AT_E_USAGE, "%s %s: not a number of percent from 0 to %d", what, text,
                       most);
    *out = v / 100;
    return AT_OK;
}

static at_status parse_factor(const char *text, const char *what, double *out, at_error *err) {
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !(x >= 1 && x < 1e6))
        return at_fail(err, AT_E_USAGE, "%s %s: not a factor of at least 1; write for example 2.0",
                       what, text);
    *out = x;
    return AT_OK;
}

static at_status parse_share(const char *text, const char *what, double *out, at_error *err) {
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !(x > 0 && x <= 1))
        return at_fail(err, AT_E_USAGE,
                       "%s %s: not a number above 0 and up to 1; write for example 1e-5", what,
                       text);
    *out = x;
    return AT_OK;
}

/* To whoever gave a list: --isa takes one, and another option, --isas of apply, several. */
static void add_plural(at_text *out, const char *name) {
    at_text plural = {0};
    at_text_addf(&plural, "%ss", name);
    const int i = at_option_index(at_text_str(&plural), plural.len);
    at_text_add(out, "; one of them is accepted");
    for (int v = 0; i >= 0 && v < AT_VERB_COUNT; v++)
        if (at_option_at(i)->verbs >> v & 1)
            at_text_addf(out, ", several by %s of %s", at_text_str(&plural), at_verb_at(v)->name);
    at_text_free(&plural);
}

/* Which of the words that the option takes. */
static at_status parse_word(const at_option_row *row, const char *text, int *out, at_error *err) {
    const char *words[32], *word;
    int n = 0;
    for (; n < 32 && (word = at_option_word(row, n)); n++) {
        words[n] = word;
        if (strcmp(text, word) != 0) continue;
        *out = n;
        return AT_OK;
    }
    at_text list = {0};
    at_text_add_names(&list, text, words, n);
    if (strchr(text, ',') && !strchr(at_text_str(&list), '?')) add_plural(&list, row->name);
    at_status s =
        at_fail(err, AT_E_USAGE, "%s %s: there are %s", row->name, text, at_text_str(&list));
    at_text_free(&list);
    return s;
}

/* FIRST-LAST, both included, into a begin and an end. */
static at_status parse_range(const at_option_row *row, const char *text, int64_t *begin,
                             int64_t *end, at_error *err) {
    long long first, last;
    char rest;
    if (!isdigit((unsigned char)*text) ||
        sscanf(text, "%18lld-%18lld%c", &first, &last, &rest) != 2 || last < first)
        return at_fail(err, AT_E_USAGE, "%s %s: write for example 0-999, both included", row->name,
                       text);
    *begin = first;
    *end = last + 1;
    return AT_OK;
}

static at_status take_one_more(const char *option, const char *text, const char **items, int *num,
                               int most, at_error *err) {
    if (*num == most) return at_fail(err, AT_E_USAGE, "%s %s: more than %d", option, text, most);
    items[(*num)++] = text;
    return AT_OK;
}

/* NAME=FILE. */
static at_status take_named(const char *option, const char *text, const char **items, int *num,
                            int most, at_error *err) {
    char from[32];
    snprintf(from, sizeof from, "%s ", option);
    AT_TRY(at_check_named_file(from, text, err));
    return take_one_more(option, text, items, num, most, err);
}

static at_status take_named_file(const char *option, const char *text, at_named_files *to,
                                 at_error *err) {
    return take_named(option, text, to->items, &to->num, AT_MAX_NAMED, err);
}

/* run takes several of NAME=FILE; elsewhere the last one counts. */
static at_status take_output(const char *text, at_options *o, at_error *err) {
    o->output = text;
    return strchr(text, '=') ? take_named_file("--output", text, &o->net_outputs, err) : AT_OK;
}

static at_status take_tuner(const char *text, at_options *o, at_error *err) {
    const at_tuner_class *row;
    if (at_tuner_parse(text, &o->engine.tuner_options, &row, err) != AT_OK)
        return at_fail_at(err, "--tuner %s: ", text);
    o->engine.tuner = row->name;
    return AT_OK;
}

/* What is expected is told as the option's help begins. */
static at_status refuse_empty(const at_option_row *row, const char *text, at_error *err) {
    return at_fail(err, AT_E_USAGE, "%s \"%s\": %s is expected (%.*s)", row->name, text,
                   row->argument, (int)strcspn(row->help, ";"), row->help);
}

at_status at_option_read(const at_option_row *row, const char *text, at_options *o, at_error *err) {
    const char *what = row->name;
    void *to = (char *)o + row->offset;
    int word = 0;
    at_compiler known;
    if (at_option_takes_file(row) && !*text)
        return at_fail(err, AT_E_USAGE, "%s \"\": the path of a file is expected", what);
    if (row->kind == TEXT && row->min != READER_REFUSES_EMPTY && !text[strspn(text, " \t\n")])
        return refuse_empty(row, text, err);
    if (text && !*text && row->kind != TEXT && row->kind != FORMAT && row->kind != ISAS)
        text = "\"\""; /* which none of them takes either, and messages show */
    if (row->kind == COMPILER && !at_compiler_from_name(text, &known) &&
        (strchr(text, '/') || at_program_is_there(text))) {
        o->engine.program = text; /* of a kernel of the user's; the engine refuses others */
        return AT_OK;
    }
    if (row->kind != TEXT && row->kind != TUNER && row->kind != OF_TUNERS && at_option_word(row, 0))
        AT_TRY(parse_word(row, text, &word, err));
    switch (row->kind) {
    case SWITCH: *(bool *)to = true; return AT_OK;
    case FORMAT:
    case ISAS:
    case TEXT: *(const char **)to = text; return AT_OK;
    case INTEGER: return at_parse_int(text, what, row->min, row->max, to, err);
    case UNSIGNED: return parse_unsigned(text, what, to, err);
    case DURATION: return parse_duration(text, what, false, to, err);
    case PAUSE: return parse_duration(text, what, true, to, err);
    case MILLISECONDS: return parse_milliseconds(text, what, to, err);
    case PERCENT: return parse_percent(text, what, (int)row->max, to, err);
    case FACTOR: return parse_factor(text, what, to, err);
    case SHARE: return parse_share(text, what, to, err);
    case RANGE:
        return parse_range(row, text, &o->engine.tuner_options.begin, &o->engine.tuner_options.end,
                           err);
    case SEVERAL: {
        at_named_files *all = to;
        return take_one_more(what, text, all->items, &all->num, AT_MAX_NAMED, err);
    }
    case INPUT: return take_named_file(what, text, to, err);
    case OUTPUT: return take_output(text, o, err);
    case ARRAY:
        return take_named(what, text, o->request.arrays, &o->request.num_arrays, AT_MAX_ARRAYS,
                          err);
    case EXPECT:
        return take_named(what, text, o->request.expects, &o->request.num_expects, AT_MAX_ARRAYS,
                          err);
    case PRESET: *(bool *)to = word; return AT_OK;
    case ISA: *(const char **)to = at_target_at(word)->name; return AT_OK;
    case TUNER: return take_tuner(text, o, err);
    case OF_TUNERS:
        return at_tuner_set(&o->engine.tuner_options, at_option_of_tuner(row), what, text, err);
    default: *(unsigned *)to = (unsigned)(row->min + word); return AT_OK;
    }
}
