/* tuners/tuner_options.c: the options that tuners declare, set by name. */
#include "tuners/tuners_int.h"

#include <string.h>

static at_status read_word(const at_tuner_option *option, const char *what, const char *text,
                           int64_t *out, at_error *err) {
    int n = 0;
    for (; option->words[n]; n++) {
        if (strcmp(option->words[n], text)) continue;
        *out = n;
        return AT_OK;
    }
    at_text names = {0};
    at_text_add_names(&names, text, option->words, n);
    at_status s = at_fail(err, AT_E_USAGE, "%s %s: there are %s", what, text, at_text_str(&names));
    at_text_free(&names);
    return s;
}

at_status at_tuner_set(at_tuner_options *o, const at_tuner_option *option, const char *what,
                       const char *text, at_error *err) {
    int64_t value = 0;
    if (option->words) AT_TRY(read_word(option, what, text, &value, err));
    else AT_TRY(at_parse_int(text, what, option->min, option->max, &value, err));
    if (o->num_settings == AT_TUNER_MAX_SETTINGS)
        return at_fail(err, AT_E_USAGE, "%s %s: more than %d options of tuners", what, text,
                       AT_TUNER_MAX_SETTINGS);
    o->settings[o->num_settings++] = (at_tuner_setting){option, value};
    return AT_OK;
}

static at_status find_option(const at_tuner_class *row, const char *name,
                             const at_tuner_option **out, at_error *err) {
    const char *names[AT_TUNER_MAX_SETTINGS];
    for (int i = 0; i < row->num_options; i++) {
        names[i] = row->options[i].name;
        *out = &row->options[i];
        if (!strcmp(names[i], name)) return AT_OK;
    }
    if (!row->num_options)
        return at_fail(err, AT_E_USAGE, "%s has no option \"%s\": it takes none", row->name, name);
    at_text list = {0};
    at_text_add_names(&list, name, names, row->num_options);
    at_status s = at_fail(err, AT_E_USAGE, "%s has no option \"%s\"; its options: %s", row->name,
                          name, at_text_str(&list));
    at_text_free(&list);
    return s;
}

at_status at_tuner_parse(const char *text, at_tuner_options *o, const at_tuner_class **out,
                         at_error *err) {
    char part[128];
    size_t n = strcspn(text, ":");
    if (n >= sizeof part) n = sizeof part - 1;
    snprintf(part, sizeof part, "%.*s", (int)n, text);
    if (o->caller) return *out = &at_caller_tuner, AT_OK;
    AT_TRY(at_tuner_find(part, out, err));
    for (const char *p = text + n; *p; p += n) {
        p++;
        n = strcspn(p, ",");
        char *value = n < sizeof part ? memchr(p, '=', n) : NULL;
        snprintf(part, sizeof part, "%.*s", n < sizeof part ? (int)n : 60, p);
        if (!value)
            return at_fail(err, AT_E_USAGE, "%s: \"%s\": write OPTION=VALUE, commas between",
                           (*out)->name, part);
        value = part + (value - p);
        *value++ = 0;
        const at_tuner_option *option = NULL;
        AT_TRY(find_option(*out, part, &option, err));
        char what[192];
        snprintf(what, sizeof what, "%s:%s", (*out)->name, part);
        AT_TRY(at_tuner_set(o, option, what, value, err));
    }
    return AT_OK;
}
