/* records/summary.c: what is in a log, task by task, in memory that grows with the tasks only. */
#include "records/records_int.h"

#include <string.h>

typedef struct reading {
    at_arena *arena; /* of the summary */
    at_key_map keys;
    AT_VEC(at_log_group) groups; /* [keys] */
    AT_VEC(int) chosen;          /* [groups], key of the chooser; -1: none */
    at_chooser *chooser;
    const char *path;
    at_pick_fn *use;
    void *use_ctx;
    at_text text;
} reading;

at_context at_context_copy(at_arena *a, const at_context *c) {
    at_context copy = *c;
    copy.cpu = at_strdup(a, c->cpu);
    copy.machine = at_strdup(a, c->machine);
    copy.isa = at_strdup(a, c->isa);
    copy.compiler = at_strdup(a, c->compiler);
    copy.packing = at_strdup(a, c->packing);
    copy.cache = at_strdup(a, c->cache);
    copy.pattern = at_strdup(a, c->pattern);
    copy.template_hash = at_strdup(a, c->template_hash);
    return copy;
}

bool at_log_group_is_changed(const at_log_group *g, const char *template_hash) {
    return g->ours && at_context_is_of_other_template(&g->context, template_hash);
}

static int group_of(reading *s, const at_record *r) {
    at_text_clear(&s->text);
    at_record_competition(&s->text, r);
    int i = at_key_map_add(&s->keys, at_text_str(&s->text));
    if (i < s->groups.len) return i;
    at_log_group *g = at_push(s->arena, &s->groups);
    *g = (at_log_group){.task = at_strdup(s->arena, r->task),
                        .target = at_strdup(s->arena, r->target),
                        .args = at_json_copy(s->arena, r->args),
                        .ours = r->extra.present,
                        .context = at_context_copy(s->arena, &r->extra.context),
                        .first_s = r->timestamp_s,
                        .last_s = r->timestamp_s};
    memcpy(g->context_hash, r->extra.context_hash, sizeof g->context_hash);
    *at_push(s->arena, &s->chosen) = -1;
    return i;
}

static void count_failure(reading *s, at_log_failures *f, const at_record *r) {
    if (!f->count++) {
        f->line = r->line;
        f->text = at_strdup(s->arena, r->extra.error ? r->extra.error : "");
    } else if (!*f->text && r->extra.error && *r->extra.error) { /* the first one that says more */
        f->line = r->line;
        f->text = at_strdup(s->arena, r->extra.error);
    }
}

static void add(reading *s, const at_record *r) {
    int i = group_of(s, r);
    at_log_group *g = &s->groups.data[i];
    const bool is_trial = at_record_is_trial(r);
    g->trials += is_trial;
    g->anchors += !is_trial;
    g->spent_s += r->all_cost_s;
    if (r->timestamp_s < g->first_s) g->first_s = r->timestamp_s;
    if (r->timestamp_s > g->last_s) g->last_s = r->timestamp_s;
    if (r->extra.same_as >= 0) g->copies++;
    const at_standing standing = at_record_standing(r);
    if (standing == AT_STANDING_FAILED || standing == AT_STANDING_UNCHECKED) {
        int kind = r->error_no < AT_NUM_FAILURES ? r->error_no : AT_NUM_FAILURES - 1;
        count_failure(s, &g->failures[kind], r);
        return;
    }
    g->valid += is_trial;
    if (standing == AT_STANDING_BEHIND) {
        g->at_least += is_trial;
        return;
    }
    if (s->use && !s->use(s->use_ctx, s->path, r)) {
        at_chooser_refuse(s->chooser, r);
        return;
    }
    if (s->chosen.data[i] < 0) s->chosen.data[i] = at_chooser_add(s->chooser, r);
    else at_chooser_add_to(s->chooser, s->chosen.data[i], r);
    double mean_s = at_record_mean(r);
    if (!g->steps.len || mean_s < g->steps.data[g->steps.len - 1].mean_s)
        *at_push(s->arena, &g->steps) = (at_log_step){g->trials, r->line, mean_s};
}

static at_status read_log(reading *s, at_warn_fn *warn, void *ctx, at_log_summary *out,
                          at_error *err) {
    at_log_reader *reader;
    AT_TRY(at_log_reader_open(s->path, warn, ctx, &reader, err));
    at_log_reader_on_comment(reader, at_chooser_comment, s->chooser);
    at_chooser_begin(s->chooser, s->path);
    at_log_reader_watch(reader, s->arena, 2 * AT_KEPT_MIB); /* it holds more of each */
    at_chooser_limit(s->chooser, reader);
    for (at_record r; at_log_reader_next(reader, &r);) add(s, &r);
    at_status status = at_log_reader_status(reader, err);
    out->stats = *at_log_reader_stats(reader);
    if (status == AT_OK) status = at_log_reader_needs_records(reader, err);
    at_log_reader_close(reader);
    return status == AT_OK ? at_chooser_settle(s->chooser, err) : status;
}

at_status at_log_summarise(at_arena *a, const char *path, at_pick_fn *use, void *use_ctx,
                           at_warn_fn *warn, void *ctx, at_log_summary *out, at_error *err) {
    at_arena *keys = at_arena_new();
    reading s = {.arena = a,
                 .keys.arena = keys,
                 .chooser = at_chooser_new(false, AT_OBJECTIVE_NONE),
                 .path = path,
                 .use = use,
                 .use_ctx = use_ctx};
    *out = (at_log_summary){0};
    at_status status = read_log(&s, warn, ctx, out, err);
    for (int i = 0; i < s.groups.len; i++) {
        at_log_group *g = &s.groups.data[i];
        if (!i || g->first_s < out->first_s) out->first_s = g->first_s;
        if (!i || g->last_s > out->last_s) out->last_s = g->last_s;
        if (s.chosen.data[i] < 0) continue;
        at_pick *best = AT_NEW(a, at_pick);
        if (at_chooser_pick(s.chooser, s.chosen.data[i], a, best)) g->best = best;
    }
    out->groups = s.groups.data;
    out->num_groups = s.groups.len;
    at_chooser_free(s.chooser);
    at_text_free(&s.text);
    at_arena_free(keys);
    return status;
}
