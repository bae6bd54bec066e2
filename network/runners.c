/* network/runners.c: the next best configurations of a part by its trials. Alone they are nearly as
 * fast as the best; inside the network another one may be the fastest. */
#include <string.h>

#include "network/program.h"

enum { FEW = 2 /* of a way */ };
static const double most_behind = 1.1;

typedef struct runner {
    double mean_s;
    const char *config; /* as JSON */
} runner;

/* A choice whose configuration is the best of the log. */
typedef struct slot {
    int kernel, choice;
    double mean_s;
    const char *code;   /* hash; NULL: not known */
    const char *config; /* as JSON */
    runner of[FEW];
    int n;
} slot;

typedef struct slots {
    at_arena *arena, *scratch;
    at_key_map keys;
    AT_VEC(slot) of;
} slots;

/* Trials that are comparable: of one task, in one context. */
static const char *key_of(at_arena *a, const at_record *r) {
    return at_format(a, "%s\n%s\n%s", r->task, r->extra.context_hash, at_json_text(a, r->args));
}

static const char *config_of(at_arena *a, const at_config *c) {
    at_text text = {0};
    at_text_add(&text, "{\"entity\": ");
    at_config_print_entity(&text, c);
    at_text_add(&text, "}");
    return at_text_take(a, &text);
}

static slots slots_of(at_arena *a, const at_net_program *p) {
    slots s = {.arena = a, .scratch = at_arena_new(), .keys.arena = a};
    for (int i = 0; i < p->num_kernels; i++)
        for (int c = 0; c < p->kernels[i].num_choices; c++) {
            const at_record *r = p->kernels[i].choices[c].selection.record;
            if (!r || !r->extra.present) continue;
            if (at_key_map_add(&s.keys, key_of(a, r)) < s.of.len) continue;
            *at_push(a, &s.of) = (slot){.kernel = i,
                                        .choice = c,
                                        .mean_s = at_record_mean(r),
                                        .code = r->extra.code_hash,
                                        .config = config_of(a, &r->config)};
        }
    return s;
}

static void add(slots *s, const at_record *r) {
    if (!at_record_is_candidate(r) || at_record_is_at_least(r) || !r->extra.present ||
        r->extra.same_as >= 0)
        return;
    at_arena_reset(s->scratch);
    const int at = at_key_map_find(&s->keys, key_of(s->scratch, r));
    if (at < 0) return;
    slot *x = &s->of.data[at];
    const double mean_s = at_record_mean(r);
    const char *config = config_of(s->scratch, &r->config);
    const bool is_best = !strcmp(config, x->config) ||
                         (x->code && r->extra.code_hash && !strcmp(x->code, r->extra.code_hash));
    if (is_best || mean_s > most_behind * x->mean_s) return;
    for (int i = 0; i < x->n; i++)
        if (!strcmp(x->of[i].config, config)) return;
    int to = x->n < FEW ? x->n++ : FEW;
    for (; to > 0 && mean_s < x->of[to - 1].mean_s; to--)
        if (to < FEW) x->of[to] = x->of[to - 1];
    if (to < FEW) x->of[to] = (runner){mean_s, at_strdup(s->arena, config)};
}

static void add_choices(at_net_program *p, const slot *x) {
    at_net_kernel *k = &p->kernels[x->kernel];
    const at_net_choice best = k->choices[x->choice];
    for (int i = 0; i < x->n; i++) {
        at_net_choice c = best;
        if (at_net_config_of(p->arena, x->of[i].config, &c.selection) != AT_OK) continue;
        c.time_s = best.time_s * x->of[i].mean_s / x->mean_s;
        c.in_network_s = 0;
        if (k->num_choices < AT_NET_MOST_CHOICES) k->choices[k->num_choices++] = c;
    }
}

/* The first choice, which is compiled, stays. */
static void sort_others(at_net_kernel *k) {
    for (int i = 2; i < k->num_choices; i++)
        for (int j = i; j > 1 && k->choices[j].time_s < k->choices[j - 1].time_s; j--) {
            const at_net_choice c = k->choices[j];
            k->choices[j] = k->choices[j - 1], k->choices[j - 1] = c;
        }
}

at_status at_net_add_runners(at_net_program *p, const at_net_build *b, at_error *err) {
    at_log_reader *r;
    at_record record;
    AT_TRY(at_log_reader_open(b->log, NULL, NULL, &r, err));
    at_arena *a = at_arena_new();
    slots s = slots_of(a, p);
    while (at_log_reader_next(r, &record)) add(&s, &record);
    at_log_reader_close(r);
    for (int i = 0; i < s.of.len; i++) add_choices(p, &s.of.data[i]);
    for (int i = 0; i < p->num_kernels; i++) sort_others(&p->kernels[i]);
    at_arena_free(s.scratch);
    at_arena_free(a);
    return AT_OK;
}
