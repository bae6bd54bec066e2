/* records/objective.c: which state of the machine counts, and what it makes of values that were
 * measured in several; and the comment line that tells it:
 *
 *     #objective {"task": ..., "args": [...], "context_hash": "...", "objective": "alone",
 *                 "by": "probes", "seen": {"alone": 0.97, "company": 0.02, "mixed": 0.01}}
 */
#include "records/records_int.h"

#include <stdlib.h>
#include <string.h>

at_state at_objective_state(at_objective o) {
    if (o == AT_OBJECTIVE_ALONE) return AT_STATE_ALONE;
    return o == AT_OBJECTIVE_COMPANY ? AT_STATE_COMPANY : AT_STATE_UNKNOWN;
}

bool at_objective_counts(at_objective o, at_state s) {
    return at_state_counts(at_objective_state(o), s);
}

double at_median_that_counts(const double *values, const char *states, int n, at_objective o,
                             int *counting) {
    double *of = malloc((size_t)n * sizeof *of + 1);
    at_state s;
    int k = 0;
    AT_NEED(of);
    bool known = states && *states;
    for (int i = 0; i < n && known; i++)
        if (at_state_from_letter(states[i], &s) && at_objective_counts(o, s)) of[k++] = values[i];
    if (counting) *counting = k;
    if (!k) memcpy(of, values, (size_t)n * sizeof *of), k = n;
    at_sort_doubles(of, k);
    double median = k ? at_sorted_median(of, k) : 0;
    free(of);
    return median;
}

bool at_objective_line_read(at_arena *a, const char *comment, at_objective_line *out) {
    at_comment c;
    if (!at_comment_read(a, comment, "objective", &c)) return false;
    const at_json *v = c.value;
    const char *objective = at_json_string_in(v, "objective"), *by = at_json_string_in(v, "by");
    *out = (at_objective_line){.task = c.task,
                               .context_hash = c.context_hash,
                               .args = c.args,
                               .by_probes = by && !strcmp(by, "probes")};
    if (!objective || !at_objective_from_name(objective, &out->objective)) return false;
    const at_json *seen = at_json_get(v, "seen");
    for (int s = 0; s < AT_STATE_COUNT; s++) {
        const at_json *share = at_json_get(seen, at_state_name((at_state)s));
        if (share && share->kind == AT_JSON_NUMBER && share->number > 0 && share->number <= 1)
            out->share[s] = share->number;
    }
    return true;
}

void at_objective_line_print(at_text *out, const at_objective_line *l) {
    at_comment_begin(out, "objective", l->task, l->args, l->context_hash);
    at_text_addf(out, ", \"objective\": \"%s\", \"by\": \"%s\", \"seen\": {",
                 at_objective_name(l->objective), l->by_probes ? "probes" : "user");
    const char *comma = "";
    for (int s = 0; s < AT_STATE_COUNT; s++) {
        if (!(l->share[s] >= 0.00005)) continue;
        at_text_addf(out, "%s\"%s\": ", comma, at_state_name((at_state)s));
        at_text_addf(out, "%.4f", l->share[s]);
        comma = ", ";
    }
    at_text_add(out, "}}");
}
