/* knobs/domains.c: knobs get their values one after the other. What is left of a condition with one
 * open knob says at once which values that knob can have; of one with more it is asked whether it
 * can hold at all. */
#include "knobs/knobs_int.h"

#include <stdlib.h>
#include <string.h>

void at_domains_begin(at_domains *d, const at_space *s) {
    const size_t num = (size_t)s->num_knobs + 1;
    size_t values = 1;
    for (int k = 0; k < s->num_knobs; k++) values += (size_t)s->knobs[k]->count;
    *d = (at_domains){.space = s};
    d->digits = malloc(sizeof *d->digits * num);
    d->left = malloc(sizeof *d->left * num);
    d->live = malloc(sizeof *d->live * num);
    d->removed = malloc(sizeof *d->removed * 2 * values);
    bool *all = malloc(values);
    AT_NEED(d->digits && d->left && d->live && d->removed && all);
    for (int k = 0; k < s->num_knobs; k++) {
        const size_t count = (size_t)s->knobs[k]->count;
        const bool *allowed = s->allowed ? s->allowed[k] : NULL;
        d->digits[k] = -1;
        d->live[k] = all;
        d->left[k] = allowed ? 0 : (int64_t)count;
        if (allowed) memcpy(all, allowed, count);
        else memset(all, true, count);
        for (size_t i = 0; allowed && i < count; i++) d->left[k] += allowed[i];
        all += count;
    }
    d->live[s->num_knobs] = all; /* behind the last */
}

void at_domains_end(at_domains *d) {
    free(d->live[0]);
    free(d->removed);
    free(d->live);
    free(d->left);
    free(d->digits);
}

static void take_out(at_domains *d, int knob, int64_t value) {
    d->live[knob][value] = false;
    d->left[knob]--;
    d->removed[2 * d->num_removed] = knob;
    d->removed[2 * d->num_removed + 1] = value;
    d->num_removed++;
}

void at_domains_undo(at_domains *d, int knob, int64_t num_removed) {
    d->digits[knob] = -1;
    while (d->num_removed > num_removed) {
        d->num_removed--;
        const int64_t other = d->removed[2 * d->num_removed];
        d->live[other][d->removed[2 * d->num_removed + 1]] = true;
        d->left[other]++;
    }
}

/* All other knobs of the condition have a value. */
static void filter(at_domains *d, const at_requirement *q, int open) {
    const int64_t count = d->space->knobs[open]->count;
    int64_t values[AT_LANES], v = 0;
    bool holds[AT_LANES];
    while (v < count) {
        int n = 0;
        for (; v < count && n < AT_LANES; v++)
            if (d->live[open][v]) values[n++] = v;
        at_requirement_lanes(q, d->digits, open, values, n, holds, &d->work);
        for (int i = 0; i < n; i++)
            if (!holds[i]) take_out(d, open, values[i]);
    }
}

bool at_domains_set(at_domains *d, int knob, int64_t digit) {
    const at_space *s = d->space;
    d->digits[knob] = digit;
    if (!d->live[knob][digit]) return false;
    for (int c = 0; c < s->requires.len; c++) {
        const at_requirement *q = &s->requires.data[c];
        bool reads = false;
        int open = -1, num_open = 0;
        for (int i = 0; i < q->knobs.len; i++) {
            const int k = q->knobs.data[i];
            reads |= k == knob;
            if (d->digits[k] < 0) open = k, num_open++;
        }
        if (!reads || !num_open) continue;
        d->work += 20;
        if (num_open == 1) filter(d, q, open);
        if (num_open == 1 ? !d->left[open] : !at_requirement_can_hold(q, d->digits)) return false;
    }
    return true;
}
