/* knobs/sum.c: sums of spaces: one index runs over the points of several, one after the other. */
#include "knobs/knobs_int.h"

/* ["a", "b"] as the knob that says which. */
static at_status add_chooser(at_space *s, const char *knob, const char *const *names, int n,
                             at_error *err) {
    at_space chooser = {.arena = s->arena, .range = 1, .len = 1};
    at_text list = {0};
    for (int i = 0; i < n; i++) {
        at_text_add(&list, i ? ", " : "[");
        at_text_add_json_string(&list, names[i]);
    }
    at_text_add(&list, "]");
    at_status status = at_space_option(&chooser, knob, at_text_str(&list), err);
    at_text_free(&list);
    AT_TRY(status);
    s->knobs[0] = chooser.knobs[0];
    s->names[0] = chooser.names[0];
    return AT_OK;
}

at_status at_space_sum(at_space *s, const char *knob, const char *const *names,
                       at_space *const *parts, int num_parts, at_error *err) {
    at_arena *a = s->arena;
    int knobs = 1;
    AT_ASSERT(num_parts > 0 && !s->num_knobs);
    for (int i = 0; i < num_parts; i++) knobs += parts[i]->num_knobs;
    s->num_parts = num_parts;
    s->parts = at_copy(a, parts, sizeof *parts * (size_t)num_parts);
    s->first = AT_NEW_ARRAY(a, int64_t, num_parts + 1);
    s->offset = AT_NEW_ARRAY(a, int, num_parts + 1);
    s->knobs = AT_NEW_ARRAY(a, const at_knob *, knobs);
    s->names = AT_NEW_ARRAY(a, const char *, knobs);
    AT_TRY(add_chooser(s, knob, names, num_parts, err));
    int n = 1;
    for (int i = 0; i < num_parts; i++) {
        s->offset[i] = n;
        if (__builtin_add_overflow(s->first[i], parts[i]->range, &s->first[i + 1]) ||
            s->first[i + 1] == INT64_MAX)
            return at_fail(err, AT_E_INPUT, "the sum of %d spaces exceeds 2^63 - 1 points",
                           num_parts);
        for (int k = 0; k < parts[i]->num_knobs; k++, n++) {
            s->knobs[n] = parts[i]->knobs[k];
            s->names[n] = at_format(a, "%s.%s", names[i], parts[i]->names[k]);
        }
    }
    s->offset[num_parts] = n;
    s->num_knobs = n;
    s->range = s->first[num_parts];
    s->len = -1;
    return AT_OK;
}

int at_space_num_parts(const at_space *s) { return s ? s->num_parts : 0; }

int64_t at_space_part_begin(const at_space *s, int part) { return s->first[part]; }

const char *at_space_part_name(const at_space *s, int part) {
    return s->knobs[0]->options[part]->string;
}

const at_space *at_space_part(const at_space *s, int part) { return s->parts[part]; }
