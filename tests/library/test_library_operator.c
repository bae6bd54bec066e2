/* An operator through the library: its ways are tuned together, and whichever is loaded takes its
 * weight in one form. */
#include "tests/library/library_task.h"

#include <math.h>

enum { SIDE = 5, CI = 4, CO = 8, PIXELS = SIDE * SIDE };
static const char layer[] = "N=1,H=5,W=5,CI=4,CO=8";

/* out = silu(convolution of 3x3 + bias), weight [3, 3, CI, CO]. */
static void expect_layer(const float *data, const float *weight, const float *bias,
                         const float *out) {
    for (int p = 0; p < PIXELS; p++)
        for (int o = 0; o < CO; o++) {
            double sum = bias[o];
            for (int k = 0; k < 9 * CI; k++) {
                int c = k % CI, kh = k / CI / 3, kw = k / CI % 3;
                int h = p / SIDE + kh - 1, w = p % SIDE + kw - 1;
                if (h < 0 || w < 0 || h >= SIDE || w >= SIDE) continue;
                sum += (double)data[(h * SIDE + w) * CI + c] * weight[k * CO + o];
            }
            double wanted = sum / (1 + exp(-sum)), got = out[p * CO + o];
            if (!(fabs(got - wanted) <= 1e-4 * (1 + fabs(wanted))))
                fail_msg("%d, %d: %g, not %g", p, o, got, wanted);
        }
}

static void call(at_lib *lib, const at_lib_kernel *k) {
    if (!k) fail_msg("%s", at_lib_error(lib));
    static float data[PIXELS * CI], weight[9 * CI * CO], bias[CO], out[PIXELS * CO];
    void *tensors[] = {data, weight, bias, out};
    void *workspace = malloc(at_lib_workspace_bytes(k) + 1);
    assert_int_equal(at_lib_tensor_count(k), 4);
    fill(data, PIXELS * CI, 1);
    fill(weight, 9 * CI * CO, 2);
    fill(bias, CO, 3);
    memset(out, 255, sizeof out);
    assert_int_equal(at_lib_call(k, tensors, workspace), 0);
    expect_layer(data, weight, bias, out);
    /* the same from weights that were packed */
    if (at_lib_function(k, AT_LIB_PACK)) {
        typedef void pack_fn(const float *weight, const float *bias, void *packed);
        typedef void run_fn(const float *data, const void *packed, float *out, void *workspace);
        void *packed = malloc(at_lib_packed_bytes(k));
        memset(out, 255, sizeof out);
        ((pack_fn *)at_lib_function(k, AT_LIB_PACK))(weight, bias, packed);
        ((run_fn *)at_lib_function(k, AT_LIB_IN_BLOCKS))(data, packed, out, workspace);
        expect_layer(data, weight, bias, out);
        free(packed);
    }
    free(workspace);
}

static void tuned(void **state) {
    (void)state;
    path log = in_folder("conv2d.log");
    at_lib_record best;
    at_lib *lib = new_lib();
    at_lib_task *t = new_task(lib, "conv2d+bias+silu", layer, "24");
    assert_string_equal(at_lib_task_name(t), "conv2d+bias+silu");
    tune(lib, t, log.text);
    if (at_lib_best(t, log.text, &best)) fail_msg("%s", at_lib_error(lib));
    at_lib_kernel *k = at_lib_load_log(t, log.text);
    call(lib, k);
    at_lib_kernel_free(k);
    /* what is best is so of all ways */
    at_lib_log *l = at_lib_log_read(lib, log.text);
    assert_int_equal(at_lib_log_count(l), 24);
    int ways = 0;
    for (int i = 0; i < 24; i++) {
        at_lib_record r;
        assert_int_equal(at_lib_log_at(l, i, &r), 0);
        ways |= 1 << (!strcmp(r.task, "conv2d_3x3_gemm+bias+silu") +
                      2 * !strcmp(r.task, "conv2d_winograd_nhwc+bias+silu"));
    }
    assert_int_equal(ways, 7);
    at_lib_log_free(l);
    /* a space is a way's */
    assert_int_equal(at_lib_space_length(t), -1);
    assert_non_null(strstr(at_lib_error(lib), "conv2d+bias+silu is computed in several ways"));
    at_lib_task_free(t);
    at_lib_free(lib);
}

/* Whatever the way that wins. */
static void each_way(void **state) {
    (void)state;
    static const char *const ways[] = {"conv2d_nhwc", "conv2d_winograd_nhwc", "conv2d_3x3_gemm"};
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s+bias+silu", ways[i]);
        path log = in_folder(ways[i]);
        at_lib *lib = new_lib();
        at_lib_task *way = new_task(lib, name, layer, "3"),
                    *t = new_task(lib, "conv2d+bias+silu", layer, "3");
        at_lib_record best;
        tune(lib, way, log.text);
        if (at_lib_best(t, log.text, &best)) fail_msg("%s", at_lib_error(lib));
        assert_memory_equal(best.task, ways[i], strlen(ways[i]));
        at_lib_kernel *k = at_lib_load_log(t, log.text);
        call(lib, k);
        at_lib_kernel_free(k);
        at_lib_task_free(way);
        at_lib_task_free(t);
        at_lib_free(lib);
    }
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(tuned), cmocka_unit_test(each_way)};
    return cmocka_run_group_tests_name("library/library_operator", tests, make_folder,
                                       remove_folder);
}
