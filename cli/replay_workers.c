/* cli/replay_workers.c: replay --workers: how a search of a recorded space would go with so many
 * workers, simulated. */
#include "cli/replay_workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "remote/simulate.h"

enum { MOST_COUNTS = 32, MOST_WORKERS = 4096, TRIALS_EACH = 20 };

static at_status read_counts(const char *list, int *counts, int *n, at_error *err) {
    *n = 0;
    for (const char *p = list; *p;) {
        char *end;
        long x = strtol(p, &end, 10);
        if (end == p || x < 1 || x > MOST_WORKERS || (*end && *end != ',') || *n == MOST_COUNTS)
            return at_fail(err, AT_E_USAGE,
                           "--workers %s: numbers from 1 to %d are expected: 1,16,256", list,
                           MOST_WORKERS);
        counts[(*n)++] = (int)x;
        p = *end ? end + 1 : end;
    }
    return AT_OK;
}

static void add_line(at_text *out, bool csv, const at_simulated *x, int count, double each) {
    if (csv) {
        at_text_addf(out, "%d,%lld,%.1f,%.4f,%.4f,", count, (long long)x->trials, x->per_second,
                     x->per_second / (count * each), x->search_share);
        if (isfinite(x->to_95_s))
            at_text_addf(out, "%.4f,%lld\n", x->to_95_s, (long long)x->to_95_trials);
        else at_text_add(out, ",\n");
        return;
    }
    at_text_addf(out, "%7d %9lld %11.1f %8.1f %% %11.1f %%", count, (long long)x->trials,
                 x->per_second, 100 * x->per_second / (count * each), 100 * x->search_share);
    if (isfinite(x->to_95_s))
        at_text_addf(out, " %11.3f s %8lld\n", x->to_95_s, (long long)x->to_95_trials);
    else at_text_addf(out, " %13s %8s\n", "-", "-");
}

at_status at_replay_workers(const at_options *o, const at_recorded *space, at_error *err) {
    int counts[MOST_COUNTS], n;
    at_text out = {0};
    double each = 0; /* trials per second of a worker, as of the first count */
    if (o->json || o->trace || o->compare)
        return at_fail(err, AT_E_USAGE,
                       "--workers: goes with --csv, not with --json, --trace or "
                       "--compare");
    AT_TRY(read_counts(o->sim_workers, counts, &n, err));
    at_text_add(&out, o->csv
                          ? "workers,trials,per_second,of_linear,search_busy,seconds_to_95,"
                            "trials_to_95\n"
                          : "workers    trials  trials/s  of linear  search busy      to 95 % of "
                            "best, trials\n");
    at_status status = AT_OK;
    for (int i = 0; i < n && status == AT_OK; i++) {
        at_simulated x;
        int64_t least = (int64_t)counts[i] * TRIALS_EACH;
        at_simulation what = {.workers = counts[i],
                              .trials = o->engine.trials > least ? o->engine.trials : least,
                              .trial_s = o->trial_time_s,
                              .latency_s = o->latency_s,
                              .losses = o->losses};
        status = at_simulate(space, &o->engine, &what, &x, err);
        if (status != AT_OK) break;
        if (!i) each = x.per_second / counts[0];
        add_line(&out, o->csv, &x, counts[i], each);
    }
    if (status == AT_OK) status = at_print(&out, err);
    at_text_free(&out);
    return status;
}
