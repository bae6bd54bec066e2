/* A weight of an operator from files of each shape: the same elements, wherever a way wants them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/task/weight_form.h"

enum { KH = 2, KW = 3, CI = 5, CO = 4, K = KH * KW * CI, ALL = K * CO };

static char path[64];

/* Another number for each element; every third output is 0 in its first row of the kernel. */
static float element(int h, int w, int c, int o) {
    return o % 3 == 0 && h == 0 ? 0 : (float)(1 + o + 10 * c + 100 * w + 1000 * h);
}

/* Elements of each shape, in the order of the file. */
static float of_array(int i) {
    return element(i / CO / CI / KW, i / CO / CI % KW, i / CO % CI, i % CO);
}
static float of_torch(int i) {
    return element(i / KW % KH, i % KW, i / KW / KH % CI, i / KW / KH / CI);
}
static float of_matrix(int i) {
    return element(i / CI / KW % KH, i / CI % KW, i % CI, i / CI / KW / KH);
}

static at_status read_in_form(at_arena *a, const char *file, const at_weight_form *f, at_input *out,
                              at_error *err) {
    at_input in;
    AT_TRY(at_weight_read(a, file, &in, err));
    return at_weight_in_form(a, file, &in, f, out, err);
}

static void write_npy(const char *shape, float (*of)(int i)) {
    char head[118];
    float values[ALL];
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    int n = snprintf(head, sizeof head, "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }",
                     shape);
    memset(head + n, ' ', sizeof head - (size_t)n);
    head[sizeof head - 1] = '\n';
    for (int i = 0; i < ALL; i++) values[i] = of(i);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fwrite(head, 1, sizeof head, f);
    fwrite(values, sizeof *values, ALL, f);
    fclose(f);
}

static void write_mtx(bool valued) {
    FILE *f = fopen(path, "w");
    int stored = 0;
    assert_non_null(f);
    for (int i = 0; i < ALL; i++) stored += of_matrix(i) != 0;
    fprintf(f, "%%%%MatrixMarket matrix coordinate %s general\n%d %d %d\n",
            valued ? "real" : "pattern", CO, K, stored);
    for (int i = 0; i < ALL; i++) {
        if (of_matrix(i) == 0) continue;
        fprintf(f, "%d %d", i / K + 1, i % K + 1);
        if (valued) fprintf(f, " %g", (double)of_matrix(i));
        fprintf(f, "\n");
    }
    fclose(f);
}

static const at_weight_form last = {KH, KW, CI, CO, false}, first = {KH, KW, CI, CO, true};

static void expect(at_arena *a, const at_weight_form *form, float (*of)(int i)) {
    at_input in;
    at_error err = {0};
    if (read_in_form(a, path, form, &in, &err) != AT_OK) fail_msg("%s", err.text);
    assert_false(in.sparse);
    for (int i = 0; i < ALL; i++) assert_float_equal(in.values[i], of(i), 0);
    assert_int_equal(in.num_dims, form->outputs_first ? 2 : 4);
    assert_int_equal(in.dims[0], form->outputs_first ? CO : KH);
    assert_int_equal(at_weight_form_zeros(form, &in), 2 * KW * CI); /* of outputs 0 and 3 */
}

static void same_elements(void **state) {
    at_arena *a = *state;
    const char *ext = strrchr(path, '.');
    for (int i = 0; i < 4; i++) {
        if (i == 3) strcpy(path + (ext - path), ".mtx");
        if (i == 0) write_npy("2, 3, 5, 4", of_array);
        if (i == 1) write_npy("4, 5, 2, 3", of_torch);
        if (i == 2) write_npy("4, 30", of_matrix);
        if (i == 3) write_mtx(true);
        expect(a, &last, of_array);
        expect(a, &first, of_matrix);
        remove(path);
    }
    at_input in;
    write_mtx(false);
    assert_int_equal(read_in_form(a, path, &last, &in, NULL), AT_OK);
    assert_true(in.sparse && !in.values);
    assert_int_equal(at_weight_form_zeros(&last, &in), 2 * KW * CI);
    remove(path);
}

static void refused(void **state) {
    at_arena *a = *state;
    at_input in;
    at_error err = {0};
    static const char *const shapes[] = {"120,", "2, 3, 4, 5", "30, 4", "4, 2, 3, 5", "2, 60"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        write_npy(shapes[i], of_array);
        assert_int_equal(read_in_form(a, path, &last, &in, &err), AT_E_USAGE);
        assert_non_null(strstr(err.text, "which is none of [KH, KW, CI, CO] = 2 x 3 x 5 x 4, "
                                         "[CO, CI, KH, KW] and, as a matrix, [CO, KH*KW*CI] = "
                                         "4 x 30"));
        remove(path);
    }
    assert_int_equal(read_in_form(a, path, &last, &in, &err), AT_E_INPUT);
    /* Two numbers of a matrix that in full is larger than any memory. */
    const at_weight_form large = {1, 1, 1 << 30, 1 << 24, true};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d 2\n1 1 1\n2 2 1\n",
            1 << 24, 1 << 30);
    fclose(file);
    char *ext = strrchr(path, '.');
    char named[sizeof path];
    snprintf(named, sizeof named, "%.*s.mtx", (int)(ext - path), path);
    assert_int_equal(rename(path, named), 0);
    assert_int_equal(read_in_form(a, named, &large, &in, &err), AT_E_USAGE);
    assert_non_null(strstr(err.text, ".mtx: in full it needs 67108864.0 GiB, this machine has "));
    remove(named);
}

static int setup(void **state) {
    snprintf(path, sizeof path, "/tmp/test_weight_form.%ld.npy", (long)getpid());
    return !(*state = at_arena_new());
}

static int teardown(void **state) {
    at_arena_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_elements, setup, teardown),
        cmocka_unit_test_setup_teardown(refused, setup, teardown)};
    return cmocka_run_group_tests_name("engine/weight_form", tests, NULL, NULL);
}
