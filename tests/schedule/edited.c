/* tests/schedule/edited.c: see edited.h. */
#include "tests/schedule/edited.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char product[] = "A[N, L] : input\n"
                              "B[L, M] : weight\n"
                              "C[N, M] : input\n"
                              "mul[i:N, j:M] = sum(k:L) A[i, k]*B[k, j]\n"
                              "out[i:N, j:M] = mul[i, j] + C[i, j]\n";
const example edited_product = {"matmul_add", EDITED_SIZES, product,
                                "i, j, k => @mul = i, j // k\ni, j => @out = i, j\n"};

edited e;

void begin_edits(const example *x) {
    fixture_open(&e.f, x);
    fixture_fill(&e.f, 3);
    e.compute = e.f.compute;
    e.tree = e.f.tree;
}

void end_edits(void) { fixture_close(&e.f); }

void expect_tree(const char *wanted) {
    at_text text = {0};
    at_tree_print(&text, e.tree);
    if (strcmp(at_text_str(&text), wanted))
        fail_msg("is\n%swanted\n%s", at_text_str(&text), wanted);
    at_text_free(&text);
}

void expect_stage(const char *wanted) {
    at_text text = {0};
    at_compute_print(&text, e.compute);
    if (!strstr(at_text_str(&text), wanted))
        fail_msg("is\n%swanted\n%s", at_text_str(&text), wanted);
    at_text_free(&text);
}

void expect_outputs(float ulps) {
    at_program *p;
    at_data *found = AT_NEW_ARRAY(e.f.arena, at_data, e.compute->num_tensors);
    int64_t **extents;
    DO(at_program_build(e.f.arena, e.tree, e.f.values, &p, &e.err));
    DO(at_program_verify(e.f.arena, p, &e.err));
    DO(at_compute_interpret(e.f.arena, e.f.compute, e.f.values, e.f.data, &e.err));
    DO(at_compute_extents(e.f.arena, e.f.compute, e.f.values, &extents, &e.err));
    for (int t = 0; t < e.compute->num_tensors; t++) {
        int before = at_compute_find(e.f.compute, e.compute->tensors[t].name);
        if (e.compute->tensors[t].role != AT_ROLE_STAGE) found[t] = e.f.data[before];
    }
    DO(at_program_interpret(e.f.arena, p, found, &e.err));
    for (int t = 0; t < e.f.compute->num_tensors; t++) {
        if (!e.f.compute->tensors[t].is_output) continue;
        int after = at_compute_find(e.compute, e.f.compute->tensors[t].name);
        const int64_t count = at_tensor_elements(&e.f.compute->tensors[t], extents[t]);
        for (int64_t i = 0; i < count; i++) {
            const float x = found[after].f[i], y = e.f.data[t].f[i];
            const bool is_same = ulps > 0 ? x == y || fabsf(x - y) <= ulps * FLT_EPSILON * fabsf(y)
                                          : !memcmp(&x, &y, sizeof x);
            if (!is_same) fail_msg("%s: %.9g, not %.9g", e.f.compute->tensors[t].name, x, y);
        }
    }
}

void expect_same_outputs(void) { expect_outputs(0); }
