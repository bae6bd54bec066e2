/* cost/estimate_memory.c: the lines that an access touches in the loops from one on, and what comes
 * from beyond each level of the caches; vectors of a sum that come from beyond the second one, as a
 * network's weights do in every run, and its outputs. */
#include <math.h>
#include <string.h>

#include "codegen/weight_blocks.h"
#include "cost/estimate_tile_int.h"

/* ---- touched lines --------------------------------------------------------------------------- */

typedef struct wide { /* a dimension of several elements */
    int dim;
    double limit, stride, places; /* as the access has them */
    double extent, count;         /* from the first element touched to the last; elements at most */
    double touched;               /* elements, without those of rows that are left out */
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

/* Lines, of so many elements each, of rows of so many, in the mean of where they may begin. steps:
 * all bits of the steps that lie between two of them. */
static double lines_of(double rows, double row, uint64_t steps, int64_t line) {
    const uint64_t bits = steps | (uint64_t)line;
    int64_t begins = (int64_t)(bits & (~bits + 1)); /* at multiples of this, */
    int64_t whole = (int64_t)row;                   /* a power of two */
    whole += (double)whole < row;
    whole = (whole + begins - 1) & -begins;
    return rows * ((double)(whole - begins) / (double)line + 1);
}

/* Share of rows that many elements apart which begin within a line, where each is longer than one.
 */
static double within_line(double stride, int64_t line) {
    if (stride <= (double)line) return 0;
    const uint64_t bits = (uint64_t)stride | (uint64_t)line;
    return 1 - (double)(bits & (~bits + 1)) / (double)line;
}

/* What loops from i on touch. steps: all bits of the steps that the access takes around. */
static void touch_from(est_access *a, int i, const wide *w, int num, uint64_t steps) {
    double elements = 1, run = 1, places = 1, most = 1, rows = 1, row = 1, joints = 0;
    const int64_t line = est_line(a->buffer);
    const double each = (double)a->buffer->bytes;
    bool whole = true;
    for (const wide *d = w; d < w + num; d++) {
        double n = d->touched < d->limit ? d->touched : d->limit;
        elements *= n;
        if (whole) run *= n;
        else places *= n < d->places ? n : d->places;
        if (!whole && n > 1) most = est_max(most, d->places);
        whole &= n >= d->limit;
        if (n <= 1) continue;
        if (rows == 1 && (d->stride <= row || d->stride <= (double)line)) {
            if (row > 1) joints = joints * n + (n - 1) * within_line(d->stride, line);
            row += (n - 1) * d->stride;
        } else {
            rows *= n;
            steps |= (uint64_t)d->stride;
        }
    }
    a->lines[i] = lines_of(rows, row, steps, line);
    a->joints[i] = joints * rows;
    a->crowd[i] = elements * each;
    places = est_min(places, most); /* coarse steps have some of those of fine ones */
    if (places * run * each >= WAY_BYTES || places * run >= elements) return; /* nor with lines */
    double bytes = est_max(run * each, EST_LINE_BYTES), apart = elements / run;
    if (places >= apart || places * bytes >= WAY_BYTES) return;
    a->piles_up |= apart / places * WAY_BYTES > a->crowd[i];
    a->crowd[i] = apart / places * WAY_BYTES;
}

static void touch(est_leaf *x) {
    const int n = x->num_loops;
    for (est_access *a = x->access; a < x->access + x->num_accesses; a++) {
        uint64_t steps[MAX_LOOPS + 1];
        wide w[MAX_DIMS];
        if (a->in_registers) continue;
        const int num = set_wide(a, w);
        const double line = (double)est_line(a->buffer);
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
                if (d->stride < line || (!(d->gap > 0) && reach <= d->run * (turns - 1)))
                    d->run += reach;
                else {
                    int skip = add_rows(d, reach, ceil(turns));
                    if (skip > a->skip[i]) a->skip[i] = (uint8_t)skip;
                }
                d->count *= turns;
                d->extent += reach;
                bool apart = d->stride >= line && d->count < d->extent;
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

/* Of a matrix on one side of a diagonal, the other side is not touched. */
static void leave_out(est_leaf *x, est_access *a) {
    const int n = x->num_loops;
    for (int i = 0; i <= n; i++) {
        const double share = x->terms->num_borders ? est_share_of_lines(x, a, i) : 1;
        a->counted[i] = share;
        a->lines[i] = est_max(share * a->lines[i], est_min(1, a->lines[i]));
        a->joints[i] *= share;
        a->crowd[i] *= share;
    }
}

void est_touch(est_leaf *x) {
    touch(x);
    for (est_access *a = x->access; a < x->access + x->num_accesses; a++)
        if (!a->in_registers) leave_out(x, a);
}

/* ---- caches ---------------------------------------------------------------------------------- */

/* Of a tensor that several accesses of a leaf touch the largest counts, as of one that several
 * other leaves touch. */
static void touch_by(const at_estimator *e, const est_leaf *x, touched *t) {
    enum { OWN = MAX_LOOPS + 1 };
    int8_t *shared_by = e->shared_by; /* of a tensor: loops shared with who counts it */
    memset(shared_by, 0, sizeof *shared_by * (size_t)e->compute->num_tensors);
    t->num_beside = 0;
    for (int i = 0; i <= x->num_loops; i++) t->own[i] = 0;
    for (int k = 0; k < x->num_accesses; k++) {
        const est_access *a = &x->access[k];
        int before = k;
        t->together[k] = 0;
        while (--before >= 0 && x->access[before].tensor != a->tensor) {
        }
        for (int i = 0; i <= x->num_loops && !a->in_registers; i++) {
            double bytes = est_bytes(a, i, false);
            if (before >= 0) bytes = est_max(0, bytes - est_bytes(&x->access[before], i, false));
            t->own[i] += bytes;
        }
        shared_by[a->tensor] = OWN;
    }
    for (int m = 0; m < e->num_leaves; m++) {
        const est_leaf *y = &e->leaf[m];
        int shared = m == x->place ? 0 : est_common(e, x, y), n = t->num_beside;
        if (!shared) continue;
        int within = shared; /* loops around what comes between touches of the leaf */
        while (y == x->end && within < x->num_loops && x->loop[within].is_part) within++;
        t->beside[n].shared = within;
        for (int i = 0; i <= within; i++) t->beside[n].bytes[i] = 0;
        for (int k = 0; k < y->num_accesses; k++) {
            const est_access *a = &y->access[k];
            for (int j = 0; j < x->num_accesses && shared_by[a->tensor] == OWN; j++)
                if (x->access[j].tensor == a->tensor && t->together[j] < shared)
                    t->together[j] = shared;
            if (a->in_registers || shared_by[a->tensor] >= shared) continue;
            shared_by[a->tensor] = (int8_t)shared;
            for (int i = 0; i <= shared; i++) t->beside[n].bytes[i] += est_bytes(a, i, false);
        }
        for (int i = shared; i < within; i++)
            t->beside[n].bytes[i + 1] = t->beside[n].bytes[i] / x->loop[i].turns;
        t->num_beside++;
    }
    memcpy(t->all, t->own, sizeof *t->own * (size_t)(x->num_loops + 1));
    for (int m = 0; m < t->num_beside; m++)
        for (int i = 0; i < t->beside[m].shared; i++) t->all[i] += t->beside[m].bytes[i];
}

/* Has another access of this leaf touched the same, or a leaf before this one in the same turn of a
 * loop around both, and does the cache hold what all leaves touch in such a turn? */
static bool just_touched(const at_estimator *e, const est_leaf *x, const est_access *a,
                         const touched *t, double size, bool piled) {
    for (const est_access *b = x->access; b < a; b++)
        if (b->tensor == a->tensor && b->lines[0] == a->lines[0] &&
            !memcmp(b->step, a->step, sizeof *a->step * (size_t)x->num_loops))
            return true;
    for (const est_leaf *y = e->leaf; y < e->leaf + x->place; y++) {
        int shared = est_common(e, x, y);
        bool same = false;
        for (int k = 0; k < y->num_accesses && shared; k++)
            same |= y->access[k].tensor == a->tensor && !y->access[k].in_registers &&
                    y->access[k].lines[shared] >= a->lines[shared];
        if (!same) continue;
        double sum = t->own[shared];
        if (piled) sum += est_max(0, est_bytes(a, shared, true) - est_bytes(a, shared, false));
        for (int m = 0; m < t->num_beside; m++)
            if (t->beside[m].shared >= shared) sum += t->beside[m].bytes[shared];
        if (sum <= size) return true;
    }
    return false;
}

/* Lines that the leaf before this one has touched in the same turn of the loops around both, and
 * that the cache still holds: the last lines of that turn, where the cache is too small for all.
 * They leave the cache one after the other, while the leaf reads its lines in an order of its own.
 * All turns of the loops from `once` on touch such lines anew. A leaf that is cut into the parts of
 * a tile counts no such lines. */
static double still_there(const at_estimator *e, const est_leaf *x, const est_access *a,
                          const touched *t, double size, int once) {
    enum { MOMENTS = 8 };
    if (!x->place || x == &e->cut) return 0;
    const est_leaf *y = &e->leaf[x->place - 1];
    const int shared = est_common(e, x, y);
    double before = 0, share = 0;
    bool same = false;
    int from = shared; /* the loops that go through the access once */
    for (int k = 0; shared && once >= shared && k < y->num_accesses; k++) {
        const est_access *b = &y->access[k];
        if (b->in_registers) continue;
        before += est_bytes(b, shared, false);
        same |= b->tensor == a->tensor && b->lines[shared] >= a->lines[shared];
    }
    if (!same) return 0;
    while (from < x->num_loops && !(a->moves >> from & 1)) from++;
    for (int i = 0; i < MOMENTS; i++) {
        const double read = (i + 0.5) / MOMENTS;
        const double left = before - read * est_bytes(a, shared, false);
        if (left > 0) share += est_min(1, est_max(0, size - read * t->own[from]) / left) / MOMENTS;
    }
    return share * a->lines[shared] * t->turns[shared];
}

/* Levels whose places an address decides. Of the second one the lower bits do, too; those above are
 * its page's, which lie anywhere, so that what piles up within a page does so in each. */
enum { MOST_PILED = 1 };
/* Some places fill sooner, since pages lie anywhere: of 16 ways with 16 places for pages, 0.86 of
 * what is read again and again is found where it is so large, 0.47 where it is as large as all. */
static const double L2_SHARE = 0.75;

static double size_of(const at_estimator *e, int level) {
    return (double)e->o.cache_bytes[level] * (level == 1 ? L2_SHARE : 1);
}

void est_touched_by_all(at_estimator *e) {
    double lines = 0, piled = 0, size = 0;
    unsigned levels = 0;
    for (int m = 0; m < e->num_leaves; m++)
        for (int k = 0; k < e->leaf[m].num_accesses; k++) {
            const est_access *a = &e->leaf[m].access[k];
            if (a->in_registers) continue;
            lines += est_bytes(a, 0, false);
            piled += est_bytes(a, 0, true);
        }
    for (int level = 0; level < 3; level++) {
        size += size_of(e, level);
        if (!e->o.cache_bytes[level]) continue;
        if ((level <= MOST_PILED ? piled : lines) <= size) break;
        levels |= 1u << level;
    }
    e->levels = levels;
}

/* Cores bring lines in pairs. Is the other line of a pair written only when the nearest cache holds
 * neither any more? */
static bool is_single(const at_estimator *e, const est_leaf *x, const est_access *a) {
    const double pair = 2 * (double)est_line(a->buffer);
    double run = 1;
    for (int i = x->num_loops - 1; i >= 0; i--) {
        if (!a->step[i] || (double)a->step[i] > run) continue;
        run *= x->loop[i].turns;
        if (run >= pair) return est_bytes(a, i + 1, true) > (double)e->o.cache_bytes[0];
    }
    return false;
}

static double vectors_of_line(const at_estimator *e) {
    return EST_LINE_BYTES / (4.0 * e->o.target->lanes);
}

/* What a line from the second level takes that comes between loads which multiply-adds have of
 * their own: what vectors of a tile of one take longer from there. */
static double between_ns(const at_estimator *e) {
    const at_speeds *s = e->o.speeds;
    return vectors_of_line(e) * est_max(0, (double)(s->far_ns[0][0] - s->step_ns[0][0]));
}

/* How much longer lines from the second level take that push each other out of a few places, where
 * no sums hide it: they come to each place one after the other, and to several at once. Between
 * loads of multiply-adds, of which registers keep what steps read alike, and where it was not
 * measured, copies' take no longer than those of a tile of one vector. */
static double piled_ns(const at_estimator *e, const est_leaf *x, const est_access *a, int once,
                       est_lines come) {
    const at_speeds *s = e->o.speeds;
    const double whole_ns = vectors_of_line(e) * (double)s->far_ns[0][0];
    double places = WAY_BYTES / EST_LINE_BYTES;
    if (come == EST_BESIDE) return 0;
    for (int i = once; i < x->num_loops; i++)
        places = est_min(places, WAY_BYTES * a->lines[i] / a->crowd[i]);
    const double one_ns = (double)s->piled_ns / est_max(1, places);
    if (come == EST_BETWEEN) return est_min(whole_ns, one_ns);
    return one_ns > 0 ? one_ns : est_max(0, whole_ns - (double)s->line_ns[1]);
}

/* Lines from beyond each level for one leaf, as if the least recently used went first. */
void est_memory(at_estimator *e, const est_leaf *x, est_lines come, int apart,
                double *apart_lines) {
    const at_speeds *s = e->o.speeds;
    double size = 0, longer_ns[MAX_READS] = {0}; /* of an access's lines from L2, not from L3 */
    bool known = false;
    touched all;
    const est_scan begin = {.once = x->num_loops, .moving = x->num_loops};
    est_scan scan[MAX_READS];
    for (int level = 0; level < 3; level++) {
        size += size_of(e, level);
        if (!(e->levels >> level & 1)) continue;
        if (!known) {
            touch_by(e, x, &all), est_count_turns(x, &all);
            for (int k = 0; k < x->num_accesses; k++) scan[k] = begin;
        }
        known = true;
        double lines = 0;
        for (int k = 0; k < x->num_accesses; k++) {
            const est_access *a = &x->access[k];
            const bool piled = level <= MOST_PILED && a->piles_up;
            if (a->in_registers || just_touched(e, x, a, &all, size, piled)) continue;
            if (a->piles_up && !piled) scan[k] = begin; /* followed as if it still did */
            double more = est_fetched(e, x, a, &all, all.together[k], size, piled, &scan[k]);
            more = est_max(0, more - still_there(e, x, a, &all, size, scan[k].once));
            e->out->bytes[level] += more * EST_LINE_BYTES;
            if (k == apart && level < 2) apart_lines[level] = more;
            if (k != apart || level > 0) lines += more;
            if (come == EST_BETWEEN && level == 0 && k != apart && is_single(e, x, a))
                e->out->memory_ns += more * (double)s->alone_ns;
            if (level == 0 && piled && (k != apart || come == EST_ALONE))
                longer_ns[k] = piled_ns(e, x, a, scan[k].once, come);
            if (level < 2) e->out->memory_ns += (level ? -more : more) * longer_ns[k];
        }
        double line_ns = s->line_ns[level + 1];
        if (come == EST_BETWEEN && level == 0) line_ns = est_max(line_ns, between_ns(e));
        e->out->memory_ns += lines * line_ns;
    }
}

/* ---- weights from afar ----------------------------------------------------------------------- */

/* The time of a line of weights of a network, as a share of the third level's time for a line: the
 * line comes after what is worked out meanwhile, not beside. */
static const double far_behind = 1.5;
/* Where the next step reads elsewhere, neither the core foresees the line nor does what lowering
 * asks for ahead come to it. */
static const double far_apart = 2.3;
/* Where all turns of the block before ask for lines, this share of their time is left, however much
 * hides it, of a core on which it was not measured. Parts of a tile ask for the same lines each,
 * which is not better than before. */
static const double beside = 0.6;
/* The same of lines that nothing asks for but the core, which foresees them: they lie in a row. */
static const double seldom = 0.3;

/* Does lowering ask for these weights block by block? (codegen/weight_blocks.h) */
static bool is_ahead(const at_estimator *e, const est_leaf *x, const est_access *a) {
    at_weights_loop all[MAX_LOOPS];
    for (int i = 0; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        all[i] = (at_weights_loop){.extent = (int64_t)l->turns,
                                   .growth = a->step[i],
                                   .is_reduce = l->sums,
                                   .is_written_out = l->ann == AT_ANN_VEC || l->is_dot ||
                                                     (l->ann == AT_ANN_UNROLL && !l->sums)};
    }
    return at_ahead_loop(all, x->num_loops,
                         at_ahead_room(e->o.cache_bytes[1]) / a->buffer->bytes) >= 0;
}

/* Do the loops, from the innermost one on, read runs that are too short to be asked for ahead? Few
 * turns that are written out read as many runs side by side, each of which the core foresees. */
static bool lies_apart(const est_leaf *x, const est_access *a) {
    enum { AHEAD_BYTES = 8192, STREAMS = 4 };
    double run = 1, streams = 1;
    for (int i = x->num_loops - 1; i >= 0; i--) {
        const double step = (double)a->step[i];
        const bool is_beside = x->loop[i].ann == AT_ANN_UNROLL && x->loop[i].sums;
        if (step > run) streams *= is_beside ? x->loop[i].turns : STREAMS + 1;
        if (streams > STREAMS) return run * a->buffer->bytes < AHEAD_BYTES;
        if (step == run) run *= x->loop[i].turns;
    }
    return false;
}

/* What is left of the time of lines beside sums. */
static double beside_ns(double lines_ns, double left, double sums_ns) {
    return est_max(left * lines_ns, lines_ns - sums_ns);
}

/* Vectors of a sum that come from beyond the second-level cache. */
typedef struct beyond {
    double cold, again;      /* lines that come anew in every run, and others */
    double asked;            /* lines that steps of the sum read, near or far */
    double sums_ns;          /* of the sum without them */
    bool is_apart, is_ahead; /* as above */
} beyond;

/* Do all steps read lines of their own? Else some find them nearer, others read them in bursts. */
static bool is_even(const beyond *b) { return b->asked <= 1.01 * (b->cold + b->again); }

/* On a core whose time of lines beside sums is not known. */
static double guessed_ns(const beyond *b, double line_ns) {
    const double far = b->is_apart ? far_apart : far_behind, cold_ns = far * b->cold * line_ns,
                 again_ns = b->again * line_ns, all_ns = cold_ns + again_ns;
    if (b->is_ahead) return beside_ns(all_ns, beside, b->sums_ns);
    if (b->is_apart || !is_even(b)) return all_ns;
    return cold_ns + beside_ns(again_ns, seldom, b->sums_ns);
}

/* All weights that are read until these are again fill most of the last cache: they come from
 * memory. Sums hide cold lines in the first pass over them. */
static double measured_ns(const at_estimator *e, const beyond *b) {
    static const double L3_SHARE = 0.75;
    const at_speeds *s = &e->speeds;
    const bool is_memory = e->o.weights_bytes > L3_SHARE * (double)e->o.cache_bytes[2] &&
                           s->stream_ns[3] > 0 && s->line_ns[3] > 0;
    const double line_ns = (double)s->stream_ns[2], left = (double)s->beside_ns / line_ns,
                 anew_ns = is_memory ? (double)s->stream_ns[3] : far_behind * line_ns,
                 anew_left =
                     is_memory ? est_min(1, (double)(s->line_ns[3] / s->stream_ns[3])) : left,
                 cold_ns = b->cold * anew_ns, again_ns = b->again * line_ns;
    const double first_ns = b->cold > 0 ? b->sums_ns * est_min(1, b->cold / b->asked) : 0;
    if (b->is_apart && !b->is_ahead) return far_apart / far_behind * cold_ns + again_ns;
    const double share = b->is_ahead ? est_min(anew_left, beside) : anew_left;
    return beside_ns(cold_ns, share, first_ns) +
           (b->is_ahead || is_even(b) ? beside_ns(again_ns, left, b->sums_ns - first_ns)
                                      : again_ns);
}

double est_beyond_ns(const at_estimator *e, const est_leaf *x, const est_access *a, double lines,
                     double asked, bool is_one, double sums_ns) {
    const at_tensor *t = &e->compute->tensors[a->tensor];
    const bool is_weight = t->is_packing || t->role == AT_ROLE_WEIGHT;
    const double cold = is_weight && e->o.cold_weights ? a->lines[0] : 0;
    const beyond b = {.cold = cold,
                      .again = est_max(0, lines - cold),
                      .asked = asked,
                      .sums_ns = sums_ns,
                      .is_apart = lies_apart(x, a),
                      .is_ahead = is_weight && is_one && is_ahead(e, x, a)};
    if (e->speeds.beside_ns > 0 && e->speeds.stream_ns[2] > 0) return measured_ns(e, &b);
    return guessed_ns(&b, (double)e->speeds.stream_ns[2]);
}

/* ---- outputs from afar ----------------------------------------------------------------------- */

double est_written_ns(const at_estimator *e, const est_leaf *x) {
    double lines = 0;
    if (!e->o.cold_weights && !(e->levels >> 1 & 1)) return 0; /* L2 has all of it */
    for (const est_access *a = x->access; a < x->access + x->num_accesses; a++)
        if (a->written && !a->in_registers && e->compute->tensors[a->tensor].is_output &&
            is_single(e, x, a))
            lines += a->lines[0];
    return far_apart * lines * (double)e->speeds.stream_ns[2];
}
