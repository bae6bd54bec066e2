/* bench/blocked.c: channel blocks undone, to hand the same data to peers and to compare outputs. */
#include "bench/bench.h"

#include <string.h>

float *at_bench_plain(const float *blocked, int64_t outer, int64_t blocks, int64_t inner,
                      int64_t block) {
    float *to = at_bench_alloc(outer * blocks * inner * block * 4);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t c = 0; c < blocks; c++)
            for (int64_t i = 0; i < inner; i++, blocked += block)
                memcpy(to + ((o * inner + i) * blocks + c) * block, blocked,
                       (size_t)block * sizeof *to);
    return to;
}

float *at_bench_plain_weight(const float *blocked, const at_bench_conv *s, int64_t i, int64_t o) {
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
