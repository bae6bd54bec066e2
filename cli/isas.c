/* cli/isas.c: see isas.h. */
#include "cli/isas.h"

#include <string.h>

static at_status no_isas(const char *list, at_error *err) {
    at_text known = {0};
    at_option_words(at_option_find("--isa"), ", ", &known);
    at_fail(err, AT_E_USAGE, "--isas %s: names of instruction sets with commas between them: %s",
            list, at_text_str(&known));
    at_text_free(&known);
    return AT_E_USAGE;
}

at_status at_read_isas(const char *list, const at_target **isas, int *n, at_error *err) {
    *n = 0;
    for (const char *s = list;;) {
        size_t length = strcspn(s, ",");
        char word[32] = "";
        if (length < sizeof word) memcpy(word, s, length);
        const at_target *isa = at_target_find(word);
        if (!isa || *n == AT_MOST_ISAS) return no_isas(list, err);
        for (int i = 0; i < *n; i++)
            if (isas[i] == isa)
                return at_fail(err, AT_E_USAGE, "--isas %s: %s is given twice", list, word);
        if (*n && isa->architecture != isas[0]->architecture)
            return at_fail(
                err, AT_E_USAGE, "--isas %s: %s is of %s, %s of %s; a file is for one architecture",
                list, isas[0]->name, isas[0]->architecture->name, word, isa->architecture->name);
        isas[(*n)++] = isa;
        if (!s[length]) return AT_OK;
        s += length + 1;
    }
}

at_status at_check_isas(const at_options *o, at_error *err) {
    if (o->isas && o->engine.dialect == AT_DIALECT_C)
        return at_fail(
            err, AT_E_USAGE,
            "--isas %s --dialect c: plain C is the same for every instruction set; leave "
            "--isas out",
            o->isas);
    if (o->isas && at_given(o, "--isa"))
        return at_fail(err, AT_E_USAGE, "--isa %s --isas %s: give one of them", o->engine.isa,
                       o->isas);
    return AT_OK;
}
