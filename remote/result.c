/* remote/result.c: see result.h. Nothing that is read is believed: what would not be written by a
 * program like this one is refused. */
#include "remote/result.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { MOST_SAMPLES = 1 << 16, MOST_ERROR_BYTES = 1 << 16, HASH_DIGITS = 32 };

at_frame at_trial_frame(at_frame_type type, const at_trial_id *id) {
    return (at_frame){.type = type,
                      .search = id->search,
                      .epoch = (uint32_t)id->epoch,
                      .number = (uint64_t)id->number,
                      .attempt = (uint32_t)id->attempt};
}

at_trial_id at_frame_trial(const at_frame *f) {
    return (at_trial_id){.search = f->search,
                         .epoch = (int)(f->epoch & INT32_MAX),
                         .number = (int64_t)f->number,
                         .attempt = (int)(f->attempt & INT32_MAX)};
}

at_frame at_result_frame(const at_trial_id *id, const at_record *r) {
    at_frame f = at_trial_frame(AT_FRAME_RESULT, id);
    f.result = *r;
    return f;
}

static bool is_hash(const char *s) {
    size_t n = 0;
    while (isxdigit((unsigned char)s[n])) n++;
    return !s[n] && (n == 0 || n == HASH_DIGITS);
}

static bool are_positive(const double *x, int n) {
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]) || !(x[i] > 0)) return false;
    return n >= 0 && n <= MOST_SAMPLES;
}

/* A letter for each, or nothing. */
static bool are_states(const at_paired *p) {
    at_state state;
    for (const char *s = p->states; *s; s++)
        if (!at_state_from_letter(*s, &state)) return false;
    return !*p->states || strlen(p->states) == (size_t)p->num_ratios;
}

static bool is_time(double x) { return isfinite(x) && x >= 0; }

static bool is_fine(const at_record *r) {
    const at_extra *x = &r->extra;
    const at_paired *p = &x->pairs;
    bool is_known = r->error_no >= AT_ERR_NONE && r->error_no <= AT_ERR_UNKNOWN &&
                    x->check >= AT_CHECK_NONE && x->check < AT_CHECK_OTHER &&
                    x->sample_kind >= AT_SAMPLES_NONE && x->sample_kind < AT_SAMPLES_OTHER;
    bool is_timed = r->num_costs > 0 && are_positive(r->costs_s, r->num_costs) &&
                    are_positive(x->samples_s, x->num_samples) &&
                    are_positive(p->ratios, p->num_ratios);
    bool is_paired = p->num_ratios ? p->ratio > 0 && isfinite(p->ratio) && p->of_first > 0 &&
                                         isfinite(p->of_first) && *p->first
                                   : p->of_first == 0;
    return is_known && is_timed && is_paired && are_states(p) && is_time(r->all_cost_s) &&
           is_time(r->timestamp_s) && is_time(x->gflops) && is_time(x->peak_gflops) &&
           is_time(x->min_repeat_ms) && is_time(x->accuracy.max_error) &&
           is_time(p->of_first_error) && is_time(x->accuracy.rms_error) &&
           x->accuracy.rms_error <= x->accuracy.max_error && x->number >= 0 && x->same_as >= -1 &&
           is_hash(x->code_hash) && is_hash(p->first) && strlen(x->error) <= MOST_ERROR_BYTES;
}

bool at_result_read(const at_frame *f, const at_record *ready, at_record *out, at_trial_id *id) {
    const at_record *said = &f->result;
    const at_extra *x = &said->extra;
    *id = at_frame_trial(f);
    if (!is_fine(said)) return false;
    *out = *ready;
    out->config = (at_config){.index = said->config.index};
    out->costs_s = said->costs_s;
    out->num_costs = said->num_costs;
    out->error_no = said->error_no;
    out->all_cost_s = said->all_cost_s;
    out->timestamp_s = said->timestamp_s;
    at_extra *own = &out->extra;
    own->samples_s = x->samples_s;
    own->num_samples = x->num_samples;
    own->number = x->number;
    own->min_repeat_ms = x->min_repeat_ms;
    own->pairs = x->pairs;
    own->pairs.anchor = 0;
    own->sample_kind = x->sample_kind;
    own->peak_gflops = x->peak_gflops;
    own->gflops = x->gflops;
    own->error = x->error;
    own->accuracy = x->accuracy;
    own->check = x->check;
    own->code_hash = x->code_hash;
    own->same_as = x->same_as;
    return true;
}
