/* records/anchor_times.c: how long a trial took in a state: its ratio in that state times the links
 * of its anchor, and the first anchor's time, as #anchor lines have them. */
#include "records/records_int.h"

#include <string.h>

void at_anchor_times_init(at_anchor_times *t, at_arena *a) {
    *t = (at_anchor_times){.keys.arena = a};
}

/* r: task and args. */
static void print_key(at_text *out, const char *context_hash, const at_record *r, int number) {
    at_text_addf(out, "%s\n%d\n", context_hash, number);
    at_workload_identity(out, r);
}

void at_anchor_times_add(at_anchor_times *t, const char *comment) {
    at_arena *a = t->keys.arena;
    at_anchor_line l;
    at_mark mark = at_arena_mark(a);
    bool is_one = at_anchor_line_read(a, comment, &l);
    at_text key = {0};
    if (is_one)
        print_key(&key, l.context_hash, &(at_record){.task = l.task, .args = l.args}, l.number);
    at_arena_rewind(a, mark); /* only numbers are kept */
    if (is_one) {
        int i = at_key_map_add(&t->keys, at_text_str(&key));
        if (i == t->of.len) at_push(a, &t->of);
        at_anchor_scales *s = &t->of.data[i]; /* of several logs the last one that was read */
        s->of_first = l.of_first;
        s->first_s = l.first_s;
        memcpy(s->by, l.by, sizeof s->by);
    }
    at_text_free(&key);
}

static const at_anchor_scales *find(const at_anchor_times *t, const at_record *r) {
    if (!t->of.len) return NULL;
    at_text key = {0};
    print_key(&key, r->extra.context_hash, r, r->extra.pairs.anchor);
    int i = at_key_map_find(&t->keys, at_text_str(&key));
    at_text_free(&key);
    return i < 0 ? NULL : &t->of.data[i];
}

at_timed at_record_timed(const at_anchor_times *t, const at_record *r, at_objective o) {
    const at_paired *p = &r->extra.pairs;
    double mean_s = at_record_mean(r);
    if (!(p->of_first > 0)) return (at_timed){.time_s = mean_s, .is_in_state = !o};
    at_timed out = {mean_s, p->of_first, !o};
    if (!o || !*p->states) return out;
    int counting;
    double ratio = at_median_that_counts(p->ratios, p->states, p->num_ratios, o, &counting);
    const at_anchor_scales *s = find(t, r);
    out.is_in_state = counting > 0;
    if (!counting) return out;
    at_state state = at_objective_state(o);
    if (s && state && s->by[state].pairs) {
        out.of_first = ratio * s->by[state].of_first;
        out.time_s = out.of_first * s->by[state].first_s;
    } else { /* the link of any state */
        out.of_first = p->of_first / p->ratio * ratio;
        out.time_s = mean_s / p->ratio * ratio;
    }
    return out;
}
