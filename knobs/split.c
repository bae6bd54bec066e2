/* knobs/split.c: the entities of a split, its sizes, and AutoTVM's default sizes under limits.
 * Source: AutoTVM, SplitSpace and ConfigSpace._fallback_split. */
#include "knobs/knobs_int.h"

#include <string.h>

static const char *const policy_names[] = {"factors", "power2", "verbose", "candidate", "listed"};
static const int64_t DEFAULT_MAX_FACTOR = INT64_C(1) << 31;

/* Enumerating goes twice through this: to count, then with `into` to write. */
typedef struct walk {
    const at_knob *knob;
    at_factors factors;
    at_factors lists[AT_MAX_PARTS]; /* policy listed: by part; none: powers of two */
    const at_expr *filter;          /* may be NULL */
    int64_t *into;
    int64_t count;
    int64_t sizes[AT_MAX_PARTS];
    at_error *err;
} walk;

static at_status keep(walk *w) {
    const at_knob *k = w->knob;
    if (w->filter) {
        int64_t passes;
        at_status s = at_expr_eval(w->filter, w->sizes, &passes, w->err);
        if (s != AT_OK) {
            if (w->err) at_fail_at(w->err, "knob %s: filter: ", k->name);
            return s;
        }
        if (!passes) return AT_OK;
    }
    if (w->into)
        memcpy(w->into + w->count * k->parts, w->sizes, (size_t)k->parts * sizeof *w->sizes);
    if (++w->count > AT_MAX_ENTITIES) return at_knob_too_many(k->name, w->err);
    return AT_OK;
}

/* The innermost part is chosen first, so it varies slowest. Where the product so far does not
 * divide the axis, no product with it will. */
static at_status choose(walk *w, int part, int64_t product) {
    if (part == 0) return keep(w);
    int64_t length = w->knob->length;
    for (int i = 0; i < w->factors.len; i++) {
        int64_t factor = w->factors.data[i];
        if (factor > length / product) continue;
        if (w->knob->no_tail && length % (product * factor)) continue;
        w->sizes[part] = factor;
        AT_TRY(choose(w, part - 1, product * factor));
    }
    return AT_OK;
}

static int64_t part_of(int64_t length, int64_t size) {
    return length / size + (length % size != 0);
}

/* The same of lists, of what `left` is left of the axis. */
static at_status choose_listed(walk *w, int part, int64_t left) {
    if (part == 0) return keep(w);
    const at_factors *list = &w->lists[part];
    for (int64_t i = 0, size = 0; size < left; i++) {
        if (!list->len && (i == 63 || INT64_C(1) << i > left)) break;
        if (list->len && i == list->len) break;
        size = list->len ? list->data[i] : INT64_C(1) << i;
        if (size > left) size = left;
        w->sizes[part] = size;
        AT_TRY(choose_listed(w, part - 1, part_of(left, size)));
    }
    return AT_OK;
}

static at_status wrong_list(const walk *w, const char *word, int n, const char *problem) {
    return at_fail(w->err, AT_E_INPUT,
                   "knob %s: listed: \"%.*s\" %s; a list is numbers from 1 on that ascend, or "
                   "pow2, and | stands between lists",
                   w->knob->name, n, word, problem);
}

/* "pow2 | 6 8 14", a list for each part but the first. */
static at_status read_lists(at_arena *a, walk *w, const char *text) {
    int part = 1;
    AT_VEC(int64_t) sizes = {0};
    bool has_powers = false;
    if (!text) return at_fail(w->err, AT_E_INPUT, "knob %s: no lists given", w->knob->name);
    for (const char *p = text + strspn(text, " ");; p += strspn(p, " ")) {
        int n = (int)strcspn(p, " |"), digits = (int)strspn(p, "0123456789");
        if (!*p || *p == '|') {
            if (!sizes.len && !has_powers)
                return wrong_list(w, text, (int)strlen(text), "has an empty list");
            if (part < w->knob->parts) w->lists[part] = (at_factors){sizes.data, sizes.len};
            part++;
            sizes.data = NULL, sizes.len = sizes.cap = 0;
            has_powers = false;
            if (!*p++) break;
            continue;
        }
        if (n == 4 && !strncmp(p, "pow2", 4) && !sizes.len && !has_powers) has_powers = true;
        else {
            int64_t size = 0;
            for (int i = 0; i < digits && i < 18; i++) size = size * 10 + (p[i] - '0');
            if (digits != n || n > 18 || size < 1 || has_powers)
                return wrong_list(w, p, n, "is no size here");
            if (sizes.len && size <= sizes.data[sizes.len - 1])
                return wrong_list(w, p, n, "does not ascend");
            *at_push(a, &sizes) = size;
        }
        p += n;
    }
    if (part == w->knob->parts) return AT_OK;
    return at_fail(w->err, AT_E_INPUT, "knob %s: %d lists for the %d parts behind the first",
                   w->knob->name, part - 1, w->knob->parts - 1);
}

static at_status take_candidates(walk *w, const at_split_options *o) {
    for (int i = 0; i < o->num_candidates; i++) {
        for (int j = 0; j < w->knob->parts; j++) {
            int64_t size = o->candidate[i][j];
            if (size < 1 && !(size == -1 && j == 0))
                return at_fail(
                    w->err, AT_E_INPUT,
                    "knob %s: candidate %d has size %lld; sizes are at least 1, or -1 for "
                    "the first",
                    w->knob->name, i, (long long)size);
            w->sizes[j] = size;
        }
        AT_TRY(keep(w));
    }
    return AT_OK;
}

static at_status enumerate(walk *w, const at_split_options *o) {
    w->count = 0;
    if (o->policy == AT_CANDIDATE) return take_candidates(w, o);
    w->sizes[0] = -1;
    if (o->policy == AT_LISTED) return choose_listed(w, w->knob->parts - 1, w->knob->length);
    return choose(w, w->knob->parts - 1, 1);
}

static at_status check(const char *name, int64_t length, int num_outputs, const at_split_options *o,
                       at_error *err) {
    if ((unsigned)o->policy >= sizeof policy_names / sizeof *policy_names)
        return at_fail(
            err, AT_E_INPUT,
            "knob %s: unknown split policy %d; there are factors, power2, verbose, candidate, "
            "listed",
            name, o->policy);
    if (length < 1)
        return at_fail(err, AT_E_INPUT, "knob %s: axis of length %lld; at least 1 is needed", name,
                       (long long)length);
    int fewest = o->policy == AT_CANDIDATE ? 1 : 2;
    if (num_outputs < fewest || num_outputs > AT_MAX_PARTS)
        return at_fail(err, AT_E_INPUT, "knob %s: %d parts; policy %s takes %d to %d", name,
                       num_outputs, policy_names[o->policy], fewest, AT_MAX_PARTS);
    if (o->max_factor < 0)
        return at_fail(err, AT_E_INPUT,
                       "knob %s: max_factor %lld; at least 1 is needed, or 0 for 2^31", name,
                       (long long)o->max_factor);
    return AT_OK;
}

static at_status nothing_left(const at_knob *k, const at_split_options *o, at_error *err) {
    if (o->filter)
        return at_fail(err, AT_E_INPUT,
                       "knob %s: no split of %lld into %d parts passes the filter \"%s\"", k->name,
                       (long long)k->length, k->parts, o->filter);
    return at_fail(err, AT_E_INPUT, "knob %s: no candidates given", k->name);
}

at_status at_space_split(at_space *s, const char *name, int64_t length, int num_outputs,
                         const at_split_options *o, at_error *err) {
    static const at_split_options defaults = {0};
    if (!o) o = &defaults;
    AT_TRY(check(name, length, num_outputs, o, err));
    at_knob *k = at_knob_new(s, AT_KNOB_SPLIT, name, policy_names[o->policy], num_outputs);
    k->length = length;
    k->listed = o->policy == AT_CANDIDATE;
    k->no_tail = !k->listed && (o->no_tail ? o->no_tail > 0 : o->policy == AT_FACTORS);

    k->rounds_up = o->policy == AT_LISTED;
    walk w = {.knob = k, .err = err};
    if (k->rounds_up) AT_TRY(read_lists(s->arena, &w, o->listed));
    else if (!k->listed) {
        int64_t max_factor = o->max_factor ? o->max_factor : DEFAULT_MAX_FACTOR;
        at_factors all = at_factor_list(s->arena, length, o->policy);
        w.factors.data = all.data;
        for (int i = 0; i < all.len; i++)
            if (all.data[i] <= max_factor) w.factors.data[w.factors.len++] = all.data[i];
    }
    at_expr *filter = NULL;
    if (o->filter) AT_TRY(at_filter_entity(s->arena, name, o->filter, num_outputs, &filter, err));
    w.filter = filter;
    AT_TRY(enumerate(&w, o));
    if (w.count == 0) return nothing_left(k, o, err);
    k->count = w.count;
    k->values = w.into = AT_NEW_ARRAY(s->arena, int64_t, w.count * num_outputs);
    AT_TRY(enumerate(&w, o));
    return at_space_put(s, k, err);
}

int64_t at_split_part(const at_entity *e, int64_t length, int i) {
    AT_ASSERT(e->kind == AT_KNOB_SPLIT && i >= 0 && i < e->n);
    if (i > 0) return e->sizes[i];
    /* Dividing by one part after the other rounds up to the same and cannot overflow. */
    for (int j = 1; j < e->n; j++) length = part_of(length, e->sizes[j]);
    return length;
}

at_status at_fallback_split(int64_t length, int num_outputs, const int64_t *limits, int64_t *sizes,
                            const char *knob, at_error *err) {
    if (length < 1 || num_outputs < 1 || num_outputs > AT_MAX_PARTS)
        return at_fail(err, AT_E_INPUT,
                       "knob %s: cannot split %lld into %d parts; a length of at least 1 and 1 to "
                       "%d parts are accepted",
                       knob, (long long)length, num_outputs, AT_MAX_PARTS);
    for (int i = 0; i < num_outputs; i++)
        if (limits[i] == 0)
            return at_fail(
                err, AT_E_INPUT,
                "knob %s: part %d is limited to 0; a limit is at least 1, or -1 for none", knob, i);
    at_arena *scratch = at_arena_new();
    for (int i = num_outputs - 1; i >= 0; i--) {
        at_factors f = at_factor_list(scratch, length, AT_FACTORS);
        int j = f.len - 1;
        while (limits[i] > 0 && f.data[j] > limits[i]) j--;
        sizes[i] = f.data[j];
        length /= f.data[j];
    }
    at_arena_free(scratch);
    return AT_OK;
}
