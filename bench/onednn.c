/* bench/onednn.c: oneDNN on the data of a kernel of ours, whose channel blocks are undone for it,
 * and its output compared. */
#include "bench/peers.h"

#include <string.h>

float *at_bench_unblocked(const float *blocked, int64_t outer, int64_t blocks, int64_t inner,
                          int64_t block) {
    float *to = at_bench_alloc(outer * blocks * inner * block * 4);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t c = 0; c < blocks; c++)
            for (int64_t i = 0; i < inner; i++, blocked += block)
                memcpy(to + ((o * inner + i) * blocks + c) * block, blocked,
                       (size_t)block * sizeof *to);
    return to;
}

/* [oc/o, ic/i, kh*kw, i, o] to [oc, kh*kw, ic]. */
static float *plain_weight(const float *blocked, const at_bench_conv *s, int64_t i, int64_t o) {
    int64_t taps = (int64_t)s->kh * s->kw;
    float *to = at_bench_alloc(s->oc * taps * s->ic * 4);
    for (int64_t first_o = 0; first_o < s->oc; first_o += o)
        for (int64_t first_i = 0; first_i < s->ic; first_i += i)
            for (int64_t t = 0; t < taps; t++)
                for (int64_t c = 0; c < i; c++)
                    for (int64_t f = 0; f < o; f++)
                        to[((first_o + f) * taps + t) * s->ic + first_i + c] = *blocked++;
    return to;
}

at_status at_bench_open_onednn(const at_bench_conv *s, const float *data, const float *weight,
                               const float *expected, at_onednn **out, at_error *err) {
    int64_t n = (int64_t)s->n * at_bench_conv_oh(s) * at_bench_conv_ow(s) * s->oc;
    float *got = at_bench_alloc(n * 4);
    if (!(*out = at_onednn_conv(s, data, weight, err))) return err->status;
    at_onednn_output(*out, got);
    return at_bench_check("oneDNN", got, expected, n, s->winograd ? 1e-3 : 0, err);
}

at_status at_bench_open_onednn_blocked(const at_bench_conv *s, const at_bench_data *d, int64_t i,
                                       int64_t o, at_onednn **out, at_error *err) {
    const at_compute *c = d->compute;
    int64_t from = (int64_t)s->ih * s->iw, to = (int64_t)at_bench_conv_oh(s) * at_bench_conv_ow(s);
    const float *data =
        at_bench_unblocked(d->tensor[at_compute_find(c, "data")], s->n, s->ic / i, from, i);
    const float *weight = plain_weight(d->tensor[at_compute_find(c, "weight")], s, i, o);
    const float *expected =
        at_bench_unblocked(d->tensor[at_compute_find(c, "out")], s->n, s->oc / o, to, o);
    return at_bench_open_onednn(s, data, weight, expected, out, err);
}
