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
    "static unsigned at_next(unsigned *state) {\n"
    "    *state = *state * 1664525u + 1013904223u;\n"
    "    return *state >> 16;\n}\n\n";

static const char time_helpers[] =
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
    "    printf(\"%.*f %s\", t < 9.9995 ? 3 : t < 99.995 ? 2 : t < 999.95, t, unit);\n}\n\n";

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

/* b: as the task has it; c: in blocks or in longer rows, where that differs. */
static bool has_blocks(const at_face *f, const at_face_tensor *t) {
    return t->row || (f->fast && t->laid_out && !t->ahead);
}

static void allocate(at_text *out, const at_face *f, bool has_limits) {
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
                         (long long)at_face_elements_in_blocks(t), bytes);
        if (t->is_ordered)
            at_text_addf(out, "    %s *own%d = at_allocate(%lldUL * %d);\n", type, i,
                         (long long)t->elements, bytes);
        for (int limits = 0; t->is_output && limits < (has_limits ? 2 : 1); limits++)
            at_text_addf(out, "    %s *%s%d = at_allocate(%lldUL * %d);\n", limits ? "float" : type,
                         limits ? "limit" : "want", i, (long long)t->elements, limits ? 4 : bytes);
    }
    if (f->packs)
        at_text_addf(out, "    void *packed = at_allocate(%s_packed_bytes());\n", f->of->name);
}

static void release(at_text *out, const at_face *f, bool has_limits) {
    for (int i = 0; i < f->num; i++) {
        at_text_addf(out, "    free(b%d);\n", i);
        if (f->tensors[i].is_s64) at_text_addf(out, "    free(g%d);\n", i);
        if (has_blocks(f, &f->tensors[i])) at_text_addf(out, "    free(c%d);\n", i);
        if (f->tensors[i].is_ordered) at_text_addf(out, "    free(own%d);\n", i);
        if (!f->tensors[i].is_output) continue;
        at_text_addf(out, "    free(want%d);\n", i);
        if (has_limits) at_text_addf(out, "    free(limit%d);\n", i);
    }
    if (f->packs) at_text_add(out, "    free(packed);\n");
    at_text_add(out, "    free(workspace);\n    free(reference_workspace);\n");
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
                     (call == AT_CALL_FAST || t->row) && has_blocks(f, t) ? 'c' : as_given(t), i);
        comma = ", ";
    }
    at_text_addf(out, "%s%s);\n", comma, call == AT_CALL_PACK ? "packed" : "workspace");
}

/* By shape: parameters of other kernels are 0. What the function gives is 0 where it ran. */
static void call_by_shape(at_text *out, const at_family *family, const at_face *f) {
    at_text_addf(out, "%s(&shape", family->name);
    for (int i = 0; i < family->tensors.len; i++) {
        int own = -1;
        if (!at_call_takes(AT_CALL_PLAIN, &family->tensors.data[i])) continue;
        for (int j = 0; j < f->num; j++)
            if (!strcmp(f->tensors[j].name, family->tensors.data[i].name)) own = j;
        if (own < 0) at_text_add(out, ", 0");
        else at_text_addf(out, ", %c%d", as_given(&f->tensors[own]), own);
    }
    at_text_add(out, ", workspace)");
}

/* Into longer rows, or back. */
static void move_rows(at_text *out, const at_face_tensor *t, int i) {
    char far[80];
    snprintf(far, sizeof far, "c%d[i / %lldL * %lldL + i %% %lldL]", i, (long long)t->own,
             (long long)t->row, (long long)t->own);
    at_text_addf(out, "    for (long i = 0; i < %lldL; i++) ", (long long)t->elements);
    if (t->is_output) at_text_addf(out, "b%d[i] = %s;\n", i, far);
    else at_text_addf(out, "%s = b%d[i];\n", far, i);
}

static void prepare_fast(at_text *out, const at_face *f) {
    if (f->fast && f->packs) {
        at_text_addf(out, "    %s_pack(", f->of->name);
        buffers(out, f, AT_CALL_PACK, "");
    }
    for (int i = 0; i < f->num_inputs; i++)
        if (f->tensors[i].row) move_rows(out, &f->tensors[i], i);
        else if (has_blocks(f, &f->tensors[i]))
            at_text_addf(out, "    %s_pack_%s(%c%d, c%d);\n", f->of->name, f->tensors[i].name,
                         as_given(&f->tensors[i]), i, i);
}

static void call_fast(at_text *out, const at_face *f, const char *indent) {
    at_text_addf(out, "%s%s(", indent, f->fast ? f->fast : f->name);
    buffers(out, f, f->fast ? AT_CALL_FAST : AT_CALL_PLAIN, "");
}

static void finish_fast(at_text *out, const at_face *f) {
    for (int i = f->num_inputs; i < f->num; i++)
        if (f->tensors[i].row) move_rows(out, &f->tensors[i], i);
        else if (has_blocks(f, &f->tensors[i]))
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

static void list_buffers(at_text *out, const at_face *f, bool has_limits) {
    at_text_add(out, "    void *buf[] = {");
    for (int i = 0; i < f->num; i++)
        at_text_addf(out, "%s%d, ",
                     f->tensors[i].is_output    ? "want"
                     : f->tensors[i].is_ordered ? "own"
                                                : "b",
                     i);
    for (int i = f->num_inputs; i < f->num && has_limits; i++) at_text_addf(out, "limit%d, ", i);
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

/* Outputs that a call makes of their old elements begin as they were; how many there are. */
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
    return !f->is_part && f->of->executed > 0 && k->dialect == AT_DIALECT_GNU &&
           k->target->lanes > 1;
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
    finish_fast(out, f);
    compare(a, out, f, exact);
    say_wrong(out, f, " after it was timed");
    at_text_addf(out, "    printf(\"%s: right, \");\n    at_print_time(best);\n", f->of->name);
    if (f->of->flops > 0)
        at_text_addf(out, "    printf(\", %%.2f GFLOP/s\", %.17g / best / 1e9);\n", f->of->flops);
    at_text_add(out, "    printf(\"\\n\");\n");
}

/* What a reference is called behind the kernel's name: with limits of its own where exact draws
 * have none. */
static const char plain_reference[] = "reference", with_limits[] = "limits";

/* What it makes of the data that are there. */
static void run_reference(at_arena *a, at_text *out, const at_face *f, const char *reference) {
    const at_compute *c = f->of->program->compute;
    widen(out, f);
    for (int i = f->num_inputs; i < f->num; i++)
        if (c->tensors[f->tensors[i].tensor].lies_in) clear(a, out, f, i);
    for (int i = 0; i < f->num; i++)
        if (f->tensors[i].is_ordered) own_order(out, f, i);
    at_text_addf(out, "    %s_%s(buf, reference_workspace, 0);\n", f->of->name, reference);
}

static void call_and_compare(at_arena *a, at_text *out, const at_face *f, bool exact) {
    call_fast(out, f, "    ");
    finish_fast(out, f);
    compare(a, out, f, exact);
}

static void run_fast(at_arena *a, at_text *out, const at_face *f, bool exact) {
    prepare_fast(out, f);
    call_and_compare(a, out, f, exact);
}

/* Once more with the turns of its parallel loops apart. */
static void run_apart(at_arena *a, at_text *out, const at_face *f, bool exact) {
    char *letters = AT_NEW_ARRAY(a, char, f->num);
    for (int i = 0; i < f->num; i++)
        letters[i] = has_blocks(f, &f->tensors[i]) ? 'c' : as_given(&f->tensors[i]);
    at_file_begin_apart(out, f, letters);
    run_fast(a, out, f, exact);
    at_file_end_apart(out, f);
}

/* As often as a worker calls a kernel of somebody's own, which may do something else at times. */
static void call_again(at_arena *a, at_text *out, const at_face *f, bool exact) {
    at_text_add(out, "    for (int call = 0; call < 8; call++) {\n");
    call_and_compare(a, out, f, exact);
    at_text_add(out, "    }\n");
}

/* Each of the functions on the data that are there. */
static void call_functions(at_arena *a, at_text *out, const at_family *family, const at_face *f,
                           bool exact) {
    if (f->name && !f->is_part) {
        at_text_addf(out, "    %s(", f->name);
        buffers(out, f, AT_CALL_PLAIN, "");
        compare(a, out, f, exact);
    }
    if (f->name && family) {
        at_text_add(out, "    if (");
        call_by_shape(out, family, f);
        at_text_add(out, ") return 1;\n");
        compare(a, out, f, exact);
    }
    if (f->fast || f->is_part) run_fast(a, out, f, exact);
}

static void check_functions(at_arena *a, at_text *out, const at_family *family, const at_face *f,
                            bool exact, const char *reference) {
    run_reference(a, out, f, reference);
    call_functions(a, out, family, f, exact);
}

static void put_off_one(at_text *out, char letter, int i, long bytes, bool back) {
    at_text_addf(out, "    memmove(%1$c%2$d %3$c 1, %1$c%2$d, %4$ldUL);\n    %1$c%2$d%5$s;\n",
                 letter, i, back ? '-' : '+', bytes, back ? "--" : "++");
}

/* Tensors one element further on, or back again, and what is packed in between words. */
static void put_off(at_text *out, const at_face *f, bool back) {
    for (int i = 0; i < f->num; i++) {
        const at_face_tensor *t = &f->tensors[i];
        const long bytes = (long)(t->elements * at_type_bytes(t->type));
        put_off_one(out, 'b', i, bytes, back);
        if (t->is_s64) put_off_one(out, 'g', i, (long)t->elements * 8, back);
        if (has_blocks(f, t)) at_text_addf(out, "    c%d%s;\n", i, back ? "--" : "++");
    }
    if (f->packs) at_text_addf(out, "    packed = (char *)packed %c 4;\n", back ? '-' : '+');
    at_text_addf(out, "    workspace = (char *)workspace %c 1;\n", back ? '-' : '+');
}

/* Pointers have the alignment of their elements and no more. */
static void call_off(at_arena *a, at_text *out, const at_family *family, const at_face *f,
                     bool exact) {
    put_off(out, f, false);
    call_functions(a, out, family, f, exact);
    put_off(out, f, true);
    prepare_fast(out, f);
}

/* Plain loops for shapes without a kernel, on the kernel's own. */
static void check_loops(at_arena *a, at_text *out, const at_family *family, const at_face *f,
                        bool exact) {
    at_text_addf(out, "    %s_only_loops = 1;\n    if (!", family->name);
    call_by_shape(out, family, f);
    at_text_add(out, ") {\n");
    compare(a, out, f, exact);
    at_text_addf(out, "    }\n    %s_only_loops = 0;\n", family->name);
}

/* The kernel on each set of data, the first one last: times are its. Where draws are made again,
 * the generator goes on, and every other time no element has a value of its own. */
static void check_draws(at_arena *a, at_text *out, const at_family *family, const at_face *f,
                        const at_filling *with) {
    const bool exact = with->rule.is_exact;
    const int64_t times = with->rule.again / with->rule.num_draws + 1;
    list_buffers(out, f, at_file_has_limits(with));
    if (with->reals.fill) {
        at_file_fill(out, f, with, &with->reals);
        check_functions(a, out, family, f, false, with_limits);
    }
    if (with->rule.cover.covers.len) {
        at_file_fill(out, f, with, &with->rule.cover);
        at_file_begin_cover(out, f, &with->rule.cover);
        run_reference(a, out, f, plain_reference);
        run_fast(a, out, f, exact);
        at_file_end_cover(out, f, &with->rule.cover);
    }
    for (int draw = with->rule.num_draws; draw-- > 0;) {
        if (with->rule.again)
            at_text_addf(out, "    for (int again = %lld; again-- > 0;) {\n", (long long)times);
        at_file_fill(out, f, with, &with->rule.draw[draw]);
        check_functions(a, out, family, f, exact, plain_reference);
        if (with->rule.again) at_text_add(out, "    }\n");
    }
    if (family && family->checks_loops) check_loops(a, out, family, f, exact);
    if (f->runs_apart) run_apart(a, out, f, exact);
    call_off(a, out, family, f, exact);
    call_again(a, out, f, exact);
}

static void check(at_arena *a, at_text *out, const at_families *families, const at_face *f,
                  const at_filling *with, int64_t reference_workspace, bool several) {
    const at_family *family = family_of(families, f);
    const bool exact = with->rule.is_exact;
    at_text_addf(out, "static int at_check_%s(void) {\n", f->of->name);
    if (!f->is_part) check_cpu(out, f->of, several);
    add_shape(out, families, f);
    allocate(out, f, at_file_has_limits(with));
    if (family)
        at_text_addf(out, "    long bytes = %s_workspace_bytes(&shape, 1);\n", family->name);
    if (family && family->checks_loops)
        at_text_addf(out,
                     "    %1$s_only_loops = 1;\n"
                     "    long loop_bytes = %1$s_workspace_bytes(&shape, 1);\n"
                     "    %1$s_only_loops = 0;\n"
                     "    if (loop_bytes > bytes) bytes = loop_bytes;\n",
                     family->name);
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
    if (!f->is_part) time_it(a, out, f, exact);
    release(out, f, at_file_has_limits(with));
    at_text_add(out, "    return 0;\n}\n\n");
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

/* What is computed, without any schedule; *workspace grows to what it takes. */
static at_status print_reference(at_arena *a, at_text *out, const at_face *f, const char *name,
                                 bool exact, int64_t *workspace, at_error *err) {
    const at_compute *c = f->of->program->compute;
    const char *entry = at_format(a, "%s_%s", f->of->name, name);
    int64_t own = 0;
    at_text_addf(out,
                 "/* What is computed, without any schedule%s. */\n"
                 "static int %s(void *const buf[], void *workspace, void *par);\n",
                 exact ? "" : ", and how far a result may be from it", entry);
    AT_TRY((exact ? at_compute_reference_c : at_compute_limits_c)(a, c, f->values, entry, out, &own,
                                                                  err));
    at_text_add(out, "\n");
    if (own > *workspace) *workspace = own;
    return AT_OK;
}

static at_status print_references(at_arena *a, at_text *out, const at_face *f,
                                  const at_filling *with, int64_t *workspace, at_error *err) {
    AT_TRY(print_reference(a, out, f, plain_reference, with->rule.is_exact, workspace, err));
    return with->reals.fill ? print_reference(a, out, f, with_limits, false, workspace, err)
                            : AT_OK;
}

at_status at_file_checks(at_arena *a, const at_face *kernels, int n, const at_families *families,
                         at_text *out, at_error *err) {
    at_face *faces = AT_NEW_ARRAY(a, at_face, n);
    for (int i = 0; i < n; i++) faces[i] = as_written(a, &kernels[i]);
    bool several = false, covers = false;
    for (int i = 0; i < n; i++) several |= faces[i].of->kernel->target != faces->of->kernel->target;
    at_text_add(out, "\n/* ---- checks ---- */\n");
    at_text_add(out, helpers);
    if (!faces->is_part) at_text_add(out, time_helpers);
    at_text_add(out, "/* May a result be this far from what it should be? */\n" AT_TEXT_OF(
                         AT_AGREES) "\n\n");
    print_peaks(a, out, faces, n);
    at_filling *with = AT_NEW_ARRAY(a, at_filling, n);
    for (int i = 0; i < n; i++) {
        AT_TRY(at_file_choose_filling(a, &faces[i], &with[i], err));
        covers |= with[i].rule.cover.covers.len > 0;
    }
    at_file_fill_helpers(faces, with, n, out);
    at_file_half_helpers(faces, n, out);
    if (covers) at_file_cover_helper(out);
    for (int i = 0; i < n; i++) {
        int64_t workspace = 0;
        AT_TRY(print_references(a, out, &faces[i], &with[i], &workspace, err));
        check(a, out, families, &faces[i], &with[i], workspace, several);
    }
    return AT_OK;
}

at_status at_file_main(at_arena *a, const at_face *faces, int n, const at_families *families,
                       at_text *out, at_error *err) {
    AT_TRY(at_file_checks(a, faces, n, families, out, err));
    at_text_add(out, "int main(void) {\n    int failed = 0;\n");
    for (int i = 0; i < n; i++)
        at_text_addf(out, "    failed += at_check_%s();\n", faces[i].of->name);
    at_text_add(out, "    return failed != 0;\n}\n");
    return AT_OK;
}
