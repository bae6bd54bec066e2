/* Arrays as NumPy writes them: refused, or finite numbers, as many as the shape says. */
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

#include "runtime/runtime.h"

static void run(const uint8_t *data, size_t size) {
    at_arena *a = at_arena_new();
    at_input in;
    at_error err;
    if (at_input_npy(a, "x", (const char *)data, size, &in, &err) == AT_OK) {
        int64_t n = 1;
        AT_ASSERT(!in.sparse && in.num_dims <= AT_INPUT_DIMS);
        for (int i = 0; i < in.num_dims; i++) AT_ASSERT(at_mul64(n, in.dims[i], &n));
        AT_ASSERT(n <= (int64_t)size / 4);
        for (int64_t i = 0; i < n; i++) AT_ASSERT(isfinite(in.values[i]));
    } else AT_ASSERT(err.status == AT_E_INPUT);
    at_arena_free(a);
}

static bool seed(int i, at_text *out) {
    static const char *const headers[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }\n",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (), }\n",
        "{'descr': '|S8', 'fortran_order': False, 'shape': (), }\n",
    };
    static const double data = 3.5;
    if (i >= 4) return false;
    size_t n = strlen(headers[i]);
    at_text_addn(out, "\x93NUMPY\x01", 8);
    at_text_addn(out, (const char[]){(char)n, 0}, 2);
    at_text_addn(out, headers[i], n);
    at_text_addn(out, (const char *)&data, i == 2 ? 4 : 8);
    return true;
}

const fuzz_target fuzz_npy = {"npy", run, seed, 1};
