/* templates/defaults.c: default configurations: those that a template sets, and AutoTVM's where it
 * sets none. */
#include "templates/template_int.h"

long long at_divisor(long long n, long long limit) {
    for (long long d = limit < n ? limit : n; d > 1; d--)
        if (n % d == 0) return d;
    return 1;
}

long long at_vectors(long long n, int lanes, int most) {
    long long part = at_divisor(n, (long long)most * lanes);
    if (2 * part < lanes && n > lanes)
        for (part = lanes; n % part;) part++;
    return part;
}

long long at_fitting_rows(long long n, long long most) {
    long long part = at_divisor(n, most), power = 1;
    while (2 * power <= most && 2 * power <= n) power *= 2;
    return 2 * part <= power ? power : part;
}

long long at_most_rows(long long elements, int lanes) {
    long long vectors = (elements + lanes - 1) / lanes, registers = lanes == 16 ? 28 : 12;
    long long rows = registers / (vectors > 2 ? vectors : 2);
    return rows > 1 ? rows : 1;
}

int at_by_element(const at_template *t) { return t->by_element; }

/* At least 1, so that the first part can be worked out. */
static at_status check_parts(at_template *t, const char *knob, const long long *values, int n) {
    int64_t product = 1;
    for (int i = 0; i < n; i++)
        if (values[i] < 1)
            return at_fail(&t->err, AT_E_INPUT,
                           "%s: a default of \"%s\" with %lld for part %d; at least 1 is accepted",
                           t->row->name, knob, values[i], i + 2);
    for (int i = 0; i < n; i++)
        if (!at_mul64(product, values[i], &product))
            return at_fail(&t->err, AT_E_INPUT, "%s: a default of \"%s\" whose parts exceed 2^63",
                           t->row->name, knob);
    return AT_OK;
}

void at_default(at_template *t, const char *knob, const long long *values) {
    if (t->err.status != AT_OK) return;
    if (!knob || !values) {
        at_fail(&t->err, AT_E_INPUT, "%s: at_default without %s", t->row->name,
                knob ? "values" : "a knob");
        return;
    }
    int k = at_space_find_knob(t->space, knob);
    if (k < 0) {
        at_fail(&t->err, AT_E_INPUT, "%s: a default of \"%s\", which is no knob", t->row->name,
                knob);
        return;
    }
    knob_default *d = &t->defaults.data[k];
    const at_entity *first = at_space_entity(t->space, k, 0);
    int n = first->kind == AT_KNOB_SPLIT ? first->n - 1 : first->marks ? first->n : 1;
    /* An option may have a value that it does not list: AutoTVM's defaults do. */
    if (first->kind == AT_KNOB_SPLIT && check_parts(t, knob, values, n) != AT_OK) return;
    d->fixed = true;
    for (int i = 0; i < n; i++) d->value[i] = values[i];
    int64_t sizes[MAX_PARTS] = {-1};
    for (int i = 0; i < n; i++) sizes[i + (first->kind == AT_KNOB_SPLIT)] = values[i];
    if (first->kind == AT_KNOB_SPLIT) at_space_keep(t->space, k, sizes);
}

/* Sizes with a number for the first part too, as AutoTVM writes them. */
static at_status default_split(const at_space *space, int k, const knob_default *d, at_text *out,
                               at_error *err) {
    int64_t length = at_space_knob_length(space, k), sizes[MAX_PARTS], product = 1;
    int n = at_space_entity(space, k, 0)->n;
    if (d->fixed) {
        for (int i = 1; i < n; i++) product *= sizes[i] = d->value[i - 1];
        sizes[0] = length / product + (length % product != 0);
    } else
        AT_TRY(at_fallback_split(length, n, d->limits, sizes, at_space_knob_name(space, k), err));
    at_text_add(out, ", \"sp\", [");
    for (int i = 0; i < n; i++) at_text_addf(out, "%s%lld", i ? ", " : "", (long long)sizes[i]);
    at_text_add(out, "]]");
    return AT_OK;
}

static void default_option(const at_space *space, int k, const knob_default *d, at_text *out) {
    at_text_add(out, ", \"ot\", ");
    if (!d->fixed) at_json_print(out, at_space_entity(space, k, d->option)->option);
    else if (at_space_entity(space, k, 0)->option->kind == AT_JSON_BOOL)
        at_text_add(out, d->value[0] ? "true" : "false");
    else at_text_addf(out, "%lld", (long long)d->value[0]);
    at_text_add(out, "]");
}

/* Of orders: as written; of annotations, where nothing is set, the first: plain. */
static void default_marks(const at_entity *e, const knob_default *d, at_text *out) {
    static const char *const marks[] = {"none", "unroll", "vec"};
    at_text_addf(out, ", \"%s\", [", e->marks ? "an" : "re");
    for (int i = 0; i < e->n; i++)
        if (e->marks)
            at_text_addf(out, "%s\"%s\"", i ? ", " : "",
                         d->fixed ? marks[d->value[i] % 3] : e->marks[i]);
        else at_text_addf(out, "%s%lld", i ? ", " : "", (long long)e->sizes[i]);
    at_text_add(out, "]]");
}

/* As the entity of a record, so that reading it finds its place in the space. */
at_status at_defaults_config(at_arena *a, const at_template *t, at_config *out, at_error *err) {
    const at_space *space = t->space;
    at_text text = {0};
    at_status s = AT_OK;
    at_text_add(&text, "{\"entity\": [");
    for (int k = 0; k < at_space_num_knobs(space) && s == AT_OK; k++) {
        const knob_default *d = &t->defaults.data[k];
        at_text_add(&text, k ? ", [" : "[");
        at_text_add_json_string(&text, at_space_knob_name(space, k));
        switch (at_space_entity(space, k, 0)->kind) {
        case AT_KNOB_SPLIT: s = default_split(space, k, d, &text, err); break;
        case AT_KNOB_OPTION: default_option(space, k, d, &text); break;
        default: default_marks(at_space_entity(space, k, 0), d, &text);
        }
    }
    at_text_add(&text, "]}");
    const at_json *json;
    if (s == AT_OK) s = at_json_parse(a, at_text_str(&text), text.len, &json, err);
    if (s == AT_OK) s = at_config_from_json(a, space, json, out, err);
    if (s != AT_OK && err) at_fail_at(err, "default configuration of %s: ", t->row->name);
    at_text_free(&text);
    return s;
}
