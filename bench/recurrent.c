/* bench/recurrent.c: LSTM layers, derived (examples/te/lstm.te), against oneDNN's; both with their
 * weights packed ahead. */
#include "bench/peers.h"

enum { OURS, PEER, NUM_CONTENDERS, TRIALS = 200 };

static const at_bench_lstm rows[] = {
    {32, 4, 128, 128}, {32, 1, 128, 128}, {64, 1, 256, 256}, {16, 32, 256, 256}, {20, 8, 512, 512}};

static const float *tensor(const at_bench_data *d, const char *name) {
    return d->tensor[at_compute_find(d->compute, name)];
}

/* Its output is compared with ours. */
static at_status open_peer(const at_bench_lstm *s, const at_bench_data *d, at_onednn **out,
                           at_error *err) {
    const int result = at_compute_find(d->compute, "h");
    float *got = at_bench_alloc(d->elements[result] * 4);
    *out =
        at_onednn_lstm(s, tensor(d, "x"), tensor(d, "w"), tensor(d, "u"), tensor(d, "bias"), err);
    if (!*out) return err->status;
    at_onednn_output(*out, got);
    return at_bench_check("oneDNN", got, d->tensor[result], d->elements[result], 1e-4, err);
}

static at_status contest(at_arena *a, const at_bench_lstm *s, at_bench_kernel *kernel,
                         const at_bench_data *data, at_error *err) {
    at_bench_contender of[NUM_CONTENDERS];
    at_bench_contest c;
    at_onednn *onednn = NULL;
    at_status status = open_peer(s, data, &onednn, err);
    if (status == AT_OK) {
        of[OURS] = at_bench_kernel_contender(kernel);
        of[PEER] = at_onednn_contender(onednn);
        of[PEER].flops = of[OURS].flops;
        at_bench_contest_run(&c, of, NUM_CONTENDERS, at_bench_target());
        at_bench_report_row(at_format(a, "LSTM, %d steps of %d, %d to %d, against oneDNN", s->steps,
                                      s->batch, s->inputs, s->states),
                            at_bench_contest_speed(&c, OURS, PEER), AT_BENCH_GOAL_LEAST, 0.95);
        at_bench_report_row("    of the FMA peak", at_bench_contest_of_peak(&c, OURS),
                            AT_BENCH_GOAL_NONE, 0);
    }
    at_onednn_free(onednn);
    return status;
}

static at_status run(at_arena *a, int i, at_error *err) {
    const at_bench_lstm *r = &rows[i];
    const char *args =
        at_format(a, "T=%d,B=%d,D=%d,H=%d", r->steps, r->batch, r->inputs, r->states);
    at_bench_search s = at_bench_te_search(a, at_format(a, "lstm-%d", i), "lstm", args, TRIALS);
    at_program *p;
    at_bench_data data;
    at_bench_kernel kernel;
    AT_TRY(at_bench_best_open(a, &s, &p, &data, &kernel, err));
    at_status status = contest(a, r, &kernel, &data, err);
    at_bench_kernel_close(&kernel);
    return status;
}

at_status at_bench_recurrent(at_error *err) {
    at_status s = AT_OK;
    at_bench_report_section("LSTM layers, derived, best of 200 trials, against oneDNN", "ratio", 2);
    if (!at_onednn_about()) {
        at_bench_report_skip("LSTM", "no oneDNN");
        return AT_OK;
    }
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows) && s == AT_OK; i++)
        s = at_bench_row(run, i, "lstm", err);
    return s;
}
