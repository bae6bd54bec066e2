/* bench/counts.c: a file in which several processes count what their comparisons found: a line for
 * every few of them, "COMPARISONS DIFFERENT BEYOND". */
#include "bench/bench.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A whole number from 0 to most, and the blanks before it. */
static bool take_number(char **at, int most, int *out) {
    char *begin = *at + strspn(*at, " ");
    if (*begin < '0' || *begin > '9') return false;
    errno = 0;
    long x = strtol(begin, at, 10);
    *out = (int)x;
    return !errno && x <= most;
}

static bool take_line(char *line, at_bench_counts *c) {
    return take_number(&line, INT_MAX, &c->comparisons) &&
           take_number(&line, c->comparisons, &c->different) &&
           take_number(&line, c->different, &c->beyond) && !strcmp(line, "\n");
}

at_status at_bench_counts_read(const char *path, at_bench_counts *sum, at_error *err) {
    FILE *f = fopen(path, "r");
    char line[64];
    int number = 0;
    at_status s = AT_OK;
    *sum = (at_bench_counts){0};
    while (f && s == AT_OK && fgets(line, sizeof line, f)) {
        at_bench_counts c;
        number++;
        if (!take_line(line, &c) ||
            __builtin_add_overflow(sum->comparisons, c.comparisons, &sum->comparisons))
            s = at_fail(err, AT_E_INPUT,
                        "%s:%d: not three numbers, each at least the next, whose sums stay below "
                        "2^31",
                        path, number);
        if (s != AT_OK) break;
        sum->different += c.different; /* no more than there are comparisons */
        sum->beyond += c.beyond;
    }
    if (f) fclose(f);
    return s;
}

at_status at_bench_counts_append(const char *path, const at_bench_counts *c, at_error *err) {
    FILE *f = fopen(path, "a");
    bool ok = f && fprintf(f, "%d %d %d\n", c->comparisons, c->different, c->beyond) > 0;
    if (f) ok &= !fclose(f);
    return ok ? AT_OK : at_fail(err, AT_E_OUTPUT, "%s: cannot be written", path);
}
