/* engine/measure/session_peak.c: what the core can do right now, which results are shares of. */
#include "engine/measure/session.h"
#include "engine/measure/bench.h"
#include "engine/measure/target_here.h"

at_status at_session_measure_peak(at_session *s, at_error *err) {
    AT_TRY(at_worker_peak(s->bench->worker, at_cpu_best_set(), s->how.threads,
                          &s->bench->peak_gflops, err));
    s->bench->peak = s->bench->peak_gflops;
    if (s->what.dot_terms) {
        const at_compute *c = at_task_compute(s->what.task);
        const at_target *t = at_target_of_types(at_target_here(), c);
        const char *set = t->name;
        double gops;
        AT_TRY(
            at_worker_dot_peak(s->bench->worker, at_vector_set(set), s->how.threads, &gops, err));
        if (gops <= 0) s->what.dot_terms = 0; /* it is not measured on this architecture */
        else
            s->bench->peak = t->dots & AT_DOT_BF16 ? gops : gops * s->what.dot_terms / AT_DOT_TERMS;
    }
    if (s->what.in_bytes)
        AT_TRY(at_worker_bandwidth(s->bench->worker, (int64_t)s->what.read_bytes,
                                   (int64_t)s->what.written_bytes, s->how.threads, &s->bench->peak,
                                   err));
    s->bench->peak_ns = at_now_ns();
    return AT_OK;
}

void at_session_take_peak(at_session *s, double peak_gflops) {
    s->bench->peak = peak_gflops;
    /* Dot products are the work of the units of multiply-adds, a term for each product. */
    s->bench->peak_gflops = s->what.in_bytes    ? 0
                            : s->what.dot_terms ? peak_gflops / s->what.dot_terms
                                                : peak_gflops;
}

at_status at_session_renew_peak(at_session *s, double age_s, at_error *err) {
    bool is_old = at_seconds_since(s->bench->peak_ns) > age_s;
    return is_old ? at_session_measure_peak(s, err) : AT_OK;
}
