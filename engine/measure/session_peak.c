/* engine/measure/session_peak.c: what the core can do right now, which results are shares of. */
#include "engine/measure/session.h"

at_status at_session_measure_peak(at_session *s, at_error *err) {
    AT_TRY(at_worker_peak(s->worker, at_cpu_best_set(), s->threads, &s->peak_gflops, err));
    s->peak = s->peak_gflops;
    if (s->in_bytes)
        AT_TRY(at_worker_bandwidth(s->worker, (int64_t)s->read_bytes, (int64_t)s->written_bytes,
                                   s->threads, &s->peak, err));
    s->peak_ns = at_now_ns();
    return AT_OK;
}

at_status at_session_renew_peak(at_session *s, double age_s, at_error *err) {
    bool is_old = (double)(at_now_ns() - s->peak_ns) * 1e-9 > age_s;
    return is_old ? at_session_measure_peak(s, err) : AT_OK;
}
