/* records/record_time.c: what a record says of times and speeds, its final included. */
#include "records/records_int.h"

#include <stdlib.h>

double at_record_mean(const at_record *r) {
    double sum = 0;
    for (int i = 0; i < r->num_costs; i++) sum += r->costs_s[i];
    return sum / r->num_costs;
}

const at_turns *at_record_final(const at_record *r) {
    const at_turns *last = r->num_finals ? &r->finals[r->num_finals - 1] : NULL;
    return last && last->num_rounds && !last->error_no ? last : NULL;
}

double at_record_time(const at_record *r) {
    const at_turns *f = at_record_final(r);
    return f ? f->time_s : at_record_mean(r);
}

double at_record_gflops(const at_record *r) {
    return r->extra.gflops > 0 ? r->extra.gflops * (at_record_mean(r) / at_record_time(r)) : 0;
}

/* Of what each round says, 0 where it says nothing; the median of those that say something. */
static double median_of_rounds(const at_turns *t, double (*of)(const at_round *, double),
                               double x) {
    double *values = malloc((size_t)t->num_rounds * sizeof *values);
    int n = 0;
    AT_NEED(values);
    for (int i = 0; i < t->num_rounds; i++)
        if (t->rounds[i].peak_gflops > 0) values[n++] = of(&t->rounds[i], x);
    at_sort_doubles(values, n);
    double median = n ? at_sorted_median(values, n) : 0;
    free(values);
    return median;
}

static double peak_of(const at_round *r, double unused) {
    (void)unused;
    return r->peak_gflops;
}

static double share_of(const at_round *r, double gflop) {
    return gflop / r->time_s / r->peak_gflops;
}

double at_record_peak(const at_record *r) {
    const at_turns *f = at_record_final(r);
    return f ? median_of_rounds(f, peak_of, 0) : r->extra.peak_gflops;
}

double at_record_of_peak(const at_record *r) {
    const at_turns *f = at_record_final(r);
    if (f) return median_of_rounds(f, share_of, r->extra.gflops * at_record_mean(r));
    return r->extra.peak_gflops > 0 ? r->extra.gflops / r->extra.peak_gflops : 0;
}

bool at_record_is_at_least(const at_record *r) {
    return !r->error_no && r->extra.sample_kind == AT_SAMPLES_AT_LEAST;
}

bool at_can_be_time(double seconds) { return seconds >= 1e-12 && seconds < 1e9; }

at_standing at_record_standing(const at_record *r) {
    if (r->error_no) return AT_STANDING_FAILED;
    if (at_record_is_at_least(r)) return AT_STANDING_BEHIND;
    for (int i = 0; i < r->num_costs; i++)
        if (!at_can_be_time(r->costs_s[i])) return AT_STANDING_UNCHECKED;
    const at_extra *e = &r->extra;
    return r->num_costs && (!e->present || e->check == AT_CHECK_EXACT ||
                            e->check == AT_CHECK_TOLERANCE || e->check == AT_CHECK_NOTHING)
               ? AT_STANDING_CANDIDATE
               : AT_STANDING_UNCHECKED;
}

bool at_record_is_candidate(const at_record *r) {
    return at_record_standing(r) == AT_STANDING_CANDIDATE;
}

void at_standings_print(at_text *out, const int64_t count[AT_STANDING_COUNT], int64_t unreadable) {
    static const char *const words[AT_STANDING_COUNT] = {[AT_STANDING_BEHIND] = "clearly behind",
                                                         [AT_STANDING_FAILED] = "failed",
                                                         [AT_STANDING_UNCHECKED] = "unchecked"};
    for (int i = 0; i < AT_STANDING_COUNT; i++)
        if (words[i] && count[i]) at_text_addf(out, ", %lld %s", (long long)count[i], words[i]);
    if (unreadable)
        at_text_addf(out, ", %lld unreadable line%s", (long long)unreadable, at_plural(unreadable));
}
