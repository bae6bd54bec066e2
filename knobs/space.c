/* knobs/space.c: the ordered list of knobs, and its indices: mixed-radix numbers whose least
 * significant digit is the first knob. Source: AutoTVM, ConfigSpace. */
#include "knobs/knobs_int.h"

#include <string.h>

/* ---- declaring
 * --------------------------------------------------------------------------------------- */

at_space *at_space_new(at_arena *a) {
    at_space *s = AT_NEW(a, at_space);
    s->arena = a;
    s->range = s->len = 1; /* of no knobs: the empty product */
    return s;
}

void at_space_thin(at_space *s, int64_t points) {
    AT_ASSERT(!s->num_knobs && points > 0);
    s->most = points;
}

at_knob *at_knob_new(at_space *s, at_knob_kind kind, const char *name, const char *policy,
                     int parts) {
    at_knob *k = AT_NEW(s->arena, at_knob);
    k->kind = kind;
    k->name = at_strdup(s->arena, name);
    k->policy = at_strdup(s->arena, policy);
    k->parts = parts;
    k->kept = -1;
    return k;
}

at_status at_knob_too_many(const char *name, at_error *err) {
    return at_fail(err, AT_E_INPUT,
                   "knob %s: more than %d entities; a filter or fewer parts would help", name,
                   AT_MAX_ENTITIES);
}

static at_status too_large(const at_knob *const *knobs, int n, at_error *err) {
    enum { NAMED = 8 };
    at_text t = {0};
    for (int i = 0; i < n && i < NAMED; i++)
        at_text_addf(&t, "%s%s (%lld)", i ? " x " : "", knobs[i]->name, (long long)knobs[i]->count);
    if (n > NAMED) at_text_addf(&t, ", and %d knobs more", n - NAMED);
    at_status s = at_fail(err, AT_E_INPUT,
                          "the space exceeds 2^63 - 1 points: %s; fewer knobs, a filter or a "
                          "computation in parts would help",
                          at_text_str(&t));
    at_text_free(&t);
    return s;
}

/* All is worked out beside the old lists and only then taken over, so that a refused knob leaves
 * the space as it was, and names that configurations have borrowed stay. */
at_status at_space_put(at_space *s, at_knob *k, at_error *err) {
    int place = at_space_find_knob(s, k->name), n = s->num_knobs;
    if (place < 0) place = n++;
    const at_knob **knobs = AT_NEW_ARRAY(s->arena, const at_knob *, n);
    const char **names = AT_NEW_ARRAY(s->arena, const char *, n);
    int64_t *strides = AT_NEW_ARRAY(s->arena, int64_t, n), range = 1;
    for (int i = 0; i < n; i++) {
        knobs[i] = i == place ? k : s->knobs[i];
        names[i] = knobs[i]->name;
    }
    k->entities = at_knob_view(s->arena, k);
    if (s->most) at_knobs_thin(s->arena, knobs, n, s->most);
    for (int i = 0; i < n; i++) {
        strides[i] = range;
        if (!at_mul64(range, knobs[i]->count, &range) || range == INT64_MAX)
            return too_large(knobs, n, err);
    }
    const at_joint *joint = NULL;
    if (s->joint)
        AT_TRY(at_joint_new(s->arena, s->joint->condition, knobs, names, strides, n, &joint, err));
    s->knobs = knobs;
    s->names = names;
    s->strides = strides;
    s->num_knobs = n;
    s->range = range;
    s->joint = joint;
    s->len = joint ? -1 : range;
    s->only = NULL;
    return AT_OK;
}

at_status at_space_filter(at_space *s, const char *condition, at_error *err) {
    AT_TRY(at_joint_new(s->arena, condition, s->knobs, s->names, s->strides, s->num_knobs,
                        &s->joint, err));
    s->len = -1;
    return AT_OK;
}

/* ---- asking
 * ------------------------------------------------------------------------------------------ */

static const at_knob *knob_at(const at_space *s, int knob) {
    AT_ASSERT(knob >= 0 && knob < s->num_knobs);
    return s->knobs[knob];
}

int at_space_num_knobs(const at_space *s) { return s->num_knobs; }
const char *at_space_knob_name(const at_space *s, int knob) {
    knob_at(s, knob);
    return s->names[knob];
}
at_knob_kind at_space_knob_kind(const at_space *s, int knob) { return knob_at(s, knob)->kind; }
int64_t at_space_knob_len(const at_space *s, int knob) { return knob_at(s, knob)->count; }
const char *at_space_knob_policy(const at_space *s, int knob) { return knob_at(s, knob)->policy; }
int64_t at_space_knob_length(const at_space *s, int knob) { return knob_at(s, knob)->length; }

int at_space_find_knob(const at_space *s, const char *name) {
    for (int i = 0; i < s->num_knobs; i++)
        if (!strcmp(s->names[i], name)) return i;
    return -1;
}

const at_entity *at_space_entity(const at_space *s, int knob, int64_t digit) {
    const at_knob *k = knob_at(s, knob);
    AT_ASSERT(digit >= 0 && digit < k->count);
    return &k->entities[digit];
}

int64_t at_space_range_length(const at_space *s) { return s->range; }

int64_t at_space_len(at_space *s) {
    if (s->len < 0 && s->parts) {
        s->len = 0;
        for (int i = 0; i < s->num_parts; i++) s->len += at_space_len(s->parts[i]);
    } else if (s->len < 0 && s->requires.len) {
        bool exact;
        s->len = at_requires_count(s, &exact);
        s->is_estimated = !exact;
    } else if (s->len < 0) s->len = at_joint_count(s->joint, s->range);
    return s->len;
}

bool at_space_len_is_estimated(at_space *s) {
    at_space_len(s);
    return s->is_estimated;
}

/* Some indices mean no point. */
static bool is_filtered(const at_space *s) {
    bool filtered = s->joint || s->requires.len;
    for (int i = 0; i < s->num_parts; i++) filtered |= is_filtered(s->parts[i]);
    return filtered;
}

bool at_space_is_valid(const at_space *s, int64_t index) {
    if (s->only) return at_only_holds(s, index);
    if (s->parts && index >= 0 && index < s->range) {
        int part = at_space_part_of(s, index);
        return at_space_is_valid(s->parts[part], index - s->first[part]);
    }
    if (index < 0 || index >= s->range) return false;
    return (!s->joint || at_joint_holds(s->joint, index)) && at_requires_keep(s, index);
}

int64_t at_space_subrange_length(at_space *s, int64_t begin, int64_t end) {
    if (begin < 0) begin = 0;
    if (end > s->range) end = s->range;
    if (begin >= end) return 0;
    if (s->parts && !s->only) {
        int64_t count = 0;
        for (int i = 0; i < s->num_parts; i++)
            count += at_space_subrange_length(s->parts[i], begin - s->first[i], end - s->first[i]);
        return count;
    }
    if (s->only) return at_space_place(s, end) - at_space_place(s, begin);
    if (!is_filtered(s)) return end - begin;
    if (begin == 0 && end == s->range) return at_space_len(s);
    int64_t count = 0;
    for (int64_t i = begin; i < end; i++) count += at_space_is_valid(s, i);
    return count;
}

int64_t at_space_next(const at_space *s, int64_t index, int64_t n, int64_t begin, int64_t end) {
    if (begin < 0) begin = 0;
    if (end <= 0 || end > s->range) end = s->range;
    if (s->only) return at_only_next(s, index, n, begin, end);
    if (!is_filtered(s) || n == 0) {
        int64_t next;
        if (__builtin_add_overflow(index, n, &next) || next < begin || next >= end) return -1;
        return next;
    }
    int64_t step = n < 0 ? -1 : 1;
    for (; s->requires.len && n > 0; n--) {
        index = at_requires_next(s, index + 1 > begin ? index + 1 : begin);
        if (index < 0 || index >= end) return -1;
    }
    while (n) {
        index += step;
        if (index < begin || index >= end) return -1;
        if (at_space_is_valid(s, index)) n -= step;
    }
    return index;
}

/* ---- printing
 * ---------------------------------------------------------------------------------------- */

void at_space_print_knob(at_text *out, const at_space *s, int knob) {
    const at_knob *k = knob_at(s, knob);
    switch (k->kind) {
    case AT_KNOB_SPLIT:
        at_text_addf(out, "Split(policy=%s, product=%lld, num_outputs=%d)", k->policy,
                     (long long)k->length, k->parts);
        break;
    case AT_KNOB_REORDER: at_text_addf(out, "Reorder(policy=%s)", k->policy); break;
    case AT_KNOB_ANNOTATE: at_text_addf(out, "Annotate(policy=%s)", k->policy); break;
    case AT_KNOB_OPTION:
        at_text_add(out, "OtherOption([");
        for (int64_t i = 0; i < k->count; i++) {
            if (i) at_text_add(out, ", ");
            at_python_value(out, k->options[i]);
        }
        at_text_add(out, "])");
        break;
    }
    at_text_addf(out, " len=%lld", (long long)k->count);
    if (k->whole) at_text_addf(out, " of %lld", (long long)k->whole->count);
}
