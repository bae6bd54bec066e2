/* .te files: refused with a text that a terminal may show, or a template whose task is made or
 * refused in the same way, and whose sketches are tasks. One with a whole schedule has none. */
#include "tests/fuzz/fuzz.h"

#include "sketch/sketch.h"
#include "tests/fuzz/verb.h"

static void make_task(at_arena *a, const at_template_row *row) {
    at_task *t;
    at_error err;
    at_status s = at_task_new(a, row, "", &t, &err);
    AT_ASSERT(s == AT_OK || s == AT_E_INPUT || s == AT_E_USAGE);
    if (s != AT_OK) {
        fuzz_check_shown(err.text, "the message");
        return;
    }
    for (int i = 0; i < at_task_num_sketches(t); i++) {
        at_text text = {0};
        at_schedulable_print(&text, at_sketch_of_task(t, i)->s);
        AT_ASSERT(text.len);
        at_text_free(&text);
    }
}

static void run(const uint8_t *data, size_t size) {
    at_arena *a = at_arena_new();
    const at_template_row *row;
    at_error err;
    if (at_te_parse(a, "my.te", (const char *)data, size, &row, &err) == AT_OK) make_task(a, row);
    else fuzz_check_shown(err.text, "the message");
    at_arena_free(a);
}

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "# product\nargs N=8, L=4, M=16\nA[N, L] : input\nB[L, M] : weight\nC[N, M] : input\n"
        "mul[i:N, j:M] = sum(k:L) A[i, k] * B[k, j]\nout[i:N, j:M] = mul[i, j] + C[i, j]\n",
        "args H=5, C=8, K=3, P=1 from 0\nsizes O = H + 2*P - K + 1\nd[H, C] : input\n"
        "w[K, C] : weight\np[y:H+2*P, c:C] = P <= y && y < H + P ? d[y - P, c] : 0\n"
        "out[h:O, c:C] = sum(r:K) p[h + r, c] * w[r, c]\n",
        "args N=4\na[N] : input\nb[i:N] = exp(a[i])\nout[i:N] = b[i] * b[i]\n",
        "args N=8, L=4, M=16\nA[N, L] : input\nB[L, M] : weight\n"
        "m[i:N, j:M] = sum(k:L) A[i, k] * B[k, j]\nout[i:N, j:M] = m[i, j] + 1\nschedule\n"
        "i0:para, j0 =>\n    k0, k1, i1:unroll, j1:vec =>\n"
        "        @m = {i0, i1}/i, {j0, j1}/j  // {k0, k1}/k\n",
        "args N=8\na[N] : input\nb[i:N] = exp(a[i])\nout[i:N] = b[i] * b[7 - i]\nschedule\n"
        "x, i1:4 =>\n    @out = {x, i1}/i\n",
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_te = {"te", run, seed, 20};
