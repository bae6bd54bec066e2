/* records/anchor_line.c: comment lines that tell what the trials behind them are timed against:
 *
 *     #anchor {"task": ..., "args": [...], "context_hash": "...", "index": 7, "entity": [...],
 *              "code_hash": "...", "number": 1, "linked_to": 0, "links": 1, "pairs": 200,
 *              "link": -0.69, "link_error": 0.002, "of_first": 0.5,
 *              "of_first_error": 0.002, "first": "...",
 *              "first_s": 0.0014, "state": "alone",
 *              "states": {"alone": {"pairs": 200, "link": ..., "link_error": ..., "of_first": ...,
 *                                   "first_s": ...}, ...}}
 *
 * With workers elsewhere also "second", "second_error" and "second_code": how far the first of the
 * chain is from a second kernel, which tells whether two machines have the same ratios.
 */
#include "records/records_int.h"

#include <math.h>
#include <string.h>

/* What is beyond is nobody's measurement: the line does not count. */
static const double tiny = 1e-12, most = 1e9;
static const int64_t most_count = 1000000000;

static bool int_in(const at_json *v, const char *name, int64_t least, int64_t *out) {
    const at_json *m = at_json_get(v, name);
    if (!m || !m->is_int || m->integer < least || m->integer > most_count) return false;
    *out = m->integer;
    return true;
}

static bool number_in(const at_json *v, const char *name, double least, double *out) {
    const at_json *m = at_json_get(v, name);
    if (!m || m->kind != AT_JSON_NUMBER || !(m->number >= least && m->number <= most)) return false;
    *out = m->number;
    return true;
}

static at_state state_named(const char *name) {
    for (int i = 0; name && i < AT_STATE_COUNT; i++)
        if (!strcmp(name, at_state_name((at_state)i))) return (at_state)i;
    return AT_STATE_UNKNOWN;
}

/* What is not whole is left out. */
static void read_scales(const at_json *v, at_scale by[AT_STATE_COUNT]) {
    for (int i = 0; i < AT_STATE_COUNT; i++) {
        const at_json *of = at_json_get(v, at_state_name((at_state)i));
        int64_t pairs;
        at_scale x = {0};
        if (int_in(of, "pairs", 1, &pairs) && number_in(of, "of_first", tiny, &x.of_first) &&
            number_in(of, "first_s", tiny, &x.first_s) && number_in(of, "link", -1e3, &x.link) &&
            number_in(of, "link_error", 0, &x.link_error))
            x.pairs = (int)pairs;
        if (x.pairs) by[i] = x;
    }
}

bool at_anchor_line_read(at_arena *a, const char *comment, at_anchor_line *out) {
    at_comment c;
    int64_t number, links, linked_to = -1, pairs = 0, index = -1;
    if (!at_comment_read(a, comment, "anchor", &c)) return false;
    const at_json *v = c.value;
    *out = (at_anchor_line){.task = c.task,
                            .context_hash = c.context_hash,
                            .code_hash = at_json_string_in(v, "code_hash"),
                            .first = at_json_string_in(v, "first"),
                            .args = c.args,
                            .entity = at_json_get(v, "entity"),
                            .state = state_named(at_json_string_in(v, "state"))};
    if (!out->code_hash || !out->first || !out->entity || !int_in(v, "number", 0, &number) ||
        !int_in(v, "links", 0, &links) || !number_in(v, "of_first", tiny, &out->of_first) ||
        !number_in(v, "first_s", tiny, &out->first_s))
        return false;
    int_in(v, "index", 0, &index);
    if (!number_in(v, "peak_gflops", tiny, &out->peak_gflops)) out->peak_gflops = 0;
    if (links && (!int_in(v, "linked_to", 0, &linked_to) || !int_in(v, "pairs", 1, &pairs) ||
                  !number_in(v, "link", -1e3, &out->link) ||
                  !number_in(v, "link_error", 0, &out->link_error)))
        return false;
    /* Where it is not said, as in older logs: each link may be as unsure as the last one. */
    if (!number_in(v, "of_first_error", 0, &out->of_first_error))
        out->of_first_error = (double)links * out->link_error;
    read_scales(at_json_get(v, "states"), out->by);
    const char *second_code = at_json_string_in(v, "second_code");
    out->second_code = "";
    if (second_code && number_in(v, "second", -1e3, &out->second) &&
        number_in(v, "second_error", 0, &out->second_error))
        out->second_code = second_code;
    out->index = index;
    out->number = (int)number;
    out->links = (int)links;
    out->linked_to = (int)linked_to;
    out->pairs = (int)pairs;
    return true;
}

static void add_text(at_text *out, const char *name, const char *value) {
    at_text_addf(out, ", \"%s\": ", name);
    at_text_add_json_string(out, value);
}

static void add_number(at_text *out, const char *name, double value) {
    at_text_addf(out, ", \"%s\": ", name);
    at_text_add_double(out, value);
}

static void add_scales(at_text *out, const at_scale by[AT_STATE_COUNT]) {
    const char *comma = ", \"states\": {";
    for (int i = 0; i < AT_STATE_COUNT; i++) {
        if (!by[i].pairs) continue;
        at_text_addf(out, "%s\"%s\": {\"pairs\": %d", comma, at_state_name((at_state)i),
                     by[i].pairs);
        add_number(out, "link", by[i].link);
        add_number(out, "link_error", by[i].link_error);
        add_number(out, "of_first", by[i].of_first);
        add_number(out, "first_s", by[i].first_s);
        at_text_add(out, "}");
        comma = ", ";
    }
    if (comma[2] != '"') at_text_add(out, "}");
}

void at_anchor_line_print(at_text *out, const at_anchor_line *l) {
    at_comment_begin(out, "anchor", l->task, l->args, l->context_hash);
    at_text_addf(out, ", \"index\": %lld, \"entity\": ", (long long)l->index);
    at_config_print_entity(out, l->config);
    add_text(out, "code_hash", l->code_hash);
    at_text_addf(out, ", \"number\": %d, \"links\": %d", l->number, l->links);
    if (l->links) {
        at_text_addf(out, ", \"linked_to\": %d, \"pairs\": %d", l->linked_to, l->pairs);
        add_number(out, "link", l->link);
        add_number(out, "link_error", l->link_error);
    }
    add_number(out, "of_first", l->of_first);
    if (l->links) add_number(out, "of_first_error", l->of_first_error);
    add_text(out, "first", l->first);
    add_number(out, "first_s", l->first_s);
    if (l->peak_gflops > 0) add_number(out, "peak_gflops", l->peak_gflops);
    add_text(out, "state", at_state_name(l->state));
    add_scales(out, l->by);
    if (l->second_code && *l->second_code) {
        add_text(out, "second_code", l->second_code);
        add_number(out, "second", l->second);
        add_number(out, "second_error", l->second_error);
    }
    at_text_add(out, "}");
}
