/* records/choose.c: the best records of each of many keys, kept while logs go by. */
#include "records/records_int.h"

#include <string.h>

/* Finals are held among ten, and a final comes after its trials: so many of the best of each key
 * are kept until the end. */
enum { KEPT = 12 };

typedef struct kept {
    double mean_s;
    at_text line; /* as it will be written */
    const char *source;
    int64_t line_number;
} kept;

/* The best records of one task and context. */
typedef struct leaders {
    kept of[KEPT]; /* ascending by mean */
    int n;
    int64_t considered;
} leaders;

struct at_chooser {
    at_arena *arena, *scratch;
    bool by_target;
    at_key_map keys;
    AT_VEC(leaders) leaders; /* [keys] */
    at_finals finals;
    at_text key; /* of the record in hand */
};

at_chooser *at_chooser_new(bool by_target) {
    at_arena *a = at_arena_new();
    at_chooser *c = AT_NEW(a, at_chooser);
    *c = (at_chooser){
        .arena = a, .scratch = at_arena_new(), .by_target = by_target, .keys.arena = a};
    at_finals_init(&c->finals, a);
    return c;
}

void at_chooser_free(at_chooser *c) {
    for (int i = 0; i < c->leaders.len; i++)
        for (int j = 0; j < c->leaders.data[i].n; j++) at_text_free(&c->leaders.data[i].of[j].line);
    at_text_free(&c->key);
    at_arena_free(c->scratch);
    at_arena_free(c->arena);
}

at_finals *at_chooser_finals(at_chooser *c) { return &c->finals; }
int at_chooser_len(const at_chooser *c) { return c->leaders.len; }

/* ---- candidates ----------------------------------------------------------------------------- */

/* A record of ours tells its context. Of a foreign one only the target is known. */
static void print_key(at_chooser *c, const at_record *r) {
    bool ours = r->extra.present;
    at_text_clear(&c->key);
    if (ours) at_text_add(&c->key, r->extra.context_hash);
    at_text_add(&c->key, "\n");
    if (!ours || c->by_target) at_text_add(&c->key, r->target);
    at_text_add(&c->key, "\n");
    at_workload_identity(&c->key, r);
}

static void keep(leaders *l, const at_record *r, const char *source) {
    double mean_s = at_record_mean(r);
    int at = l->n;
    while (at > 0 && mean_s < l->of[at - 1].mean_s) at--;
    /* Copies of one measurement would crowd out the others. */
    if (at == KEPT || (at > 0 && r->extra.same_as >= 0 && mean_s == l->of[at - 1].mean_s)) return;
    kept last = l->of[KEPT - 1];
    if (l->n < KEPT) last = l->of[l->n++];
    memmove(l->of + at + 1, l->of + at, (size_t)(l->n - 1 - at) * sizeof *l->of);
    at_text_clear(&last.line); /* its memory serves again */
    l->of[at] = (kept){mean_s, last.line, source, r->line};
    at_record_print(&l->of[at].line, r);
}

void at_chooser_add_to(at_chooser *c, int key, const at_record *r, const char *source) {
    leaders *l = &c->leaders.data[key];
    l->considered++;
    keep(l, r, source);
}

int at_chooser_add(at_chooser *c, const at_record *r, const char *source) {
    if (!at_record_is_candidate(r)) return -1;
    print_key(c, r);
    int i = at_key_map_add(&c->keys, at_text_str(&c->key));
    if (i == c->leaders.len) *at_push(c->arena, &c->leaders) = (leaders){0};
    at_chooser_add_to(c, i, r, source);
    return i;
}

/* ---- the best of them ----------------------------------------------------------------------- */

const at_record *at_record_best(const at_record *const *records, int n) {
    const at_record *best = NULL, *in_final = NULL;
    for (int i = 0; i < n; i++) {
        const at_record *r = records[i];
        if (!at_record_is_candidate(r)) continue;
        if (!best || at_record_mean(r) < at_record_mean(best)) best = r;
        if (r->final_s > 0 && (!in_final || r->final_s < in_final->final_s)) in_final = r;
    }
    /* One that came after the last final has nothing but its mean. */
    return best && best->final_s > 0 ? in_final : best;
}

/* A copy that outlives the chooser. */
static void copy_pick(at_arena *a, const kept *k, const at_record *best, int64_t considered,
                      at_pick *out) {
    *out = (at_pick){.source = at_strdup(a, k->source), .considered = considered};
    at_status s = at_record_parse(a, k->line.data, k->line.len, &out->record, NULL);
    AT_ASSERT(s == AT_OK);
    out->record.line = k->line_number;
    out->record.final_s = best->final_s;
    out->record.final_peak_gflops = best->final_peak_gflops;
    out->record.num_finals = best->num_finals;
    out->record.finals_s =
        at_copy(a, best->finals_s, (size_t)best->num_finals * sizeof *best->finals_s);
}

void at_chooser_pick(at_chooser *c, int key, at_arena *a, at_pick *out) {
    const leaders *l = &c->leaders.data[key];
    at_record parsed[KEPT];
    const at_record *records[KEPT];
    int n = c->finals.of.len ? l->n : 1; /* without finals the first is the best */
    at_arena_reset(c->scratch);
    for (int i = 0; i < n; i++) {
        const kept *k = &l->of[i];
        at_status s = at_record_parse(c->scratch, k->line.data, k->line.len, &parsed[i], NULL);
        AT_ASSERT(s == AT_OK);
        at_finals_apply(&c->finals, &parsed[i]);
        records[i] = &parsed[i];
    }
    const at_record *best = at_record_best(records, n);
    const kept *k = &l->of[best - parsed];
    copy_pick(a, k, best, l->considered, out);
    at_text finals = {0};
    at_finals_print(&finals, &c->finals, best);
    out->finals = at_strdup(a, at_text_str(&finals));
    at_text_free(&finals);
}

void at_pick_print(at_text *out, const at_pick *p) {
    at_record_print(out, &p->record);
    if (p->finals) at_text_add(out, p->finals);
}
