/* bench/report.c: medians and quartiles, and the table they are printed in, row by row. */
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

at_bench_spread at_bench_spread_of(const double *values, int n) {
    AT_ASSERT(n > 0);
    double *sorted = at_sorted_copy(values, n);
    at_bench_spread s = {.low = at_sorted_quantile(sorted, n, 0.25),
                         .median = at_sorted_quantile(sorted, n, 0.5),
                         .high = at_sorted_quantile(sorted, n, 0.75)};
    free(sorted);
    return s;
}

at_bench_spread at_bench_single(double value) { return at_bench_spread_of(&value, 1); }

static int digits; /* behind the point, in this section */

void at_bench_report_section(const char *title, const char *unit, int num_digits) {
    digits = num_digits;
    printf("\n%-58s %8s   %-17s %s\n", title, unit, "quartiles", "target");
    fflush(stdout);
}

/* By what a reader of the table sees. */
static const char *verdict(double value, at_bench_goal goal, double target) {
    double half_digit = 0.5 * pow(10, -digits);
    bool reached =
        goal == AT_BENCH_GOAL_LEAST ? value + half_digit >= target : value - half_digit <= target;
    return reached ? "pass" : "short";
}

static void print_state(const char *name, const at_bench_spread *v, int kind) {
    if (!(v->share[kind] > 0)) printf("  %s -", name);
    else printf("  %s %.*f (%.3g %%)", name, digits, v->in[kind], v->share[kind] * 100);
}

void at_bench_report_row(const char *what, at_bench_spread v, at_bench_goal goal, double target) {
    printf("  %-56s %8.*f   %7.*f .. ", what, digits, v.median, digits, v.low);
    if (goal == AT_BENCH_GOAL_NONE) printf("%-7.*f", digits, v.high);
    else
        printf("%-7.*f %s %-4g %s", digits, v.high,
               goal == AT_BENCH_GOAL_LEAST ? ">=" : "<=", target, verdict(v.median, goal, target));
    if (v.share[AT_BENCH_ALONE] + v.share[AT_BENCH_COMPANY] > 0) {
        print_state("alone", &v, AT_BENCH_ALONE);
        print_state("company", &v, AT_BENCH_COMPANY);
    }
    printf("\n");
    fflush(stdout);
}

void at_bench_report_skip(const char *what, const char *why) {
    printf("  %-56s  skipped: %s\n", what, why);
    fflush(stdout);
}

void at_bench_report_note(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    printf("  ");
    vprintf(fmt, args);
    printf("\n");
    fflush(stdout);
    va_end(args);
}

at_status at_bench_row(at_status (*run)(at_arena *a, int i, at_error *err), int i, const char *name,
                       at_error *err) {
    at_arena *a = at_arena_new();
    at_bench_alloc_reset();
    at_status s = run(a, i, err);
    if (s == AT_E_NO_VALID) {
        at_bench_report_skip(name, err->text);
        s = AT_OK;
    }
    at_arena_free(a);
    return s;
}

bool at_bench_is_wanted(const char *name) {
    const char *rows = getenv("ROWS");
    size_t n = strlen(name);
    if (!rows || !*rows) return true;
    for (const char *w = rows; *w; w += strcspn(w, " "), w += *w != 0)
        if (!strncmp(w, name, n) && (w[n] == ' ' || !w[n])) return true;
    return false;
}
