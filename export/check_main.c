/* export/check_main.c: the main of an `apply` file: each kernel against the naive reference on
 * exact data, then its time. */
#include <string.h>

#include "base/agree.h"
#include "codegen/target.h"
#include "export/export_int.h"

static const char includes[] = "#define _POSIX_C_SOURCE 200112L\n#include <math.h>\n#include "
                               "<stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
                               "#include <time.h>\n\n";

static const char helpers[] =
    "\n/* Whole cache lines: any place will do, this one is the fastest. */\n"
    "static void *at_allocate(unsigned long bytes) {\n"
    "    void *p;\n"
    "    if (posix_memalign(&p, 64, bytes + 64)) exit(1);\n"
    "    memset(p, 255, bytes + 64); /* NaN: what is never written shows */\n"
    "    return p;\n}\n\n"
    "static double at_now(void) {\n"
    "    struct timespec t;\n"
    "    clock_gettime(CLOCK_MONOTONIC, &t);\n"
    "    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;\n}\n\n"
    "/* Four digits of it. */\n"
    "static void at_print_time(double t) {\n"
    "    const char *unit = \"s\";\n"
    "    if (t < 0.99995e-6) t *= 1e9, unit = \"ns\";\n"
    "    else if (t < 0.99995e-3) t *= 1e6, unit = \"us\";\n"
    "    else if (t < 0.99995) t *= 1e3, unit = \"ms\";\n"
    "    printf(\"%.*f %s\", t < 9.9995 ? 3 : t < 99.995 ? 2 : t < 999.95, t, unit);\n}\n\n"
    "static unsigned at_next(unsigned *state) {\n"
    "    *state = *state * 1664525u + 1013904223u;\n"
    "    return *state >> 16;\n}\n\n";

static const char peak_helpers[] =
    "/* Operations a second of the loop in spin, if they are more than ever before. */\n"
    "static double at_peak(void (*spin)(long), double flops, double most, double seconds) {\n"
    "    double end = at_now() + seconds;\n"
    "    long n = 100;\n"
    "    do {\n"
    "        double t = at_now();\n"
    "        spin(n);\n"
    "        t = at_now() - t;\n"
    "        if (t > 0 && flops * (double)n / t > most) most = flops * (double)n / t;\n"
    "        if (t < 5e-5) n *= 2;\n"
    "    } while (at_now() < end);\n"
    "    return most;\n}\n\n"
    "/* Multiply-adds and nothing else: what no kernel exceeds. */\n";

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

void at_file_main_includes(at_text *out) { at_text_add(out, includes); }

/* Not run where the CPU lacks what the tiles need: a failure, unless the file serves other CPUs
 * too. */
static void check_cpu(at_text *out, const at_file_kernel *f, bool several) {
    const at_target *t = f->kernel->target;
    if (f->kernel->dialect == AT_DIALECT_C || !*t->parts) return;
    at_text_addf(out,
                 "    if (!%s_supported()) {\n"
                 "        printf(\"%s: made for %s (%s), which this CPU lacks\\n\");\n"
                 "        return %d;\n    }\n",
                 f->name, f->name, t->name, t->parts, several ? 0 : 1);
}

/* b: as the task has it; c: in blocks, where that differs. */
static bool has_blocks(const at_face *f, const at_face_tensor *t) {
    return f->fast && t->laid_out && !t->ahead;
}

static void allocate(at_text *out, const at_face *f, bool exact) {
    for (int i = 0; i < f->num; i++) {
        const at_face_tensor *t = &f->tensors[i];
        const char *type = at_type_of(t->type)->c;
        const int bytes = (int)at_type_bytes(t->type);
        at_text_addf(out, "    %s *b%d = at_allocate(%lldUL * %d); /* %s */\n", type, i,
                     (long long)t->elements, bytes, t->name);
        if (t->is_s64)
            at_text_addf(out, "    long long *g%d = at_allocate(%lldUL * 8);\n", i,
                         (long long)t->elements);
        if (has_blocks(f, t))
            at_text_addf(out, "    %s *c%d = at_allocate(%lldUL * %d);\n", type, i,
                         (long long)t->elements, bytes);
        if (t->is_ordered)
            at_text_addf(out, "    %s *own%d = at_allocate(%lldUL * %d);\n", type, i,
                         (long long)t->elements, bytes);
        for (int limits = 0; t->is_output && limits < (exact ? 1 : 2); limits++)
            at_text_addf(out, "    %s *%s%d = at_allocate(%lldUL * %d);\n", limits ? "float" : type,
                         limits ? "limit" : "want", i, (long long)t->elements, limits ? 4 : bytes);
    }
    if (f->packs)
        at_text_addf(out, "    void *packed = at_allocate(%s_packed_bytes());\n", f->of->name);
}

static void release(at_text *out, const at_face *f, bool exact) {
    for (int i = 0; i < f->num; i++) {
        at_text_addf(out, "    free(b%d);\n", i);
        if (f->tensors[i].is_s64) at_text_addf(out, "    free(g%d);\n", i);
        if (has_blocks(f, &f->tensors[i])) at_text_addf(out, "    free(c%d);\n", i);
        if (f->tensors[i].is_ordered) at_text_addf(out, "    free(own%d);\n", i);
        if (!f->tensors[i].is_output) continue;
        at_text_addf(out, "    free(want%d);\n", i);
        if (!exact) at_text_addf(out, "    free(limit%d);\n", i);
    }
    if (f->packs) at_text_add(out, "    free(packed);\n");
    at_text_add(out, "    free(workspace);\n    free(reference_workspace);\n");
}

/* What its inputs are filled with. */
typedef struct {
    at_data_rule rule;
    const at_index_range *entries; /* [tensor] of index tensors; NULL: a pattern fills them */
} filling;

static at_status choose_filling(at_arena *a, const at_face *f, filling *out, at_error *err) {
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
    return at_data_rule_find(a, c, f->values, &known, &out->rule, err);
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
        at_text_addf(out,
                     "    for (long i = 3; i < %ldL; i += 4) %s[i] = ldexpf(1, ilogbf(%s[i]));\n",
                     n, p, p);
    if (f->grain > 0)
        at_text_addf(out,
                     "    for (long i = 1; i < %1$ldL; i += 2) %2$s[i] = (float)(%3$.17g * "
                     "rint((double)%2$s[i] / %3$.17g));\n",
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
    const at_wholes w = at_data_wholes(t->type, draw->is_coarse, &draw->fill[t->tensor]);
    const char *c = at_type_of(t->type)->c;
    const long n = (long)t->elements;
    at_text_addf(
        out,
        "    for (long i = 0; i < %ldL; i++) %s[i] = (%s)(%lldL * (long)(at_next_2(&state) "
        "%% %lldUL) - %lldL);\n",
        n, p, c, (long long)w.step, (long long)((w.hi - w.lo) / w.step + 1), (long long)-w.lo);
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

/* Elements with a value of their own, of so many places as a text should have: of more, places all
 * over the tensor, each so many behind the one before that few rules of theirs repeat. */
static void put_extremes_of(at_text *out, const at_face_tensor *t, int at, const at_draw *draw) {
    enum { MOST = 1024 };
    const int step = (draw->extremes.len + MOST - 1) / MOST | 1;
    const bool half = at_type_is_half(t->type);
    const at_type_facts *type = at_type_of(t->type);
    bool any = false;
    for (int k = 0; k < draw->extremes.len; k += step) {
        const at_placed *x = &draw->extremes.data[k];
        if (x->tensor != t->tensor) continue;
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
                 "            b%d[placed[k].at + i * placed[k].step] = %s%s%s(placed[k].value);\n",
                 at, half ? "at_cut_to_" : "(", half ? type->name : type->c, half ? "" : ")");
}

static void put_extremes(at_text *out, const at_face *f, const at_draw *draw) {
    for (int i = 0; i < f->num_inputs; i++) {
        at_text placed = {0};
        put_extremes_of(&placed, &f->tensors[i], i, draw);
        if (placed.len) at_text_addf(out, "    {\n%s    }\n", placed.data);
        at_text_free(&placed);
    }
}

/* As at_dataset_spare_ends. */
static void spare_ends(at_text *out, const at_face *f, const filling *with, int at,
                       const at_draw *draw) {
    const at_face_tensor *t = &f->tensors[at];
    const at_fill *fill = &draw->fill[t->tensor];
    if (!fill->spared_least && !fill->spared_most) return;
    const at_index_range *r = with->entries ? &with->entries[t->tensor] : NULL;
    const at_wholes w =
        at_data_wholes_of(&f->of->program->compute->tensors[t->tensor], r, draw->is_coarse, fill);
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
static bool has_wholes(const at_face *f, const filling *with) {
    return with->rule.is_exact && !f->of->program->compute->in_steps;
}

static void fill(at_text *out, const at_face *f, const filling *with, const at_draw *draw) {
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
        fill_values(out, t, i, draw, has_wholes(f, with));
        if (at_type_bytes(t->type) == 1) make_halves(out, f->of->program, t, i);
    }
    for (int i = 0; i < f->num_inputs; i++) spare_ends(out, f, with, i, draw);
    put_extremes(out, f, draw);
    if (indices >= 0)
        at_text_addf(out, "    at_make_pattern(b%d, b%d, %lldL, %lldL, %lldL, &state);\n", indices,
                     indptr, (long long)pattern->rows, (long long)pattern->columns,
                     (long long)pattern->nnz);
}

static const at_family *family_of(const at_families *all, const at_face *f) {
    for (int i = 0; i < all->len; i++)
        if (f->of->family && !strcmp(all->data[i].name, f->of->family)) return &all->data[i];
    return NULL;
}

static void add_shape(at_text *out, const at_families *families, const at_face *f) {
    const at_family *family = family_of(families, f);
    if (!family) return;
    at_text_addf(out, "    const %s_shape shape = {", family->name);
    if (!f->of->num_shape) at_text_add(out, "0");
    for (int i = 0; i < f->of->num_shape; i++)
        at_text_addf(out, "%s%lld", i ? ", " : "", (long long)f->of->shape[i].value);
    at_text_add(out, "};\n");
}

/* The letter of the array that callers have: b, or g with 64 bits an element. */
static char as_given(const at_face_tensor *t) { return t->is_s64 ? 'g' : 'b'; }

/* Arrays of 64 bits an element, of those of 32 that the reference takes. */
static void widen(at_text *out, const at_face *f) {
    for (int i = 0; i < f->num_inputs; i++)
        if (f->tensors[i].is_s64)
            at_text_addf(out, "    for (long i = 0; i < %lldL; i++) g%d[i] = b%d[i];\n",
                         (long long)f->tensors[i].elements, i, i);
}

/* The buffers of a call; those in blocks have another letter. */
static void buffers(at_text *out, const at_face *f, at_role_of_call call, const char *comma) {
    bool packed = call == AT_CALL_FAST && f->packs;
    for (int i = 0; i < f->num; i++) {
        const at_face_tensor *t = &f->tensors[i];
        if (t->is_output && packed) {
            at_text_addf(out, "%spacked", comma);
            comma = ", ";
            packed = false;
        }
        if (!at_call_takes(call, t)) continue;
        at_text_addf(out, "%s%c%d", comma,
                     call == AT_CALL_FAST && has_blocks(f, t) ? 'c' : as_given(t), i);
        comma = ", ";
    }
    at_text_addf(out, "%s%s);\n", comma, call == AT_CALL_PACK ? "packed" : "workspace");
}

/* By shape: parameters of other kernels are 0. */
static void call_family(at_text *out, const at_family *family, const at_face *f) {
    at_text_addf(out, "    if (%s(&shape", family->name);
    for (int i = 0; i < family->tensors.len; i++) {
        int own = -1;
        if (!at_call_takes(AT_CALL_PLAIN, &family->tensors.data[i])) continue;
        for (int j = 0; j < f->num; j++)
            if (!strcmp(f->tensors[j].name, family->tensors.data[i].name)) own = j;
        if (own < 0) at_text_add(out, ", 0");
        else at_text_addf(out, ", %c%d", as_given(&f->tensors[own]), own);
    }
    at_text_add(out, ", workspace)) return 1;\n");
}

static void prepare_fast(at_text *out, const at_face *f) {
    if (f->packs) {
        at_text_addf(out, "    %s_pack(", f->of->name);
        buffers(out, f, AT_CALL_PACK, "");
    }
    for (int i = 0; i < f->num_inputs; i++)
        if (has_blocks(f, &f->tensors[i]))
            at_text_addf(out, "    %s_pack_%s(%c%d, c%d);\n", f->of->name, f->tensors[i].name,
                         as_given(&f->tensors[i]), i, i);
}

static void call_fast(at_text *out, const at_face *f, const char *indent) {
    at_text_addf(out, "%s%s(", indent, f->fast ? f->fast : f->name);
    buffers(out, f, f->fast ? AT_CALL_FAST : AT_CALL_PLAIN, "");
}

static void finish_fast(at_text *out, const at_face *f) {
    for (int i = f->num_inputs; i < f->num; i++)
        if (has_blocks(f, &f->tensors[i]))
            at_text_addf(out, "    %s_unpack_%s(c%d, b%d);\n", f->of->name, f->tensors[i].name, i,
                         i);
}

/* As the computation has it. */
static void own_order(at_text *out, const at_face *f, int i) {
    const at_face_tensor *t = &f->tensors[i];
    if (t->moves)
        at_text_addf(out, "    %s_order_%s(%c%d, own%d);\n", f->of->name, t->name, as_given(t), i,
                     i);
    else
        at_text_addf(out, "    memcpy(own%d, b%d, %lldUL * %d);\n", i, i, (long long)t->elements,
                     (int)at_type_bytes(t->type));
}

static void list_buffers(at_text *out, const at_face *f, bool exact) {
    at_text_add(out, "    void *buf[] = {");
    for (int i = 0; i < f->num; i++)
        at_text_addf(out, "%s%d, ",
                     f->tensors[i].is_output    ? "want"
                     : f->tensors[i].is_ordered ? "own"
                                                : "b",
                     i);
    for (int i = f->num_inputs; i < f->num && !exact; i++) at_text_addf(out, "limit%d, ", i);
    at_text_add(out, "0};\n");
}

/* An output without what a call leaves there: in an input, that input's elements. */
static void clear(at_arena *a, at_text *out, const at_face *f, int output) {
    const at_face_tensor *t = &f->tensors[output];
    const int held = at_compute_held(f->of->program->compute, t->tensor);
    const long bytes = (long)(t->elements * at_type_bytes(t->type));
    const char *from = NULL;
    for (int i = 0; i < f->num_inputs; i++)
        if (f->tensors[i].tensor == held) from = at_format(a, "b%d", i);
    at_text_addf(out, "    %s(b%d, %s, %ldUL);\n", from ? "memcpy" : "memset", output,
                 from ? from : "255", bytes);
}

/* Those that a call makes of what it finds there begin as they were. */
static int begin_again(at_arena *a, at_text *out, const at_face *f) {
    int num = 0;
    for (int i = f->num_inputs; i < f->num; i++) {
        if (!f->of->program->compute->tensors[f->tensors[i].tensor].is_updated) continue;
        clear(a, out, f, i);
        num++;
    }
    return num;
}

/* Counts what differs, and clears the outputs for the next call. */
static void compare(at_arena *a, at_text *out, const at_face *f, bool exact) {
    for (int i = f->num_inputs; i < f->num; i++) {
        const at_type type = f->tensors[i].type;
        const char *number =
            at_type_is_half(type) ? at_format(a, "at_value_of_%s", at_type_of(type)->name) : "";
        at_text_addf(out,
                     "    for (long i = 0; i < %1$lldL; i++) wrong += !at_agrees(%2$s(b%3$d[i]), "
                     "%2$s(want%3$d[i]), %4$s);\n",
                     (long long)f->tensors[i].elements, number, i,
                     exact ? "0" : at_format(a, "limit%d[i]", i));
        clear(a, out, f, i);
    }
}

static void say_wrong(at_text *out, const at_face *f, const char *when) {
    at_text_addf(out,
                 "    if (wrong) {\n        printf(\"%s: %%ld elements are wrong%s\\n\", wrong);\n"
                 "        return 1;\n    }\n",
                 f->of->name, when);
}

/* Is the time of a kernel judged by the CPU's peak? Of one in C for gcc and clang with vectors of
 * its own: of single numbers the compiler may make vectors, as wide as its options allow. */
static bool has_peak(const at_face *f) {
    const at_kernel *k = f->of->kernel;
    return f->of->executed > 0 && k->dialect == AT_DIALECT_GNU && k->target->lanes > 1;
}

static const char *peak_loop_name(at_arena *a, const at_face *f) {
    return at_format(a, "at_spin_%s", f->of->kernel->target->name);
}

/* One loop for each target. */
static void print_peaks(at_arena *a, at_text *out, const at_face *faces, int n) {
    bool any = false;
    for (int i = 0; i < n; i++) {
        const at_target *t = faces[i].of->kernel->target;
        bool is_new = has_peak(&faces[i]);
        for (int j = 0; j < i; j++)
            is_new &= !has_peak(&faces[j]) || faces[j].of->kernel->target != t;
        if (!is_new) continue;
        if (!any) at_text_add(out, peak_helpers);
        any = true;
        const double flops = t->architecture->peak_loop(t, peak_loop_name(a, &faces[i]), out);
        at_text_addf(out,
                     "static double at_peak_%s(double most, double seconds) {\n"
                     "    return at_peak(%s, %.17g, most, seconds);\n}\n\n",
                     t->name, peak_loop_name(a, &faces[i]), flops);
    }
}

/* A time in which the kernel's operations do not fit is measured again, twice, each run of the
 * kernel beside one of the peak's loop. */
static void judge_time(at_text *out, const at_face *f) {
    const char *target = f->of->kernel->target->name;
    at_text_addf(out,
                 "        if (!tries) peak = at_peak_%s(peak, 0.01);\n"
                 "    } while (%.17g / best > 1.1 * %d * peak && ++tries < 3);\n"
                 "    if (tries == 3) {\n"
                 "        printf(\"%s: what it executes in \");\n"
                 "        at_print_time(best);\n"
                 "        printf(\" is %%.2f times what fits at the peak of this CPU: the clock is "
                 "wrong, or \"\n               \"not all calls do the same\\n\", %.17g / best / "
                 "(%d * peak));\n        return 1;\n    }\n",
                 target, f->of->executed, f->threads, f->of->name, f->of->executed, f->threads);
}

static void time_it(at_arena *a, at_text *out, const at_face *f, bool exact) {
    const bool judged = has_peak(f);
    at_text_add(out, "    double best, start;\n    long calls = 1;\n");
    if (judged) at_text_add(out, "    double peak = 0;\n    int tries = 0;\n");
    at_text_add(out, judged ? "    do {\n" : "    {\n");
    at_text_add(out, "        best = INFINITY, start = at_now();\n"
                     "        for (int i = 0; i < 3 || (i < 1000 && at_now() - start < 0.3); i++) "
                     "{\n");
    const bool is_one = begin_again(a, out, f) > 0;
    at_text_add(out, "            double t = at_now();\n"
                     "            for (long n = 0; n < calls; n++)\n");
    call_fast(out, f, "                ");
    at_text_add(out, "            t = (at_now() - t) / (double)calls;\n"
                     "            if (t < best) best = t;\n");
    if (!is_one)
        at_text_add(out, "            /* the clock takes time, too */\n"
                         "            if (t * (double)calls < 2e-5 && calls < 1000000) calls *= "
                         "2;\n");
    if (judged)
        at_text_addf(out, "            if (tries) peak = at_peak_%s(peak, 0.0005);\n",
                     f->of->kernel->target->name);
    at_text_add(out, "        }\n");
    if (judged) judge_time(out, f);
    else at_text_add(out, "    }\n");
    if (f->fast) finish_fast(out, f);
    compare(a, out, f, exact);
    say_wrong(out, f, " after it was timed");
    at_text_addf(out, "    printf(\"%s: right, \");\n    at_print_time(best);\n", f->of->name);
    if (f->of->flops > 0)
        at_text_addf(out, "    printf(\", %%.2f GFLOP/s\", %.17g / best / 1e9);\n", f->of->flops);
    at_text_add(out, "    printf(\"\\n\");\n");
}

/* What the kernel and the reference make of the data that are there. */
static void run_reference(at_arena *a, at_text *out, const at_face *f) {
    const at_compute *c = f->of->program->compute;
    widen(out, f);
    for (int i = f->num_inputs; i < f->num; i++)
        if (c->tensors[f->tensors[i].tensor].lies_in) clear(a, out, f, i);
    for (int i = 0; i < f->num; i++)
        if (f->tensors[i].is_ordered) own_order(out, f, i);
    at_text_addf(out, "    %s_reference(buf, reference_workspace, 0);\n", f->of->name);
}

static void run_fast(at_arena *a, at_text *out, const at_face *f, bool exact) {
    if (f->fast) prepare_fast(out, f);
    call_fast(out, f, "    ");
    if (f->fast) finish_fast(out, f);
    compare(a, out, f, exact);
}

/* Once more with the turns of its parallel loops apart. */
static void run_apart(at_arena *a, at_text *out, const at_face *f, bool exact) {
    char *letters = AT_NEW_ARRAY(a, char, f->num);
    for (int i = 0; i < f->num; i++)
        letters[i] = f->fast && has_blocks(f, &f->tensors[i]) ? 'c' : as_given(&f->tensors[i]);
    at_file_begin_apart(out, f, letters);
    run_fast(a, out, f, exact);
    at_file_end_apart(out, f);
}

/* As often as a worker calls a kernel of somebody's own, which may do something else at times. */
static void call_again(at_arena *a, at_text *out, const at_face *f, bool exact) {
    at_text_add(out, "    for (int call = 0; call < 8; call++) {\n");
    call_fast(out, f, "    ");
    if (f->fast) finish_fast(out, f);
    compare(a, out, f, exact);
    at_text_add(out, "    }\n");
}

/* The kernel on each set of data, the first one last: times are its. */
static void check_draws(at_arena *a, at_text *out, const at_family *family, const at_face *f,
                        const filling *with) {
    const bool exact = with->rule.is_exact;
    list_buffers(out, f, exact);
    if (with->rule.cover.covers.len) {
        fill(out, f, with, &with->rule.cover);
        at_file_begin_cover(out, f, &with->rule.cover);
        run_reference(a, out, f);
        run_fast(a, out, f, exact);
        at_file_end_cover(out, f, &with->rule.cover);
    }
    for (int draw = with->rule.num_draws; draw-- > 0;) {
        fill(out, f, with, &with->rule.draw[draw]);
        run_reference(a, out, f);
        if (f->name) {
            at_text_addf(out, "    %s(", f->name);
            buffers(out, f, AT_CALL_PLAIN, "");
            compare(a, out, f, exact);
        }
        if (f->name && family) {
            call_family(out, family, f);
            compare(a, out, f, exact);
        }
        if (f->fast) run_fast(a, out, f, exact);
    }
    if (f->runs_apart) run_apart(a, out, f, exact);
    call_again(a, out, f, exact);
}

static void check(at_arena *a, at_text *out, const at_families *families, const at_face *f,
                  const filling *with, int64_t reference_workspace, bool several) {
    const at_family *family = family_of(families, f);
    const bool exact = with->rule.is_exact;
    at_text_addf(out, "static int at_check_%s(void) {\n", f->of->name);
    check_cpu(out, f->of, several);
    add_shape(out, families, f);
    allocate(out, f, exact);
    if (family)
        at_text_addf(out, "    long bytes = %s_workspace_bytes(&shape, 1);\n", family->name);
    at_text_addf(out,
                 "    unsigned long own_bytes = %s_workspace_bytes(1);\n"
                 "    void *workspace = at_allocate(%s);\n"
                 "    void *reference_workspace = at_allocate(%lldUL);\n    unsigned state = 1;\n"
                 "    long wrong = 0;\n",
                 f->of->name,
                 family ? "bytes > (long)own_bytes ? (unsigned long)bytes : own_bytes"
                        : "own_bytes",
                 (long long)reference_workspace);
    check_draws(a, out, family, f, with);
    say_wrong(out, f, "");
    time_it(a, out, f, exact);
    release(out, f, exact);
    at_text_add(out, "    return 0;\n}\n\n");
}

static bool has_lists(const at_face *f) {
    bool any = false;
    for (int i = 0; i < f->num_inputs; i++) any |= is_list(f, &f->tensors[i]);
    return any;
}

static bool has_few_bounds(const at_face *f, const filling *with) {
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

/* The same tensors as the computation has them that was written, in the same order. */
static at_face as_written(at_arena *a, const at_face *f) {
    at_face written = *f;
    if (!f->of->written) return written;
    const at_compute *from = f->of->program->compute, *c = f->of->written->compute;
    at_file_kernel *of = at_copy(a, f->of, sizeof *f->of);
    at_face_tensor *tensors = at_copy(a, f->tensors, sizeof *f->tensors * (size_t)f->num);
    of->program = f->of->written;
    for (int i = 0; i < f->num; i++) {
        at_face_tensor *t = &tensors[i];
        t->tensor = at_compute_find(c, from->tensors[t->tensor].name);
        AT_ASSERT(t->tensor >= 0 && (!i || i == f->num_inputs || t->tensor > t[-1].tensor));
    }
    written.of = of;
    written.tensors = tensors;
    written.values = of->program->values;
    return written;
}

at_status at_file_main(at_arena *a, const at_face *kernels, int n, const at_families *families,
                       at_text *out, at_error *err) {
    at_face *faces = AT_NEW_ARRAY(a, at_face, n);
    for (int i = 0; i < n; i++) faces[i] = as_written(a, &kernels[i]);
    bool patterns = false, lists = false, several = false, apart = false;
    for (int i = 0; i < n; i++) {
        patterns |= faces[i].of->pattern != NULL;
        lists |= !faces[i].of->pattern && has_lists(&faces[i]);
        several |= faces[i].of->kernel->target != faces->of->kernel->target;
    }
    at_text_add(out, "\n/* ---- checks ---- */\n");
    at_text_add(out, helpers);
    at_text_add(out, "/* May a result be this far from what it should be? */\n" AT_TEXT_OF(
                         AT_AGREES) "\n\n");
    print_peaks(a, out, faces, n);
    filling *with = AT_NEW_ARRAY(a, filling, n);
    bool whole = false, real = false, any = false, covers = false;
    for (int i = 0; i < n; i++) {
        AT_TRY(choose_filling(a, &faces[i], &with[i], err));
        *(has_wholes(&faces[i], &with[i]) ? &whole : &real) |= has_floats(&faces[i]);
        apart |= has_few_bounds(&faces[i], &with[i]);
        any |= faces[i].num_inputs > 0;
        covers |= with[i].rule.cover.covers.len > 0;
    }
    if (any) at_text_add(out, next_2_helper);
    if (patterns) at_text_add(out, pattern_helper);
    if (lists) at_text_add(out, entries_helper);
    if (apart) at_text_add(out, apart_helper);
    if (whole) at_text_add(out, whole_helper);
    if (real) at_text_add(out, real_helper);
    at_file_half_helpers(faces, n, out);
    if (covers) at_file_cover_helper(out);
    for (int i = 0; i < n; i++) {
        const at_face *f = &faces[i];
        const at_compute *c = f->of->program->compute;
        const char *entry = at_format(a, "%s_reference", f->of->name);
        int64_t workspace = 0;
        at_text_add(out, "/* What is computed, without any schedule. */\n");
        at_text_addf(out, "static int %s(void *const buf[], void *workspace, void *par);\n", entry);
        AT_TRY((with[i].rule.is_exact ? at_compute_reference_c : at_compute_limits_c)(
            a, c, f->values, entry, out, &workspace, err));
        at_text_add(out, "\n");
        check(a, out, families, f, &with[i], workspace, several);
    }
    at_text_add(out, "int main(void) {\n    int failed = 0;\n");
    for (int i = 0; i < n; i++)
        at_text_addf(out, "    failed += at_check_%s();\n", faces[i].of->name);
    at_text_add(out, "    return failed != 0;\n}\n");
    return AT_OK;
}
