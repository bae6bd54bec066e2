/* cli/cmd_space.c: what a template's space, or a sketch's, holds, and what indices of it mean. */
#include <string.h>

#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/open.h"

static const char *const kind_names[] = {[AT_KNOB_SPLIT] = "split",
                                         [AT_KNOB_REORDER] = "reorder",
                                         [AT_KNOB_ANNOTATE] = "annotate",
                                         [AT_KNOB_OPTION] = "option"};

/* "0,5435" as configurations. */
static at_status read_indices(at_session *s, const char *list, at_config **out, int *count,
                              at_error *err) {
    AT_VEC(at_config) configs = {0};
    while (list) {
        const char *comma = strchr(list, ',');
        char *word =
            comma ? at_strndup(s->arena, list, (size_t)(comma - list)) : at_strdup(s->arena, list);
        int64_t index;
        at_config config;
        AT_TRY(at_parse_int(word, "--index", 0, INT64_MAX, &index, err));
        if (at_config_at(s->arena, s->what.space, index, &config, err) != AT_OK)
            return at_fail_at(err, "--index: ");
        *at_push(s->arena, &configs) = config;
        list = comma ? comma + 1 : NULL;
    }
    *out = configs.data;
    *count = configs.len;
    return AT_OK;
}

/* What is shown: the task's space, or a sketch's, whose indices begin at `begin` of the task's. */
typedef struct shown_space {
    at_space *space;
    int64_t begin;
} shown_space;

static shown_space space_of(const at_session *s, const at_options *o) {
    int sketch = s->what.chosen.sketch;
    if (!o->request.sketch) return (shown_space){s->what.space, 0};
    return (shown_space){at_task_space(at_task_sketch(s->what.task, sketch)),
                         at_space_part_begin(s->what.space, sketch)};
}

static at_status print_json(const at_session *s, const shown_space *v, const at_config *configs,
                            int count, at_error *err) {
    at_out out = at_out_object();
    at_out_task(&out, s);
    at_out_int(&out, "len", at_space_len(v->space));
    at_out_int(&out, "range_begin", v->begin);
    at_out_int(&out, "range_length", at_space_range_length(v->space));
    at_out_begin(&out, "knobs", '[');
    for (int k = 0; k < at_space_num_knobs(v->space); k++) {
        at_out_begin(&out, NULL, '{');
        at_out_string(&out, "name", at_space_knob_name(v->space, k));
        at_out_string(&out, "kind", kind_names[at_space_knob_kind(v->space, k)]);
        at_out_string(&out, "policy", at_space_knob_policy(v->space, k));
        at_out_int(&out, "len", at_space_knob_len(v->space, k));
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    at_out_begin(&out, "entities", '[');
    for (int i = 0; i < count; i++) {
        at_out_begin(&out, NULL, '{');
        at_out_config(&out, &configs[i]);
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    return at_out_print(&out, err);
}

static at_status print_text(const at_session *s, const shown_space *v, const at_config *configs,
                            int count, at_error *err) {
    at_text out = {0};
    for (int i = 0; i < count; i++) {
        at_config_print_json(&out, &configs[i]);
        at_text_add(&out, "\n");
    }
    if (!count) {
        int64_t length = at_space_range_length(v->space);
        at_text_add_task(&out, s);
        at_text_addf(&out, "\n%s%lld configurations",
                     at_space_len_is_estimated(v->space) ? "about " : "",
                     (long long)at_space_len(v->space));
        if (v->space != s->what.space || at_space_len(v->space) != length)
            at_text_addf(&out, " among indices %lld to %lld", (long long)v->begin,
                         (long long)(v->begin + length) - 1);
        at_text_add(&out, "\n");
        for (int k = 0; k < at_space_num_knobs(v->space); k++) {
            at_text_addf(&out, "  %-12s ", at_space_knob_name(v->space, k));
            at_space_print_knob(&out, v->space, k);
            at_text_add(&out, "\n");
        }
    }
    return at_print(&out, err);
}

static at_status space(at_session *s, const at_options *o, at_error *err) {
    at_config *configs = NULL;
    int count = 0;
    if (o->request.sketch && o->index)
        return at_fail(err, AT_E_USAGE,
                       "--sketch %s goes alone: --index says which sketch it is of",
                       o->request.sketch);
    AT_TRY(at_open_task(o, s, err));
    shown_space v = space_of(s, o);
    if (o->index) AT_TRY(read_indices(s, o->index, &configs, &count, err));
    return o->json ? print_json(s, &v, configs, count, err)
                   : print_text(s, &v, configs, count, err);
}

at_status at_cmd_space(const at_options *o, at_error *err) {
    at_session s = {0};
    at_status status = space(&s, o, err);
    at_session_close(&s);
    return status;
}
