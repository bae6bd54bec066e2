/* engine/command/metric.c: see metric.h. */
#include "engine/command/metric.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

at_status at_metric_open(at_metric *m, const char *pattern, bool higher, at_error *err) {
    *m = (at_metric){.higher = higher};
    int fault = regcomp(&m->pattern, pattern, REG_EXTENDED | REG_NEWLINE);
    if (fault) {
        char why[256];
        regerror(fault, &m->pattern, why, sizeof why);
        return at_fail(err, AT_E_USAGE, "--metric %s: %s", pattern, why);
    }
    m->is_there = true;
    if (m->pattern.re_nsub) return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "--metric %s: the number stands in parentheses: 'time: ([0-9.]+) ms'", pattern);
}

void at_metric_close(at_metric *m) {
    if (m->is_there) regfree(&m->pattern);
    m->is_there = false;
}

/* Of "12.5 ms" behind the number; what is no unit of time is a second. */
static double unit_of(const char *behind) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"\xc2\xb5s", 1e-6}, {"\xce\xbcs", 1e-6},
                 {"ms", 1e-3}, {"s", 1},     {"min", 60}};
    const char *p = behind + strspn(behind, " \t");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(units[i].name);
        if (!strncmp(p, units[i].name, n) && !isalnum((unsigned char)p[n])) return units[i].seconds;
    }
    return 1;
}

/* found[1]: what stands in the parentheses. */
static bool is_found(const at_metric *m, const char *text, regmatch_t *found) {
    return !regexec(&m->pattern, text, 2, found, 0) && found[1].rm_so >= 0;
}

const char *at_metric_figure(at_arena *a, const at_metric *m, const char *text) {
    regmatch_t found[2];
    if (!is_found(m, text, found)) return NULL;
    return at_strndup(a, text + found[1].rm_so, (size_t)(found[1].rm_eo - found[1].rm_so));
}

bool at_metric_read(const at_metric *m, const char *text, double *cost) {
    regmatch_t found[2];
    if (!is_found(m, text, found)) return false;
    char number[64];
    size_t n = (size_t)(found[1].rm_eo - found[1].rm_so);
    if (!n || n >= sizeof number) return false;
    memcpy(number, text + found[1].rm_so, n);
    number[n] = 0;
    char *end;
    double x = strtod(number, &end);
    if (end == number || end[strspn(end, " \t")] || !isfinite(x) || !(x > 0)) return false;
    *cost = m->higher ? 1 / x : x * unit_of(text + found[1].rm_eo);
    return isfinite(*cost) && *cost > 0;
}
