/* Models through the library: a network's inputs and outputs, its run against plain loops, many
 * threads at once, and every mistake as a code and a text. */
#include "tests/library/library_task.h"

#include <math.h>
#include <pthread.h>

#include "tests/arena.h"
#include "tests/network/words_model.h"

enum { THREADS = 8, RUNS = 40 };

static path make_model(void) {
    path p = in_folder("words.onnx");
    words_write(p.text);
    return p;
}

static void expected(const int64_t *ids, int n, float *out) {
    for (int i = 0; i < n; i++)
        for (int c = 0; c < CLASSES; c++) {
            float sum = 0;
            int64_t row = ids[i] < 0 ? ids[i] + TABLE : ids[i];
            for (int k = 0; k < WIDTH; k++)
                sum += words_table_at(row * WIDTH + k) * words_weight_at(k * CLASSES + c);
            out[i * CLASSES + c] = sum > 0 ? sum : 0;
        }
}

static at_lib_model *load(at_lib *lib, path model, const char *dims) {
    at_lib_model *m = at_lib_model_load(lib, model.text, NULL, dims, NULL);
    if (!m) fail_msg("%s", at_lib_error(lib));
    return m;
}

static void described_and_run(void **state) {
    (void)state;
    at_lib *lib = at_lib_new();
    at_lib_model *m = load(lib, make_model(), "N=2");
    at_lib_value v;
    assert_int_equal(at_lib_model_input_count(m), 1);
    assert_int_equal(at_lib_model_output_count(m), 1);
    assert_int_equal(at_lib_model_input_at(m, 0, &v), AT_LIB_OK);
    assert_string_equal(v.name, "ids");
    assert_string_equal(v.type_name, "int64");
    assert_true(v.type == 7 && v.num_dims == 2 && v.dims[0] == 2 && v.dims[1] == WORDS);
    assert_int_equal(v.size_bytes, 2 * WORDS * 8);
    assert_int_equal(at_lib_model_output_at(m, 0, &v), AT_LIB_OK);
    assert_string_equal(v.name, "class");
    assert_true(v.type == 1 && v.elements == 2 * WORDS * CLASSES && v.size_bytes == v.elements * 4);
    assert_int_equal(at_lib_model_input_at(m, 1, &v), AT_LIB_USAGE);
    assert_int_equal(at_lib_model_output_at(m, -1, &v), AT_LIB_USAGE);
    assert_int_equal(at_lib_model_tuned_count(m), 0);
    assert_true(at_lib_model_part_count(m) > 0);

    int64_t ids[2 * WORDS] = {0, 5, -1, -6, 3, 2, 1, 0, 4, 4};
    float out[2 * WORDS * CLASSES], right[2 * WORDS * CLASSES];
    const void *inputs[] = {ids};
    void *outputs[] = {out};
    char *workspace = malloc(at_lib_model_workspace_bytes(m) + 4), said[64] = "";
    assert_int_equal(at_lib_model_run(m, inputs, outputs, workspace + 4, said, sizeof said), 0);
    assert_string_equal(said, "");
    expected(ids, 2 * WORDS, right);
    assert_memory_equal(out, right, sizeof out);

    ids[3] = TABLE;
    assert_int_equal(at_lib_model_run(m, inputs, outputs, workspace, said, sizeof said),
                     AT_LIB_INPUT);
    assert_string_equal(said, "element 3 of \"ids\" is 6; it must be from -6 to 5");
    assert_int_equal(at_lib_model_run(m, inputs, outputs, workspace, NULL, 0), AT_LIB_INPUT);
    outputs[0] = NULL;
    assert_int_equal(at_lib_model_run(m, inputs, outputs, workspace, said, 8), AT_LIB_USAGE);
    assert_string_equal(said, "a point");
    free(workspace);
    at_lib_model_free(m);
    at_lib_free(lib);
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct caller {
    const at_lib_model *model;
    int seed, wrong;
} caller;

static void *call(void *arg) {
    caller *c = arg;
    int64_t ids[WORDS];
    float out[WORDS * CLASSES], right[WORDS * CLASSES];
    const void *inputs[] = {ids};
    void *outputs[] = {out}, *workspace = malloc(at_lib_model_workspace_bytes(c->model));
    for (int run = 0; run < RUNS; run++) {
        for (int i = 0; i < WORDS; i++) ids[i] = (run * 3 + i * c->seed) % TABLE;
        memset(out, 0xff, sizeof out);
        c->wrong += at_lib_model_run(c->model, inputs, outputs, workspace, NULL, 0) != 0;
        expected(ids, WORDS, right);
        c->wrong += memcmp(out, right, sizeof out) != 0;
    }
    free(workspace);
    return NULL;
}

/* One model, called by many threads with inputs of their own. */
static void threads(void **state) {
    (void)state;
    at_lib *lib = at_lib_new();
    at_lib_model *m = load(lib, make_model(), "N=1");
    caller callers[THREADS];
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (caller){m, i + 1, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, call, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(callers[i].wrong, 0);
    }
    at_lib_model_free(m);
    at_lib_free(lib);
}

static void *load_and_call(void *arg) {
    caller *c = arg;
    at_lib *lib = at_lib_new();
    at_lib_model *m = at_lib_model_load(lib, in_folder("words.onnx").text, NULL, "N=1", NULL);
    c->model = m;
    if (m) call(c);
    else c->wrong++;
    at_lib_model_free(m);
    at_lib_free(lib);
    return NULL;
}

/* Each thread with a handle and a model of its own. */
static void loaded_at_once(void **state) {
    (void)state;
    caller callers[THREADS];
    pthread_t thread[THREADS];
    make_model();
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (caller){NULL, i + 1, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, load_and_call, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(callers[i].wrong, 0);
    }
}

static void expect_fault(at_lib *lib, const at_lib_model *m, int code, const char *text) {
    assert_null(m);
    assert_int_equal(at_lib_error_code(lib), code);
    if (!strstr(at_lib_error(lib), text)) fail_msg("%s", at_lib_error(lib));
}

/* A value within the network is its output: the sums before what is negative goes. */
static void until(void **state) {
    (void)state;
    at_lib *lib = at_lib_new();
    const path model = make_model();
    at_lib_model *m = at_lib_model_load_until(lib, model.text, NULL, "N=1", NULL, "m");
    if (!m) fail_msg("%s", at_lib_error(lib));
    at_lib_value v;
    assert_int_equal(at_lib_model_output_count(m), 1);
    assert_int_equal(at_lib_model_output_at(m, 0, &v), AT_LIB_OK);
    assert_string_equal(v.name, "m");
    const int64_t ids[WORDS] = {0, 5, -1, -6, 3};
    float out[WORDS * CLASSES], right[WORDS * CLASSES];
    const void *inputs[] = {ids};
    void *outputs[] = {out}, *workspace = malloc(at_lib_model_workspace_bytes(m));
    int negative = 0;
    assert_int_equal(at_lib_model_run(m, inputs, outputs, workspace, NULL, 0), 0);
    expected(ids, WORDS, right);
    for (int i = 0; i < WORDS * CLASSES; i++) {
        negative += out[i] < 0;
        assert_true(right[i] == (out[i] > 0 ? out[i] : 0));
    }
    assert_true(negative > 0);
    free(workspace);
    at_lib_model_free(m);
    expect_fault(lib, at_lib_model_load_until(lib, model.text, NULL, "N=1", NULL, "clas"),
                 AT_LIB_USAGE, "did you mean \"class\"?");
    at_lib_free(lib);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static void mistakes(void **state) {
    (void)state;
    at_lib *lib = at_lib_new();
    path model = make_model(), none = in_folder("none.onnx"), bad = in_folder("bad.onnx"),
         other = in_folder("other.log");
    at_error err;
    at_lib_value v;
    expect_fault(lib, at_lib_model_load(lib, none.text, NULL, NULL, NULL), AT_LIB_INPUT, "none");
    expect_fault(lib, at_lib_model_load(lib, NULL, NULL, NULL, NULL), AT_LIB_USAGE, "no model");
    expect_fault(lib, at_lib_model_load(lib, model.text, NULL, NULL, NULL), AT_LIB_USAGE,
                 "size of inputs is not given: N");
    expect_fault(lib, at_lib_model_load(lib, model.text, NULL, "M=1", NULL), AT_LIB_USAGE, "N");
    expect_fault(lib, at_lib_model_load(lib, model.text, other.text, "N=1", NULL), AT_LIB_INPUT,
                 "other.log");
    assert_int_equal(at_write_file(bad.text, "no model", 8, &err), AT_OK);
    expect_fault(lib, at_lib_model_load(lib, bad.text, NULL, NULL, NULL), AT_LIB_INPUT, "bad.onnx");
    assert_null(at_lib_model_load(NULL, model.text, NULL, NULL, NULL));
    assert_int_equal(at_lib_model_input_count(NULL), -1);
    assert_int_equal(at_lib_model_output_at(NULL, 0, &v), AT_LIB_USAGE);
    assert_int_equal(at_lib_model_run(NULL, NULL, NULL, NULL, NULL, 0), AT_LIB_USAGE);
    assert_int_equal(at_lib_model_workspace_bytes(NULL), 0);
    at_lib_model_free(NULL);

    /* A log of something else has nothing to say of this model's parts. */
    at_lib_task *t = at_lib_task_new(lib, "dense", dense_args);
    at_lib_set(t, "trials", "1"), at_lib_set(t, "isa", "scalar");
    at_lib_set_worker(lib, "/proc/self/exe");
    tune(lib, t, other.text);
    at_lib_model *m = at_lib_model_load(lib, model.text, other.text, "N=1", NULL);
    if (!m) fail_msg("%s", at_lib_error(lib));
    assert_int_equal(at_lib_model_tuned_count(m), 0);
    at_lib_model_free(m);
    at_lib_task_free(t);
    at_lib_free(lib);
}

static int begin(void **state) { return make_arena(state) || make_folder(state); }
static int end(void **state) { return remove_folder(state) || free_arena(state); }

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(described_and_run),
                                       cmocka_unit_test(threads), cmocka_unit_test(loaded_at_once),
                                       cmocka_unit_test(until), cmocka_unit_test(mistakes)};
    return cmocka_run_group_tests_name("library/model", tests, begin, end);
}
