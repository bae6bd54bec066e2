/* engine/task/log_others.c: see log_others.h. */
#include "engine/task/log_others.h"

#include <string.h>

#include "engine/task/record_use.h"

bool at_is_of_other_pattern(const at_record *r, const at_pattern *p) {
    return p && r->extra.present && strcmp(r->extra.context.pattern, p->hash) != 0;
}

/* What of a context options ask for. Values are texts. */
typedef enum property { ISA, THREADS, COMPILER, PACKING, CACHE, NUM_PROPERTIES } property;

static const char *value_of(at_arena *a, property p, const at_context *c) {
    switch (p) {
    case ISA: return *c->isa ? c->isa : "an instruction set without a name";
    case THREADS: return at_format(a, "%d", c->threads);
    case COMPILER: return c->compiler;
    case PACKING: return c->packing;
    default: return c->cache;
    }
}

/* NULL: nothing. */
static const char *asked_for(at_arena *a, property p, const at_engine_options *o) {
    switch (p) {
    case ISA: return o->isa;
    case THREADS:
        return o->set & AT_SET_THREADS ? at_format(a, "%d", (int)(o->threads ? o->threads : 1))
                                       : NULL;
    case COMPILER: return o->set & AT_SET_COMPILER ? at_compiler_name(o->compiler) : NULL;
    case PACKING: return o->set & AT_SET_PACKING ? at_packing_name(o->packing) : NULL;
    default: return at_cache_name(o->cache);
    }
}

/* Properties in order: what comes first counts most. */
int at_log_rank(at_arena *a, const at_engine_options *o, const at_record *r,
                const at_pattern *pattern) {
    if (at_is_of_other_pattern(r, pattern)) return 0;
    int n = 2 + at_is_of_this_cpu(r);
    for (int p = 0; p < NUM_PROPERTIES; p++) {
        const char *asked = asked_for(a, (property)p, o);
        n = 2 * n + (asked && r->extra.present &&
                     !strcmp(value_of(a, (property)p, &r->extra.context), asked));
    }
    return n;
}

/* ---- what is told ---------------------------------------------------------------------------- */

typedef AT_VEC(const char *) value_list; /* each once, the shorter first: numbers ascend */

static int order(const char *x, const char *y) {
    const size_t m = strlen(x), n = strlen(y);
    return m != n ? (m < n ? -1 : 1) : strcmp(x, y);
}

static void add_value(at_arena *a, value_list *v, const char *value) {
    int at = 0;
    while (at < v->len && order(v->data[at], value) < 0) at++;
    if (at < v->len && !order(v->data[at], value)) return;
    at_push(a, v);
    memmove(v->data + at + 1, v->data + at, (size_t)(v->len - 1 - at) * sizeof *v->data);
    v->data[at] = value;
}

/* "of 1, of 2 and of 4"; of many the first ones. */
static const char *listed(at_arena *a, const value_list *v, const char *before) {
    enum { MOST_LISTED = 4 };
    const int shown = v->len > MOST_LISTED ? MOST_LISTED : v->len;
    at_text t = {0};
    for (int i = 0; i < shown; i++)
        at_text_addf(&t, "%s%s %s", !i ? "" : i == v->len - 1 ? " and " : ", ", before, v->data[i]);
    if (v->len > shown) at_text_addf(&t, " and %d more", v->len - shown);
    return at_text_take(a, &t);
}

static void add_other(at_log_others *out, bool is_missing, const char *text) {
    out->of[out->count].is_missing = is_missing;
    out->of[out->count++].text = text;
}

/* v: what the records that compete are of. */
static void compare(at_arena *a, property p, const at_engine_options *o, const at_context *own,
                    const value_list *v, at_log_others *out) {
    const char *asked = asked_for(a, p, o), *is = value_of(a, p, own);
    const char *noun = p == THREADS ? " threads" : "";
    if (asked && strcmp(asked, is) != 0)
        add_other(out, true,
                  at_format(a, "is of %s%s; the best, of %s, is taken", asked,
                            !strcmp(asked, "1") ? " thread" : noun, is));
    else if (!asked && v->len > 1)
        add_other(out, false,
                  at_format(a, "are %s%s, and the fastest, of %s, is taken; %s chooses",
                            listed(a, v, "of"), noun, is, p == THREADS ? "--threads" : "--isa"));
}

void at_log_find_others(at_arena *a, const at_engine_options *o, const at_record *const *records,
                        int n, const at_pattern *pattern, const at_record *best,
                        at_log_others *out) {
    const int highest = at_log_rank(a, o, best, pattern);
    const at_context *own = &best->extra.context;
    value_list caches = {0}, threads = {0}, isas = {0};
    *out = (at_log_others){0};
    if (!best->extra.present) return;
    for (int i = 0; i < n; i++) {
        const at_context *c = &records[i]->extra.context;
        if (!records[i]->extra.present) continue;
        if (*c->cache) add_value(a, &caches, c->cache);
        if (at_log_rank(a, o, records[i], pattern) != highest) continue;
        add_value(a, &threads, value_of(a, THREADS, c));
        add_value(a, &isas, value_of(a, ISA, c));
    }
    out->has_caches = *own->cache && caches.len > 1;
    if (out->has_caches)
        add_other(out, false,
                  at_format(a,
                            "were measured %s caches, and do not compete; the best with %s ones is "
                            "taken",
                            listed(a, &caches, "with"), own->cache));
    compare(a, THREADS, o, own, &threads, out);
    compare(a, ISA, o, own, &isas, out);
}

void at_log_tell(at_arena *a, const at_engine_options *o, const char *path, const char *name,
                 const at_record *r, const at_log_others *others) {
    if (!at_is_of_this_cpu(r))
        at_engine_warn(o, at_format(a,
                                    "%s:%lld: the best of %s was measured on another CPU (%s), and "
                                    "none on this one",
                                    path, (long long)r->line, name, at_record_cpu(r)));
    for (int i = 0; i < others->count; i++)
        at_engine_warn(o, at_format(a, "%s: %s of %s %s", path,
                                    others->of[i].is_missing ? "no record" : "records", name,
                                    others->of[i].text));
}
