/* tests/knobs/golden.c: see golden.h. */
#include "golden.h"
#include "tests/whole_file.h"

#include <string.h>

at_text at_printed;

const at_json *at_golden(at_arena *a, const char *name) {
    at_error err;
    char *text;
    size_t len;
    const at_json *v;
    if (read_whole(a, at_format(a, "tests/golden/%s", name), &text, &len, &err) != AT_OK ||
        at_json_parse(a, text, len, &v, &err) != AT_OK)
        fail_msg("%s: %s", name, err.text);
    return v;
}

static int64_t number(const at_json *knob, const char *key) {
    const at_json *v = at_json_get(knob, key);
    return v ? v->integer : 0;
}

static const char *string(const at_json *knob, const char *key) {
    const at_json *v = at_json_get(knob, key);
    return v ? v->string : NULL;
}

/* [[0, 1], [2]] as rows of 8, each ended by -1 where it is shorter. */
static const int (*rows(at_arena *a, const at_json *list, int *count))[8] {
    *count = list ? list->count : 0;
    int(*out)[8] = at_alloc(a, sizeof *out * (size_t)(*count + 1));
    for (int i = 0; i < *count; i++) {
        const at_json *row = at_json_at(list, i);
        memset(out[i], -1, sizeof out[i]);
        for (int j = 0; j < row->count; j++) out[i][j] = (int)at_json_at(row, j)->integer;
    }
    return (const int(*)[8])out;
}

static at_status declare_split(at_arena *a, at_space *s, const at_json *knob, at_error *err) {
    static const char *const names[] = {"factors", "power2", "verbose", "candidate"};
    at_split_options o = {.max_factor = number(knob, "max_factor"),
                          .filter = string(knob, "filter")};
    for (int i = 0; i < 4; i++)
        if (!strcmp(names[i], string(knob, "policy"))) o.policy = (at_policy)i;
    const at_json *no_tail = at_json_get(knob, "no_tail");
    if (no_tail) o.no_tail = no_tail->boolean ? 1 : -1;
    const int(*c)[8] = rows(a, at_json_get(knob, "candidate"), &o.num_candidates);
    int64_t(*sizes)[8] = at_alloc(a, sizeof *sizes * (size_t)(o.num_candidates + 1));
    for (int i = 0; i < o.num_candidates; i++)
        for (int j = 0; j < 8; j++) sizes[i][j] = c[i][j];
    o.candidate = (const int64_t(*)[8])sizes;
    return at_space_split(s, string(knob, "name"), number(knob, "axis"),
                          (int)number(knob, "num_outputs"), &o, err);
}

static at_status declare_reorder(at_arena *a, at_space *s, const at_json *knob, at_error *err) {
    at_reorder_options o = {.policy = string(knob, "policy")};
    const at_json *interval = at_json_get(knob, "interval");
    if (interval) {
        o.begin = (int)at_json_at(interval, 0)->integer;
        o.end = (int)at_json_at(interval, 1)->integer;
    }
    const int(*c)[8] = rows(a, at_json_get(knob, "candidate"), &o.num_candidates);
    int(*orders)[AT_REORDER_AXES] = at_alloc(a, sizeof *orders * (size_t)(o.num_candidates + 1));
    for (int i = 0; i < o.num_candidates; i++) memcpy(orders[i], c[i], sizeof c[i]);
    o.candidate = (const int(*)[AT_REORDER_AXES])orders;
    o.spatial = rows(a, at_json_get(knob, "spatial"), &o.num_spatial);
    o.reduce = rows(a, at_json_get(knob, "reduce"), &o.num_reduce);
    return at_space_reorder(s, string(knob, "name"), (int)number(knob, "num_axes"), &o, err);
}

at_status at_golden_declare(at_arena *a, at_space *s, const at_json *knob, at_error *err) {
    const char *kind = string(knob, "kind"), *name = string(knob, "name");
    if (!strcmp(kind, "split")) return declare_split(a, s, knob, err);
    if (!strcmp(kind, "reorder")) return declare_reorder(a, s, knob, err);
    if (!strcmp(kind, "annotate"))
        return at_space_annotate(s, name, (int)number(knob, "num_axes"), string(knob, "policy"),
                                 (int)number(knob, "num_anchor"), err);
    if (!strcmp(kind, "multi_filter")) return at_space_filter(s, string(knob, "expr"), err);
    return at_space_option(s, name, AT_PRINTED(a, at_json_print, at_json_get(knob, "candidate")),
                           err);
}

at_space *at_golden_space(at_arena *a, const at_json *knobs) {
    at_space *s = at_space_new(a);
    at_error err;
    for
        AT_EACH(knob, knobs)
    if (at_golden_declare(a, s, knob, &err) != AT_OK) fail_msg("%s", err.text);
    return s;
}
