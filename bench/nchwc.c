/* bench/nchwc.c: a loop tree written by hand for the layer 64@56 in blocked layouts, whose padding
 * is not multiplied: what the notation and the tiles can do where no search is in the way, against
 * oneDNN's direct convolution. Weights and data lie packed, as oneDNN's do. */
#include "bench/peers.h"

/* clang-format off */
static const char compute_text[] =
    "data[N, IC/i, IH, IW, i] : input\n"
    "weight[OC/o, IC/i, 3, 3, i, o] : weight\n"
    "pad[n:N, C:IC/i, y:IH+2, x:IW+2, c:i] = inside ? data[n, C, y-1, x-1, c] : 0\n"
    "    where inside = 1 <= y && y < IH+1 && 1 <= x && x < IW+1\n"
    "acc[n:N, O:OC/o, h:IH, w:IW, b:o] = sum(ic:IC, kh:3, kw:3)\n"
    "    pad[n, ic/i, h+kh, w+kw, ic%i] * weight[O, ic/i, kh, kw, ic%i, b]\n"
    "out[n:N, O:OC/o, h:IH, w:IW, b:o] = acc[n, O, h, w, b]\n";

static const char tree_text[] =
    "n, O, h, ow =>\n"
    "    C, kh, iic, kw:unroll, iw:unroll, b:vec =>\n"
    "        @acc = n, O, h, {ow, iw}/w, b  // {C, iic}/ic, kh, kw\n"
    "    iw:unroll, b:vec =>\n"
    "        @out = n, O, h, {ow, iw}/w, b\n";
/* clang-format on */

/* 14 rows of two vectors are 28 of the 32 registers of AVX-512. Input and output blocks are alike,
 * so that layers chain. */
enum { BLOCK = 32, ROWS = 14 };

static at_status make_program(at_arena *a, const at_bench_conv *s, at_program **out,
                              at_error *err) {
    const at_bench_size sizes[] = {{"N", s->n},          {"IC", s->ic}, {"OC", s->oc},
                                   {"IH", s->ih},        {"IW", s->iw}, {"i", BLOCK},
                                   {"o", BLOCK},         {"b", BLOCK},  {"iic", BLOCK},
                                   {"C", s->ic / BLOCK}, {"iw", ROWS},  {"ow", s->iw / ROWS}};
    return at_bench_program(a, compute_text, tree_text, sizes, sizeof sizes / sizeof *sizes, out,
                            err);
}

static at_status run(at_arena *a, int layer, at_error *err) {
    const at_bench_conv *s = &at_bench_layers[layer].conv;
    const at_lower_options lo = at_bench_lower_options(at_bench_target());
    at_program *program;
    at_bench_data data;
    at_bench_kernel kernel;
    at_bench_contender of[AT_BENCH_CONTENDERS];
    at_bench_contest contest;
    at_onednn *peer = NULL;
    int n = 1;
    AT_TRY(make_program(a, s, &program, err));
    AT_TRY(at_bench_data_new(a, program->compute, program->values, &data, err));
    AT_TRY(at_bench_kernel_open(a, program, &lo, AT_TCC, NULL, &data, &kernel, err));
    of[0] = at_bench_kernel_contender(&kernel);
    at_status status = AT_OK;
    if (at_onednn_about())
        status = at_bench_open_onednn_blocked(s, &data, BLOCK, BLOCK, &peer, err);
    if (status == AT_OK) {
        if (peer) of[n++] = at_onednn_contender(peer);
        at_bench_contest_run(&contest, of, n, at_bench_target());
        at_bench_report_row("64@56 of the FMA peak", at_bench_contest_of_peak(&contest, 0),
                            AT_BENCH_GOAL_NONE, 0);
        at_bench_note_padding(s);
        if (peer)
            at_bench_report_row("64@56 against oneDNN direct",
                                at_bench_contest_speed(&contest, 0, 1), AT_BENCH_GOAL_LEAST, 0.97);
        else at_bench_report_skip("64@56 against oneDNN direct", "no oneDNN");
    }
    at_onednn_free(peer);
    at_bench_kernel_close(&kernel);
    return status;
}

at_status at_bench_nchwc(at_error *err) {
    at_bench_report_section("NCHWc tree written by hand, padding not multiplied, tcc", "ratio", 2);
    return at_bench_row(run, 0, at_bench_layers[0].name, err);
}
