/* cost/estimate_touch.c: the lines that an access touches in the loops from one on. */
#include "cost/estimate_int.h"

#include <math.h>

enum { LINE = 16 }; /* elements */

typedef struct wide { /* a dimension of several elements */
    int dim;
    double limit, stride, places; /* as the access has them */
    double extent, count;         /* from the first element touched to the last; elements at most */
    double touched;               /* elements: rows that are left out are not touched */
    double run, gap, runs;        /* rows in a row, and from one such run to the next; 0: one run */
} wide;

static int set_wide(const est_access *a, wide *w) { /* the fastest first */
    int n = 0;
    const est_buffer *b = a->buffer;
    for (int d = a->num_dims - 1; d >= 0; d--)
        if (b->limit[d] > 1)
            w[n++] = (wide){d, b->limit[d], (double)b->stride[d], b->places[d], 1, 1, 1, 1, 0, 1};
    return n;
}

/* Rows of a dimension in another loop of so many turns, the last one `reach` away, some of which
 * are left out. Returns the turns until some are the same again, else 1. */
static int add_rows(wide *d, double reach, double turns) {
    enum { LOOKED_AT = 8 };
    int skip = 1;
    const double step = reach / (turns - 1);
    const bool even = step == (double)(int64_t)step;
    if (even && !(d->gap > 0)) d->gap = step, d->runs = turns;
    else if (even && fmod(step, d->gap) == 0) d->runs += step / d->gap * (turns - 1);
    else if (even && d->run + reach < d->gap) d->run += reach;
    else {
        for (int m = 1; even && m <= LOOKED_AT; m++) {
            double off = fmod(m * step, d->gap);
            if (m * step >= d->gap * d->runs) break;
            skip = m;
            if (off < d->run || d->gap - off < d->run) break;
        }
        d->run += reach + (d->gap > 0 ? d->gap * (d->runs - 1) : 0);
        d->gap = 0;
    }
    return skip;
}

/* Lines of rows of so many elements, in the mean of where they may begin. steps: all bits of the
 * steps that lie between two of them. */
static double lines_of(double rows, double row, uint64_t steps) {
    int64_t begins = (int64_t)((steps | LINE) & (~(steps | LINE) + 1)); /* at multiples of this, */
    int64_t whole = (int64_t)row;                                       /* a power of two */
    whole += (double)whole < row;
    whole = (whole + begins - 1) & -begins;
    return rows * ((double)(whole - begins) / LINE + 1);
}

/* Share of rows that many elements apart which begin within a line, where each is longer than one.
 */
static double within_line(double stride) {
    if (stride <= LINE) return 0;
    const uint64_t bits = (uint64_t)stride | LINE;
    return 1 - (double)(bits & (~bits + 1)) / LINE;
}

/* What loops from i on touch. steps: all bits of the steps that the access takes around. */
static void touch_from(est_access *a, int i, const wide *w, int num, uint64_t steps) {
    double elements = 1, run = 1, places = 1, rows = 1, row = 1, joints = 0;
    bool whole = true;
    for (const wide *d = w; d < w + num; d++) {
        double n = d->touched < d->limit ? d->touched : d->limit;
        elements *= n;
        if (whole) run *= n;
        else places *= n < d->places ? n : d->places;
        whole &= n >= d->limit;
        if (n <= 1) continue;
        if (rows == 1 && (d->stride <= row || d->stride <= LINE)) {
            if (row > 1) joints = joints * n + (n - 1) * within_line(d->stride);
            row += (n - 1) * d->stride;
        } else {
            rows *= n;
            steps |= (uint64_t)d->stride;
        }
    }
    a->lines[i] = lines_of(rows, row, steps);
    a->joints[i] = joints * rows;
    a->crowd[i] = elements * 4;
    if (places * run * 4 >= WAY_BYTES || places * run >= elements) return; /* nor with lines */
    double bytes = run > 16 ? run * 4 : 64, apart = elements / run;
    if (places >= apart || places * bytes >= WAY_BYTES) return;
    a->piles_up |= apart / places * WAY_BYTES > a->crowd[i];
    a->crowd[i] = apart / places * WAY_BYTES;
}

void est_touch(est_leaf *x) {
    const int n = x->num_loops;
    for (est_access *a = x->access; a < x->access + x->num_accesses; a++) {
        uint64_t steps[MAX_LOOPS + 1];
        wide w[MAX_DIMS];
        if (a->in_registers) continue;
        const int num = set_wide(a, w);
        a->moves = 0;
        a->piles_up = false;
        steps[0] = 0;
        for (int i = 0; i < n; i++) steps[i + 1] = steps[i] | (uint64_t)a->step[i];
        touch_from(a, n, w, num, steps[n]);
        for (int i = n - 1; i >= 0; i--) {
            bool moves = false;
            a->skip[i] = 1;
            for (wide *d = w; d < w + num && a->moved[i]; d++) {
                double reach = a->reach[i][d->dim];
                if (!(reach > 0)) continue;
                moves = true;
                double turns = x->loop[i].turns;
                if (d->stride < LINE || (!(d->gap > 0) && reach <= d->run * (turns - 1)))
                    d->run += reach;
                else {
                    int skip = add_rows(d, reach, ceil(turns));
                    if (skip > a->skip[i]) a->skip[i] = (uint8_t)skip;
                }
                d->count *= turns;
                d->extent += reach;
                bool apart = d->stride >= LINE && d->count < d->extent;
                d->touched = apart ? d->count : d->extent;
            }
            if (moves) a->moves |= 1u << i;
            if (moves || steps[i] != steps[i + 1]) touch_from(a, i, w, num, steps[i]);
            else { /* the same again */ a->lines[i] = a->lines[i + 1];
                a->joints[i] = a->joints[i + 1];
                a->crowd[i] = a->crowd[i + 1];
            }
        }
    }
}
