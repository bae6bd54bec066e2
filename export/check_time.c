/* export/check_time.c: the main of an emitted file times a kernel, and judges whether so much can
 * be done in that time. */
#include "codegen/target.h"
#include "export/check_int.h"

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

void at_main_time_helpers(at_text *out) { at_text_add(out, time_helpers); }

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
void at_main_peaks(at_arena *a, at_text *out, const at_face *faces, int n) {
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

void at_main_time(at_arena *a, at_text *out, const at_face *f, bool exact) {
    const bool judged = has_peak(f);
    at_text_add(out, "    double best, start;\n    long calls = 1;\n");
    if (judged) at_text_add(out, "    double peak = 0;\n    int tries = 0;\n");
    at_text_add(out, judged ? "    do {\n" : "    {\n");
    at_text_add(out, "        best = INFINITY, start = at_now();\n"
                     "        for (int i = 0; i < 3 || (i < 1000 && at_now() - start < 0.3); i++) "
                     "{\n");
    const bool is_one = at_main_begin_again(a, out, f) > 0;
    at_text_add(out, "            double t = at_now();\n"
                     "            for (long n = 0; n < calls; n++)\n");
    at_main_call(out, f, "                ");
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
    at_main_finish(out, f);
    at_main_compare(a, out, f, exact);
    at_main_say_wrong(out, f, " after it was timed");
    at_text_addf(out, "    printf(\"%s: right, \");\n    at_print_time(best);\n", f->of->name);
    if (f->of->flops > 0)
        at_text_addf(out, "    printf(\", %%.2f GFLOP/s\", %.17g / best / 1e9);\n", f->of->flops);
    at_text_add(out, "    printf(\"\\n\");\n");
}
