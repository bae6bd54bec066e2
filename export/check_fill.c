/* export/check_fill.c: what inputs are filled with in the main of an emitted file: the same rules
 * as a worker's data have (schedule/data/data.h), from a generator of its own. */
#include "export/check_int.h"

#include <stdlib.h>

static const char next_2_helper[] = "static unsigned at_next_2(unsigned *state) {\n"
                                    "    unsigned high = at_next(state);\n"
                                    "    return high << 16 | at_next(state);\n}\n\n";

static const char pattern_helper[] =
    "/* nnz of rows x columns blocks, every choice as likely as any other. */\n"
    "static void at_make_pattern(int *indices, int *indptr, long rows, long columns, long nnz, "
    "unsigned *state) {\n"
    "    long stored = 0, cells = rows * columns;\n"
    "    indptr[0] = 0;\n"
    "    for (long i = 0; i < cells; i++) {\n"
    "        if (at_next(state) / 65536.0 * (double)(cells - i) < (double)(nnz - stored))\n"
    "            indices[stored++] = (int)(i % columns);\n"
    "        if ((i + 1) % columns == 0) indptr[i / columns + 1] = (int)stored;\n"
    "    }\n}\n\n";

static const char whole_helper[] =
    "/* Whole numbers from lo to hi, or all of them but 0, times unit; of more than three none\n"
    " * stands beside itself. */\n"
    "static void at_make_whole(float *p, long n, double unit, long lo, long hi, int skips_0,\n"
    "                          unsigned *state) {\n"
    "    const unsigned long steps = (unsigned long)(hi - lo + !skips_0);\n"
    "    unsigned long step = 0;\n"
    "    for (long i = 0; i < n; i++) {\n"
    "        step = steps < 4 || !i ? at_next_2(state) % steps\n"
    "                               : (step + 1 + at_next_2(state) % (steps - 1)) % steps;\n"
    "        long x = lo + (long)step;\n"
    "        p[i] = (float)(unit * (double)(x + (skips_0 && x >= 0)));\n"
    "    }\n}\n\n";

static const char real_helper[] =
    "/* Never 0; with a step of a power of two all sums would be rounded the same way. */\n"
    "static void at_make_real(float *p, long n, double lo, double hi, unsigned *state) {\n"
    "    for (long i = 0; i < n; i++)\n"
    "        p[i] = (float)(lo + (hi - lo) * ((double)at_next_2(state) + 0.5) / 4294967296.0);\n"
    "}\n\n";

static const char power_helper[] =
    "/* The largest power of 2 that is not above it. */\n"
    "static float at_power(float x) {\n"
    "    int e;\n"
    "    return x == 0 ? 0 : (frexpf(x, &e), ldexpf(0.5f, e));\n}\n\n";

static const char entries_helper[] =
    "static int at_compare_entries(const void *x, const void *y) {\n"
    "    int a = *(const int *)x, b = *(const int *)y;\n"
    "    return (a > b) - (a < b);\n}\n\n"
    "/* Entries of an index tensor, from lo to hi, which are some of four and more. So many are\n"
    " * different ones, others come again, `often` every other time the first; of random ones "
    "each\n"
    " * eighth ends in zeros or ones; those that ascend are sorted, others shuffled. */\n"
    "static void at_make_entries(int *p, long n, long lo, long hi, long once, long first, long "
    "step,\n"
    "                            int often, int ascends, unsigned *state) {\n"
    "    long range = hi - lo + 1;\n"
    "    for (long i = 0; i < n; i++) {\n"
    "        long x = (long)at_next_2(state), end = (1L << at_next(state) % 31) - 1;\n"
    "        long any = lo + x % range, even = i / 8 % 2 ? any | end : any & ~end;\n"
    "        int is_even = i % 8 == 7 && !ascends && even >= lo && even <= hi;\n"
    "        if (i < once) p[i] = (int)(lo + (first + i) % range * step % range);\n"
    "        else p[i] = !once ? (int)(is_even ? even : any) : p[often && i % 2 ? 0 : x % once];\n"
    "    }\n"
    "    if (n >= 4) p[n - 2] = (int)lo, p[n - 1] = (int)hi;\n"
    "    for (long i = n; i > 1 && !ascends; i--) {\n"
    "        long other = (long)(at_next_2(state) % (unsigned long)i);\n"
    "        int last = p[i - 1];\n"
    "        p[i - 1] = p[other], p[other] = last;\n"
    "    }\n"
    "    if (!ascends || !n) return;\n"
    "    qsort(p, (size_t)n, sizeof *p, at_compare_entries);\n"
    "    p[0] = (int)lo, p[n - 1] = (int)hi;\n}\n\n";

static const char apart_helper[] =
    "/* Few bounds of reductions: what is left behind whole tiles is walked. */\n"
    "static void at_make_entries_apart(int *p, long n, long lo, long begin, long apart) {\n"
    "    for (long i = 0; i < n; i++) {\n"
    "        long x = i * apart + begin;\n"
    "        p[i] = (int)(x > lo ? x : lo);\n"
    "    }\n}\n\n";

/* Do integers of a few bits hide with how many bits a kernel multiplies? Not asked where rounding
 * may become more (at_compute_has_steps), nor where plain loops take long. */
static bool wants_reals(const at_face *f, const at_data_rule *rule) {
    const at_compute *c = f->of->program->compute;
    const double most_flops = 0x1p29;
    return rule->is_exact && !f->is_part && !f->of->pattern && !c->in_steps && !c->num_cycles &&
           !at_compute_has_steps(c) && f->of->flops <= most_flops;
}

bool at_file_has_limits(const at_filling *with) { return !with->rule.is_exact || with->reals.fill; }

at_status at_file_choose_filling(at_arena *a, const at_face *f, at_filling *out, at_error *err) {
    const at_compute *c = f->of->program->compute;
    const at_file_pattern *p = f->of->pattern;
    const int n = c->num_tensors;
    at_index_range *entries = AT_NEW_ARRAY(a, at_index_range, n);
    double *bound = AT_NEW_ARRAY(a, double, n);
    int64_t *num = AT_NEW_ARRAY(a, int64_t, n), longest = p ? p->columns : 0;
    if (!p) AT_TRY(at_compute_index_ranges(a, c, f->values, entries, NULL, err));
    else {
        entries[p->indices] = (at_index_range){.hi = p->columns - 1};
        entries[p->indptr] = (at_index_range){.hi = p->nnz, .ascends = true};
    }
    for (int i = 0; i < f->num; i++)
        if (f->tensors[i].tensor >= 0) num[f->tensors[i].tensor] = f->tensors[i].elements;
    for (int t = 0; t < n; t++) {
        bound[t] = !p && c->tensors[t].role == AT_ROLE_INDEX ? at_index_bound(&entries[t]) : -1;
        if (!p && entries[t].ascends && entries[t].hi > longest) longest = entries[t].hi;
    }
    const at_data_known known = {
        .entries = entries, .num_entries = num, .bound = bound, .longest = longest};
    out->entries = p ? NULL : entries;
    AT_TRY(at_data_rule_find(a, c, f->values, &known, &out->rule, err));
    out->reals = (at_draw){.fill = wants_reals(f, &out->rule) ? out->rule.draw[0].fill : NULL};
    return AT_OK;
}

/* As at_fill_draw, from a generator of its own. p: where to, as C has it. */
static void fill_floats(at_text *out, const char *p, long n, const at_fill *f, bool exact) {
    const bool skips_0 = !f->has_0 && f->lo < 0 && f->hi > 0;
    if (exact)
        at_text_addf(out, "    at_make_whole(%s, %ldL, %.17g, %ldL, %ldL, %d, &state);\n", p, n,
                     f->unit, (long)f->lo, (long)f->hi, skips_0);
    else
        at_text_addf(out, "    at_make_real(%s, %ldL, %.17g, %.17g, &state);\n", p, n,
                     f->unit * f->lo, f->unit * f->hi);
    if (f->has_powers)
        at_text_addf(out, "    for (long i = 3; i < %ldL; i += 4) %s[i] = at_power(%s[i]);\n", n, p,
                     p);
    if (f->grain > 0)
        at_text_addf(out,
                     "    for (long i = 1; i < %1$ldL; i += 2) %2$s[i] = (float)(%3$.17g * "
                     "((double)%2$s[i] / %3$.17g + 0x1.8p52 - 0x1.8p52));\n",
                     n, p, f->unit * f->grain);
    if (f->power > 0)
        at_text_addf(out, "    for (long i = 1; i < %ldL; i += 2) %s[i] = (float)%.17g;\n", n, p,
                     f->unit * f->power);
    if (f->row)
        at_text_addf(out,
                     "    for (long i = 0; i < %ldL; i++) %s[i] += (float)(%.17g * (double)(i / "
                     "%lldL * %lldL %% %lldL - %lldL));\n",
                     n, p, f->unit * f->apart, (long long)f->row, (long long)at_fill_stride(f),
                     (long long)at_fill_rows(f), (long long)at_fill_rows(f) / 2);
}

/* As at_data_wholes has them. */
static void fill_wholes(at_text *out, const at_face_tensor *t, const char *p, const at_draw *draw) {
    const at_wholes w = at_data_wholes(t->type, &draw->fill[t->tensor]);
    const char *c = at_type_of(t->type)->c;
    const long n = (long)t->elements;
    at_text_addf(
        out,
        "    for (long i = 0; i < %ldL; i++) %s[i] = (%s)(%lldL * (long)(at_next_2(&state) "
        "%% %lldUL) - %lldL%s);\n",
        n, p, c, (long long)w.step, (long long)((w.hi - w.lo) / w.step + 1), (long long)-w.lo,
        w.has_less ? " - i % 2" : "");
    if (n < 4) return;
    at_text_addf(out, "    %s[at_next_2(&state) %% %ldL] = (%s)%lldL;\n", p, n, c,
                 (long long)w.least);
    at_text_addf(out, "    %s[at_next_2(&state) %% %ldL] = (%s)%lldL;\n", p, n, c,
                 (long long)w.most);
}

static void fill_values(at_text *out, const at_face_tensor *t, int at, const at_draw *draw,
                        bool exact) {
    const at_fill *f = &draw->fill[t->tensor];
    const long n = (long)t->elements;
    char p[24];
    snprintf(p, sizeof p, "b%d", at);
    if (at_type_is_half(t->type)) {
        at_text floats = {0};
        fill_floats(&floats, "f", n, f, exact);
        at_file_fill_halves(out, t, at, &floats);
        at_text_free(&floats);
    } else if (at_type_of(t->type)->is_int) fill_wholes(out, t, p, draw);
    else fill_floats(out, p, n, f, exact);
}

static bool is_list(const at_face *f, const at_face_tensor *t) {
    return f->of->program->compute->tensors[t->tensor].role == AT_ROLE_INDEX;
}

static bool is_lone(const at_placed *x) { return x->stays && !x->more; }

/* Elements with a value of their own that others lie beside, of so many places as a text should
 * have: of more winners, places all over the tensor, each so many behind the one before that few
 * rules of theirs repeat. Elements at thresholds, of all rounds, do not count as winners. */
static void put_extremes_of(at_text *out, const at_face_tensor *t, int at, const at_draw *draw,
                            int round) {
    enum { MOST = 1024 };
    int winners = 0;
    for (int k = 0; k < draw->extremes.len; k++) winners += !draw->extremes.data[k].stays;
    const int step = (winners + MOST - 1) / MOST | 1;
    bool any = false;
    for (int k = 0; k < draw->extremes.len; k++) {
        const at_placed *x = &draw->extremes.data[k];
        if (x->tensor != t->tensor || x->round != round || is_lone(x) || (!x->stays && k % step))
            continue;
        at_text_addf(out, "%s{%lldL, %lldL, %lldL, (float)%.9g}",
                     any ? ",\n        "
                         : "    static const struct { long at, more, step; float value; } placed[] "
                           "= {\n        ",
                     (long long)x->offset, (long long)x->more, (long long)x->step,
                     (double)x->value);
        any = true;
    }
    if (!any) return;
    at_text_addf(out,
                 "};\n    for (unsigned long k = 0; k < sizeof placed / sizeof *placed; k++)\n"
                 "        for (long i = 0; i <= placed[k].more; i++)\n"
                 "            b%d[placed[k].at + i * placed[k].step] = ",
                 at);
    at_file_add_cast(out, t->type);
    at_text_add(out, "(placed[k].value);\n");
}

static int compare_lone(const void *a, const void *b) {
    const at_placed *x = *(const at_placed *const *)a, *y = *(const at_placed *const *)b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Those at thresholds, which nothing else has: few values, each at many places. */
static void put_lone_of(at_text *out, const at_face_tensor *t, int at, const at_draw *draw,
                        int round) {
    const at_placed **all = malloc((size_t)(draw->extremes.len + 1) * sizeof *all);
    at_text values = {0};
    int n = 0, from = 0, num = 0;
    AT_NEED(all);
    for (int k = 0; k < draw->extremes.len; k++) {
        const at_placed *x = &draw->extremes.data[k];
        if (x->tensor == t->tensor && x->round == round && is_lone(x)) all[n++] = x;
    }
    qsort(all, (size_t)n, sizeof *all, compare_lone);
    for (int k = 0; k < n; k++) {
        at_text_addf(out, "%s%lldL", k ? ", " : "    static const long lone[] = {",
                     (long long)all[k]->offset);
        if (k < n - 1 && all[k + 1]->value == all[k]->value) continue;
        at_text_addf(&values, "%s{(float)%.9g, %d}", num++ ? ", " : "", (double)all[k]->value,
                     k + 1 - from);
        from = k + 1;
    }
    free(all);
    if (n) {
        at_text_addf(out,
                     "};\n    static const struct { float value; int num; } of[] = {%s};\n"
                     "    for (int k = 0, at = 0; k < %d; k++)\n"
                     "        for (int i = 0; i < of[k].num; i++) b%d[lone[at++]] = ",
                     at_text_str(&values), num, at);
        at_file_add_cast(out, t->type);
        at_text_add(out, "(of[k].value);\n");
    }
    at_text_free(&values);
}

/* As at_data_round: `again` counts runs. */
static void put_extremes(at_text *out, const at_face *f, const at_draw *draw,
                         const at_data_rule *rule) {
    const int rounds = at_data_rounds(rule);
    for (int round = 0; round <= rounds; round++)
        for (int i = 0; i < f->num_inputs; i++) {
            at_text placed = {0};
            put_extremes_of(&placed, &f->tensors[i], i, draw, round);
            put_lone_of(&placed, &f->tensors[i], i, draw, round);
            if (placed.len && rule->again)
                at_text_addf(out, "    if (again %% %d == %d)\n", 2 * (round ? rounds : 1),
                             round ? 2 * (round - 1) : 0);
            if (placed.len) at_text_addf(out, "    {\n%s    }\n", placed.data);
            at_text_free(&placed);
        }
}

/* As at_dataset_spare_ends. */
static void spare_ends(at_text *out, const at_face *f, const at_filling *with, int at,
                       const at_draw *draw) {
    const at_face_tensor *t = &f->tensors[at];
    const at_fill *fill = &draw->fill[t->tensor];
    if (!fill->spared_least && !fill->spared_most) return;
    const at_index_range *r = with->entries ? &with->entries[t->tensor] : NULL;
    const at_wholes w = at_data_wholes_of(&f->of->program->compute->tensors[t->tensor], r, fill);
    const int64_t lower = w.step * fill->spared_least, upper = w.step * fill->spared_most;
    at_text_addf(out, "    for (long i = 0; i < %lldL; i++)\n", (long long)t->elements);
    if (lower)
        at_text_addf(out, "        if (b%d[i] < %lld) b%d[i] += %lld;\n", at,
                     (long long)(w.least + lower), at, (long long)lower);
    if (upper)
        at_text_addf(out, "        %sif (b%d[i] > %lld) b%d[i] -= %lld;\n", lower ? "else " : "",
                     at, (long long)(w.most - upper), at, (long long)upper);
}

/* Floats of 16 bits that bytes make are from 1/32 to 1, of either sign. */
static void make_halves(at_text *out, const at_program *p, const at_face_tensor *t, int at) {
    const int64_t row = p->extents[t->tensor][p->compute->tensors[t->tensor].num_axes - 1];
    for (int s = 0; s < p->compute->num_tensors; s++) {
        const int64_t upper = at_data_upper_byte(p->compute, s, t->tensor);
        if (upper >= 0)
            at_text_addf(
                out,
                "    for (long i = %lldL; i < %lldL; i += %lldL) b%d[i] = (%s)(40 + (b%d[i] & "
                "143));\n",
                (long long)upper, (long long)t->elements, (long long)row, at,
                at_type_of(t->type)->c, at);
    }
}

/* As at_index_fill. */
static void make_entries(at_text *out, const at_face_tensor *t, int at, const at_index_range *all,
                         int draw) {
    const bool ends = all->ends && all->lo < all->hi;
    const at_index_range below = {.lo = all->lo, .hi = all->hi - 1}, *r = ends ? &below : all;
    const int64_t apart = at_entries_apart(all, draw, t->elements),
                  n = ends ? at_entries_below(t->elements, draw) : t->elements;
    const at_entry_spread s = r->ascends ? (at_entry_spread){0} : at_entries_spread(r, draw, n);
    if (apart > 0) {
        at_text_addf(out, "    at_make_entries_apart(b%d, %lldL, %lldL, %lldL, %lldL);\n", at,
                     (long long)t->elements, (long long)all->lo,
                     (long long)at_entries_begin(all, t->elements), (long long)apart);
        return;
    }
    at_text_addf(out, "    at_make_entries(b%d, %lldL, %lldL, %lldL, %lldL, %lldL, %lldL, %d, %d, ",
                 at, (long long)n, (long long)r->lo, (long long)r->hi, (long long)s.once,
                 (long long)s.first, (long long)s.step, draw, r->ascends);
    at_text_add(out, "&state);\n");
    if (ends)
        at_text_addf(out,
                     "    for (long i = %lldL, from = %lldL; from <= i; i--)\n"
                     "        b%d[i] = i %% 2 == %d ? %lld : b%d[--from];\n",
                     (long long)t->elements - 1, (long long)n, at, draw % 2, (long long)all->hi,
                     at);
}

/* Are floats whole numbers of a unit? Beside integers they are not. */
static bool has_wholes(const at_face *f, const at_filling *with) {
    return with->rule.is_exact && !f->of->program->compute->in_steps;
}

void at_file_fill(at_text *out, const at_face *f, const at_filling *with, const at_draw *draw) {
    const at_file_pattern *pattern = f->of->pattern;
    int indices = -1, indptr = -1;
    for (int i = 0; i < f->num_inputs; i++) {
        const at_face_tensor *t = &f->tensors[i];
        if (is_list(f, t) && with->entries) {
            make_entries(out, t, i, &with->entries[t->tensor], draw->entries);
            continue;
        }
        if (is_list(f, t)) {
            if (t->tensor == pattern->indices) indices = i;
            if (t->tensor == pattern->indptr) indptr = i;
            continue;
        }
        fill_values(out, t, i, draw, draw != &with->reals && has_wholes(f, with));
        if (at_type_bytes(t->type) == 1) make_halves(out, f->of->program, t, i);
    }
    for (int i = 0; i < f->num_inputs; i++) spare_ends(out, f, with, i, draw);
    put_extremes(out, f, draw, &with->rule);
    if (indices >= 0)
        at_text_addf(out, "    at_make_pattern(b%d, b%d, %lldL, %lldL, %lldL, &state);\n", indices,
                     indptr, (long long)pattern->rows, (long long)pattern->columns,
                     (long long)pattern->nnz);
}

static bool has_lists(const at_face *f) {
    bool any = false;
    for (int i = 0; i < f->num_inputs; i++) any |= is_list(f, &f->tensors[i]);
    return any;
}

static bool has_few_bounds(const at_face *f, const at_filling *with) {
    bool any = false;
    for (int i = 0; i < f->num_inputs && with->entries && with->rule.num_draws > 1; i++)
        any |= is_list(f, &f->tensors[i]) &&
               at_entries_apart(&with->entries[f->tensors[i].tensor], 1, f->tensors[i].elements);
    return any;
}

static bool has_floats(const at_face *f) {
    bool any = false;
    for (int i = 0; i < f->num_inputs; i++) any |= !at_type_of(f->tensors[i].type)->is_int;
    return any;
}

static bool has_powers(const at_face *f, const at_data_rule *r) {
    bool any = false;
    for (int i = 0; i < f->num_inputs; i++) {
        const int t = f->tensors[i].tensor;
        if (at_type_of(f->tensors[i].type)->is_int) continue;
        for (int k = 0; k < r->num_draws; k++) any |= r->draw[k].fill[t].has_powers;
        any |= r->cover.covers.len && r->cover.fill[t].has_powers;
    }
    return any;
}

void at_file_fill_helpers(const at_face *faces, const at_filling *with, int n, at_text *out) {
    bool any = false, patterns = false, lists = false, apart = false, whole = false, real = false;
    bool powers = false;
    for (int i = 0; i < n; i++) {
        const at_face *f = &faces[i];
        any |= f->num_inputs > 0;
        patterns |= f->of->pattern != NULL;
        lists |= !f->of->pattern && has_lists(f);
        apart |= has_few_bounds(f, &with[i]);
        *(has_wholes(f, &with[i]) ? &whole : &real) |= has_floats(f);
        real |= with[i].reals.fill && has_floats(f);
        powers |= has_powers(f, &with[i].rule);
    }
    if (any) at_text_add(out, next_2_helper);
    if (patterns) at_text_add(out, pattern_helper);
    if (lists) at_text_add(out, entries_helper);
    if (apart) at_text_add(out, apart_helper);
    if (whole) at_text_add(out, whole_helper);
    if (real) at_text_add(out, real_helper);
    if (powers) at_text_add(out, power_helper);
}
