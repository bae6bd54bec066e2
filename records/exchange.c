/* records/exchange.c: parameters, moments and losses; see exchange.h. */
#include "records/exchange.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- parameters from an entity -------------------------------------------------------------- */

void at_params_from_config(const at_exchange *x, const at_record *r, at_params *out) {
    const at_config *c = &r->config;
    for (int k = 0; k < c->num_knobs; k++) {
        const at_entity *e = &c->entities[k];
        if (e->kind == AT_KNOB_OPTION) {
            *at_push(x->arena, &out->of) = (at_param){c->names[k], e->option};
            continue;
        }
        for (int i = 0; i < e->n; i++) {
            const char *name = at_format(x->arena, "%s.%d", c->names[k], i);
            int64_t size = e->marks ? 0 : e->sizes[i];
            if (!e->marks && e->kind == AT_KNOB_SPLIT && i == 0 && size < 0 && x->split_part)
                size = x->split_part(x->ctx, r, k);
            *at_push(x->arena, &out->of) =
                (at_param){name, e->marks ? at_json_new_string(x->arena, e->marks[i])
                                          : at_json_new_int(x->arena, size)};
        }
    }
}

/* ---- and back ------------------------------------------------------------------------------- */

typedef struct form {
    const char *name;
    at_knob_kind kind;
    int first, parts; /* in the first list */
} form;

/* "tile_y.0" is part 0 of tile_y; -1: no part. */
static int part_number(const char *name, size_t *base_len) {
    const char *dot = strrchr(name, '.');
    if (!dot || dot == name || !isdigit((unsigned char)dot[1])) return -1;
    char *end;
    long n = strtol(dot + 1, &end, 10);
    *base_len = (size_t)(dot - name);
    return *end || n > 1000 ? -1 : (int)n;
}

static int count_parts(const at_params *p, int first, size_t *base_len) {
    int n = 0;
    size_t len = 0;
    for (int i = first; i < p->of.len; i++, n++) {
        if (part_number(p->of.data[i].name, &len) != n) break;
        if (n && (len != *base_len || memcmp(p->of.data[i].name, p->of.data[first].name, len) != 0))
            break;
        *base_len = len;
    }
    return n;
}

static const at_json *value_of(const at_params *p, const char *name, int guess) {
    if (guess < p->of.len && !strcmp(p->of.data[guess].name, name)) return p->of.data[guess].value;
    for (int i = 0; i < p->of.len; i++)
        if (!strcmp(p->of.data[i].name, name)) return p->of.data[i].value;
    return NULL;
}

/* By the values of all lists; AT_KNOB_OPTION: of several kinds, so no parts of anything. */
static at_knob_kind kind_of_parts(const at_params *lists, int n, int first, int parts) {
    bool texts = true, whole = true, zero = false;
    for (int l = 0; l < n; l++)
        for (int i = first; i < first + parts; i++) {
            const at_json *v = value_of(&lists[l], lists[0].of.data[i].name, i);
            if (!v) continue;
            texts &= v->kind == AT_JSON_STRING;
            whole &= v->kind == AT_JSON_NUMBER && v->is_int;
            zero |= v->kind == AT_JSON_NUMBER && v->number == 0;
        }
    if (texts) return AT_KNOB_ANNOTATE;
    if (!whole) return AT_KNOB_OPTION;
    return zero ? AT_KNOB_REORDER : AT_KNOB_SPLIT;
}

static at_status read_entity(at_arena *a, const form *f, const at_params *names,
                             const at_params *list, at_entity *e, at_error *err) {
    int64_t *sizes = AT_NEW_ARRAY(a, int64_t, f->parts);
    const char **marks = AT_NEW_ARRAY(a, const char *, f->parts);
    *e = (at_entity){.kind = f->kind, .n = f->parts};
    for (int i = 0; i < f->parts; i++) {
        const char *name = names->of.data[f->first + i].name;
        const at_json *v = value_of(list, name, f->first + i);
        if (!v)
            return at_fail(err, AT_E_INPUT, "parameter %s is missing from a configuration", name);
        sizes[i] = v->integer;
        marks[i] = v->string;
        e->option = v;
    }
    if (f->kind == AT_KNOB_OPTION) return AT_OK;
    e->option = NULL;
    if (f->kind == AT_KNOB_ANNOTATE) e->marks = marks;
    else e->sizes = sizes;
    return AT_OK;
}

/* Parameters of several records as configurations. */
static at_status params_to_configs(at_arena *a, const at_params *lists, int n, at_config *configs,
                                   at_error *err) {
    AT_VEC(form) forms = {0};
    for (int i = 0; n && i < lists[0].of.len;) {
        const char *name = lists[0].of.data[i].name;
        size_t base_len = 0;
        form f = {name, AT_KNOB_OPTION, i, count_parts(&lists[0], i, &base_len)};
        if (f.parts) f.kind = kind_of_parts(lists, n, i, f.parts);
        if (f.kind == AT_KNOB_OPTION) f.parts = 1;
        else f.name = at_strndup(a, name, base_len);
        *at_push(a, &forms) = f;
        i += f.parts;
    }
    const char **names = AT_NEW_ARRAY(a, const char *, forms.len);
    for (int k = 0; k < forms.len; k++) {
        names[k] = forms.data[k].name;
        for (int i = 0; i < k; i++)
            if (!strcmp(names[i], names[k]))
                return at_fail(err, AT_E_INPUT, "parameter %s occurs twice", names[k]);
    }
    for (int l = 0; l < n; l++) {
        at_entity *e = AT_NEW_ARRAY(a, at_entity, forms.len);
        if (lists[l].of.len != lists[0].of.len)
            return at_fail(err, AT_E_INPUT, "a configuration has %d parameters, the first one %d",
                           lists[l].of.len, lists[0].of.len);
        for (int k = 0; k < forms.len; k++)
            AT_TRY(read_entity(a, &forms.data[k], &lists[0], &lists[l], &e[k], err));
        configs[l] = (at_config){NULL, -1, -1, forms.len, names, e};
    }
    return AT_OK;
}

at_status at_read_entries(at_arena *a, const at_json *entries, const at_record *first,
                          at_read_entry *read, const at_json *of, at_record **records,
                          at_error *err) {
    at_record *all = AT_NEW_ARRAY(a, at_record, entries->count);
    at_params *params = AT_NEW_ARRAY(a, at_params, entries->count);
    at_config *configs = AT_NEW_ARRAY(a, at_config, entries->count);
    int i = 0;
    for (const at_json *v = entries->child; v; v = v->next, i++) {
        all[i] = *first;
        if (read(a, of, v, &all[i], &params[i], err) == AT_OK) continue;
        if (!err) return AT_E_INPUT;
        return v->key ? at_fail_at(err, "entry \"%s\": ", v->key)
                      : at_fail_at(err, "result %d: ", i);
    }
    AT_TRY(params_to_configs(a, params, i, configs, err));
    for (int k = 0; k < i; k++) all[k].config = configs[k];
    *records = all;
    return AT_OK;
}

/* ---- moments -------------------------------------------------------------------------------- */

void at_text_add_moment(at_text *out, double seconds) {
    struct tm tm;
    if (!(seconds >= 0) || seconds > 1e11) seconds = 0;
    int64_t us = llround(seconds * 1e6);
    time_t t = (time_t)(us / 1000000);
    char text[32];
    AT_ASSERT(gmtime_r(&t, &tm));
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    at_text_addf(out, "%s.%06d+00:00", text, (int)(us % 1000000));
}

bool at_parse_moment(const char *text, double *seconds) {
    struct tm tm = {0};
    const char *p = strptime(text, "%Y-%m-%d", &tm);
    if (!p || (*p != ' ' && *p != 'T')) return false;
    p = strptime(p + 1, "%H:%M:%S", &tm);
    if (!p) return false;
    double s = (double)timegm(&tm), fraction = 0, digit = 0.1;
    if (*p == '.')
        for (p++; isdigit((unsigned char)*p); p++, digit /= 10) fraction += (*p - '0') * digit;
    int hours, minutes;
    if ((*p == '+' || *p == '-') && sscanf(p + 1, "%2d:%2d", &hours, &minutes) == 2)
        s -= (*p == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    else if (*p && *p != 'Z') return false;
    *seconds = s + fraction;
    return true;
}

/* ---- losses --------------------------------------------------------------------------------- */

void at_tell_loss(const at_exchange *x, int64_t n, const char *what) {
    if (!n || !x->loss) return;
    at_text t = {0};
    at_text_addf(&t, "lost: %s (%lld record%s)", what, (long long)n, at_plural(n));
    x->loss(x->ctx, at_text_str(&t));
    at_text_free(&t);
}

static bool is_there(const char *text) { return text && *text; }

void at_tell_common_losses(const at_exchange *x, const at_record *records, int n) {
    int64_t code_hash = 0, tvm = 0, error = 0, tuner = 0, same_as = 0, kind = 0, version = 0;
    int64_t context = 0, unchecked = 0, open_split = 0, number = 0, machine = 0;
    for (int i = 0; i < n; i++) {
        const at_record *r = &records[i];
        const at_extra *e = &r->extra;
        code_hash += r->code_hash || is_there(e->code_hash);
        tvm += is_there(r->tvm_version);
        error += is_there(e->error);
        tuner += is_there(e->tuner);
        same_as += e->same_as >= 0;
        kind += e->sample_kind != AT_SAMPLES_NONE;
        version += is_there(e->version);
        number += e->number > 0;
        machine += is_there(e->compiler_version) || is_there(e->cpu_flags);
        context += strcmp(e->context_hash, records[0].extra.context_hash) != 0;
        unchecked += !r->error_no && !at_record_is_candidate(r);
        for (int k = 0; k < r->config.num_knobs; k++) {
            const at_entity *s = &r->config.entities[k];
            if (s->kind != AT_KNOB_SPLIT || !s->n || s->sizes[0] >= 0) continue;
            if (x->split_part && x->split_part(x->ctx, r, k) > 0) continue;
            open_split++;
            break;
        }
    }
    at_tell_loss(x, n, "index");
    at_tell_loss(x, tvm, "tvm_version");
    at_tell_loss(x, code_hash, "code_hash");
    at_tell_loss(x, error, "error text");
    at_tell_loss(x, tuner, "tuner and seed");
    at_tell_loss(x, kind, "sample_kind");
    at_tell_loss(x, same_as, "same_as");
    at_tell_loss(x, version, "version of the program");
    at_tell_loss(x, machine, "compiler_version and cpu_flags");
    at_tell_loss(x, number, "number and min_repeat_ms");
    at_tell_loss(x, context, "context, other than that of the first record");
    at_tell_loss(x, unchecked, "that the result is valid but not checked");
    at_tell_loss(x, open_split,
                 "first part of a split, which stays -1: no template tells what is divided");
}

/* ---- records -------------------------------------------------------------------------------- */

void at_add_times_ms(at_text *out, const at_record *r) {
    const at_extra *e = &r->extra;
    const double *s = e->num_samples ? e->samples_s : r->costs_s;
    int n = e->num_samples ? e->num_samples : r->num_costs;
    at_text_add(out, "[");
    for (int i = 0; i < n; i++) {
        if (i) at_text_add(out, ", ");
        at_text_add_double(out, at_milliseconds(s[i]));
    }
    at_text_add(out, "]");
}

void at_record_fail(at_record *r, int error_no) {
    static const double failure_cost_s = 1e9;
    r->error_no = error_no;
    r->costs_s = &failure_cost_s;
    r->num_costs = 1;
}

const char *at_tvm_target_of_device(at_arena *a, const char *device) {
    at_tvm_target t;
    if (at_tvm_target_parse(a, device, &t) && strstr(device, " -")) return device;
    at_text text = {0};
    at_text_add(&text, "ext_dev");
    if (*device) at_text_add(&text, " -model=");
    for (const char *p = device; *p; p++) {
        bool plain = isalnum((unsigned char)*p) || strchr(".-_", *p);
        at_text_addn(&text, plain ? p : "_", 1);
    }
    return at_text_take(a, &text);
}
