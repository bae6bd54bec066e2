/* Steps of show --history, over a product and a softmax: refused with a text that a terminal may
 * show, or a program, whose own steps make the same program again. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "sketch/sketch.h"
#include "tests/fuzz/verb.h"

static const char *const computations[] = {
    "args N=8, L=4, M=16\nA[N, L] : input\nB[L, M] : weight\nC[N, M] : input\n"
    "mul[i:N, j:M] = sum(k:L) A[i, k] * B[k, j]\nout[i:N, j:M] = mul[i, j] + C[i, j]\n",
    "args M=4, N=6\nA[M, N] : input\nmost[i:M] = max(k:N) A[i, k]\n"
    "e[i:M, j:N] = exp(A[i, j] - most[i])\ntotal[i:M] = sum(k:N) e[i, k]\n"
    "out[i:M, j:N] = e[i, j] / total[i]\n",
};

static at_status program_of(at_arena *a, const at_task *t, const char *text, at_task **made,
                            at_config *c, at_error *err) {
    at_steps steps;
    const at_template_row *row;
    AT_TRY(at_steps_parse(a, "my.steps", text, &steps, err));
    AT_TRY(at_steps_row(a, t, "my.steps", &steps, &row, err));
    AT_TRY(at_task_new(a, row, "", made, err));
    return at_task_default_config(a, *made, 8, c, err);
}

static at_key key_of(at_arena *a, const at_task *t, const at_config *c) {
    at_program *p;
    at_error err;
    if (at_task_program(a, t, c, &p, &err) != AT_OK) AT_BUG("%s", err.text);
    return at_program_key(p);
}

static void again(at_arena *a, const at_task *t, const at_task *made, const at_config *c) {
    at_steps steps;
    at_task *second;
    at_config own;
    at_text text = {0};
    at_error err;
    if (at_steps_of(a, made, c, &steps, &err) != AT_OK) AT_BUG("%s", err.text);
    at_steps_print(&text, made, &steps);
    if (program_of(a, t, at_text_str(&text), &second, &own, &err) != AT_OK)
        AT_BUG("%s\n%s", err.text, at_text_str(&text));
    AT_ASSERT(at_key_equal(key_of(a, made, c), key_of(a, second, &own)));
    at_text_free(&text);
}

static void run(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    for (size_t i = 0; i < sizeof computations / sizeof *computations; i++) {
        at_arena *a = at_arena_new();
        const at_template_row *row;
        at_task *t, *made;
        at_config c;
        at_error err;
        const char *of = computations[i];
        AT_ASSERT(at_te_parse(a, "my.te", of, strlen(of), &row, &err) == AT_OK);
        AT_ASSERT(at_task_new(a, row, "", &t, &err) == AT_OK);
        if (program_of(a, t, text, &made, &c, &err) == AT_OK) again(a, t, made, &c);
        else fuzz_check_shown(err.text, "the message");
        at_arena_free(a);
    }
    free(text);
}

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "split mul j into j0:1 j1:16\nsplit mul i into i0:2 i1:4\nsplit mul k into k0:2 k1:2\n"
        "order mul: i0 j0 k0 k1 i1 j1\nmark mul i1 unroll\nmark mul j1 vec\n"
        "fuse mul: i0 j0\nmark mul i0 para\nnest out behind mul in j0\n"
        "copy layout B for mul as B_packed\n",
        "init mul\nsplit mul k into k0:2 k1:2\nfactor mul k1 as rf\n",
        "copy write mul as local\nattribute local [dense]\n",
        "join total behind most\nmark out j vec\nrepeat most in r:3 around k\n",
        "split mul.init i into a:8\nsize N:8\n",
        "join e before total in i\njoin out behind total in i\ndrop most i\n# done\n",
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_steps = {"steps", run, seed, 20};
