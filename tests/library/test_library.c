/* The library as programs use it (autotune.h): a task, its search and a kernel that is called, two
 * handles in two threads, and every mistake as a code and a text. */
#include "tests/library/library_task.h"

#include <pthread.h>

/* ---- kernels against plain loops ------------------------------------------------------------- */

static void write_text(const char *file, const char *text) {
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* A computation without a template, from its file: searched, loaded, called; what is wrong with one
 * is told at its line. */
static void computation(void **state) {
    (void)state;
    path log = in_folder("product.log"), te = in_folder("product.te"), bad = in_folder("bad.te");
    static float x[M * K], y[K * N], out[M * N];
    at_lib *lib = new_lib();
    write_text(te.text, "args M=12, N=32, K=20\nx[M, K] : input\ny[K, N] : weight\n"
                        "out[m:M, n:N] = sum(k:K) x[m, k] * y[k, n]\n");
    at_lib_task *t = new_task(lib, te.text, NULL, "6");
    assert_string_equal(at_lib_task_name(t), "product");
    tune(lib, t, log.text);
    at_lib_kernel *k = at_lib_load_log(t, log.text);
    if (!k) fail_msg("%s", at_lib_error(lib));
    assert_non_null(strstr(at_lib_kernel_entity(k), "[\"sketch\", \"ot\", "));
    fill(x, M * K, 1), fill(y, K * N, 5);
    void *tensors[] = {x, y, out}, *workspace = malloc(at_lib_workspace_bytes(k) + 4);
    assert_int_equal(at_lib_call(k, tensors, workspace), 0);
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;
            for (int i = 0; i < K; i++) sum += x[m * K + i] * y[i * N + n];
            if (out[m * N + n] != sum) fail_msg("[%d, %d]: %g, not %g", m, n, out[m * N + n], sum);
        }
    free(workspace);
    at_lib_kernel_free(k);
    at_lib_task_free(t);
    assert_null(at_lib_task_new(lib, "-", NULL)); /* the program's own input is not read */
    assert_int_equal(at_lib_error_code(lib), AT_LIB_USAGE);
    write_text(bad.text, "args M=12\nx[M] : input\nout[m:M] = x[m] + z[m]\n");
    assert_null(at_lib_task_new(lib, bad.text, NULL));
    assert_int_equal(at_lib_error_code(lib), AT_LIB_INPUT);
    assert_non_null(strstr(at_lib_error(lib), "bad.te:3:19: unknown tensor \"z\""));
    at_lib_free(lib);
}

/* So it is with indices of 32 bits, at which the kernel itself does not look. */
static void bounded_indices(void **state) {
    (void)state;
    path te = in_folder("rows.te");
    enum { MANY = 150 };
    static const int places[] = {0, 63, 64, 127, 128, MANY - 1}, beyond[] = {-1, 8};
    int32_t ids[MANY];
    int64_t least, most;
    float table[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[MANY];
    at_lib *lib = new_lib();
    write_text(te.text, "args N=150, V=8\nids[N] : index\ntable[V] : weight\n"
                        "out[n:N] = table[ids[n]]\n");
    for (int i = 0; i < MANY; i++) ids[i] = i * 3 % 8;
    at_lib_task *t = new_task(lib, te.text, NULL, "1");
    at_lib_kernel *k = at_lib_load_entity(t, NULL);
    if (!k) fail_msg("%s", at_lib_error(lib));
    assert_int_equal(at_lib_tensor_range(k, 0, &least, &most), AT_LIB_OK);
    assert_true(least == 0 && most == 7);
    void *tensors[] = {ids, table, out}, *workspace = malloc(at_lib_workspace_bytes(k) + 1);
    assert_int_equal(at_lib_call(k, tensors, workspace), AT_LIB_OK);
    for (int i = 0; i < MANY; i++) assert_true(out[i] == (float)(i * 3 % 8));
    for (int i = 0; i < 12; i++) {
        int32_t *bad = &ids[places[i / 2]], was = *bad;
        *bad = beyond[i % 2];
        assert_int_equal(at_lib_call(k, tensors, workspace), AT_LIB_INPUT);
        *bad = was;
    }
    assert_int_equal(at_lib_call(k, tensors, workspace), AT_LIB_OK);
    free(workspace);
    at_lib_kernel_free(k);
    at_lib_task_free(t);
    at_lib_free(lib);
}

/* Elements of s64 and bool that a call does not take: their ranges are told, and it does nothing.
 */
static void checked_elements(void **state) {
    (void)state;
    path te = in_folder("words.te");
    int64_t ids[13] = {0}, least, most;
    unsigned char mask[13] = {0};
    float table[50] = {0}, out[13];
    at_lib *lib = new_lib();
    write_text(te.text, "args N=13, V=50\nids[N] : index s64\nmask[N] : input bool\n"
                        "table[V] : weight\nout[n:N] = mask[n] ? table[ids[n]] : 0\n");
    at_lib_task *t = new_task(lib, te.text, NULL, "1");
    at_lib_kernel *k = at_lib_load_entity(t, NULL);
    if (!k) fail_msg("%s", at_lib_error(lib));
    assert_int_equal(at_lib_tensor_range(k, 0, &least, &most), AT_LIB_OK);
    assert_true(least == 0 && most == 49);
    assert_int_equal(at_lib_tensor_range(k, 1, &least, &most), AT_LIB_OK);
    assert_true(least == 0 && most == 1);
    assert_int_equal(at_lib_tensor_range(k, 2, &least, &most), AT_LIB_USAGE);
    void *tensors[] = {ids, mask, table, out}, *workspace = malloc(at_lib_workspace_bytes(k) + 1);
    table[49] = 3, ids[12] = 49, mask[12] = 1;
    assert_int_equal(at_lib_call(k, tensors, workspace), AT_LIB_OK);
    assert_true(out[12] == 3 && out[0] == 0);
    table[49] = 4, ids[4] = 50;
    assert_int_equal(at_lib_call(k, tensors, workspace), AT_LIB_INPUT);
    ids[4] = 0, mask[7] = 2;
    assert_int_equal(at_lib_call(k, tensors, workspace), AT_LIB_INPUT);
    assert_true(out[12] == 3);
    free(workspace);
    at_lib_kernel_free(k);
    at_lib_task_free(t);
    at_lib_free(lib);
}

/* A kernel of somebody's own is tuned, by its own compiler; what loads needs none, and refuses it.
 */
static void own_kernel(void **state) {
    (void)state;
    path log = in_folder("twice.log"), file = in_folder("twice.c");
    at_lib_record best;
    at_lib *lib = new_lib();
    write_text(file.text,
               "/* autotune\n * args N=64\n * a[N] : input\n * b[n:N] = 2*a[n]\n"
               " * knob STEP = 1 2 4\n * call void twice(const float *a, float *b, int "
               "N)\n */\n#include <stddef.h>\nvoid twice(const float *a, float *b, int "
               "N) {\n    for (size_t i = 0; i < (size_t)N; i += STEP)\n        for (int "
               "k = 0; k < STEP; k++) b[i + k] = 2 * a[i + k];\n}\n");
    if (system("command -v gcc >/dev/null")) skip();
    at_lib_task *t = new_task(lib, file.text, "N=32", "3");
    tune(lib, t, log.text);
    assert_int_equal(at_lib_best(t, log.text, &best), AT_LIB_OK);
    assert_non_null(strstr(best.entity, "[\"STEP\", \"ot\", "));
    assert_null(at_lib_load_log(t, log.text));
    assert_int_equal(at_lib_error_code(lib), AT_LIB_USAGE);
    assert_non_null(strstr(at_lib_error(lib), "twice is a kernel of somebody's own"));
    at_lib_task_free(t);
    at_lib_free(lib);
}

/* Numbers that the computation itself holds are made at the first call, and stay. */
static void own_tables(void **state) {
    (void)state;
    enum { LENGTH = 600, LEAST = 417 };
    path te = in_folder("argmin.te");
    float x[LENGTH], first = -1;
    at_lib *lib = new_lib();
    write_text(te.text, "args N=600\nx[N] : input\nleast[o:1] = min(k:N) x[k]\n"
                        "first[o:1] = min(k:N) x[k] == least[0] ? k : inf\n");
    at_lib_task *t = new_task(lib, te.text, NULL, "1");
    at_lib_kernel *k = at_lib_load_entity(t, NULL);
    if (!k) fail_msg("%s", at_lib_error(lib));
    void *tensors[] = {x, &first}, *workspace = malloc(at_lib_workspace_bytes(k) + 1);
    for (int i = 0; i < LENGTH; i++) x[i] = (float)((i - LEAST) * (i - LEAST));
    for (int calls = 0; calls < 2; calls++) {
        first = -1;
        assert_int_equal(at_lib_call(k, tensors, workspace), 0);
        assert_true(first == LEAST);
    }
    free(workspace);
    at_lib_kernel_free(k);
    at_lib_task_free(t);
    at_lib_free(lib);
}

/* A search, its log, the best of it: loaded, called. */
static void tuned_and_loaded(void **state) {
    (void)state;
    path log = in_folder("dense.log");
    at_lib *lib = new_lib();
    at_lib_task *t = new_task(lib, "dense", dense_args, "8");
    at_lib_record best, r;
    assert_null(at_lib_load_log(t, log.text));
    assert_int_equal(at_lib_error_code(lib), AT_LIB_INPUT);
    tune(lib, t, log.text);
    at_lib_kernel *k = at_lib_load_log(t, log.text);
    if (!k) fail_msg("%s", at_lib_error(lib));
    check_dense(k);
    assert_string_equal(at_lib_isa(k), "scalar");
    assert_int_equal(at_lib_threads(k), 1);

    /* That record is the one that every other way of asking has, too. */
    assert_int_equal(at_lib_best(t, log.text, &best), 0);
    assert_true(best.time_s > 0 && best.gflops > 0 && best.of_peak > 0);
    assert_string_equal(best.entity, at_lib_kernel_entity(k));
    char from[160];
    snprintf(from, sizeof from, "%s:%lld", log.text, (long long)best.line);
    assert_string_equal(at_lib_kernel_source(k), from);
    at_lib_log *l = at_lib_log_read(lib, log.text);
    assert_int_equal(at_lib_log_count(l), 8);
    int winners = 0;
    for (int i = 0; i < 8; i++) {
        assert_int_equal(at_lib_log_at(l, i, &r), 0);
        assert_string_equal(r.args, best.args);
        assert_string_equal(r.isa, "scalar");
        winners += r.is_best;
        if (r.is_best) assert_int_equal(r.line, best.line);
    }
    assert_int_equal(winners, 1);

    /* The kernel needs neither its task nor its log. */
    at_lib_log_free(l);
    at_lib_task_free(t);
    check_dense(k);
    at_lib_kernel_free(k);
    at_lib_free(lib);
}

/* Vector instructions of every set that this CPU has, and both of a task's entities and indices. */
static void every_isa(void **state) {
    (void)state;
    at_lib *lib = new_lib();
    at_lib_task *t = new_task(lib, "dense", dense_args, "1");
    const at_target *target;
    for (int n = 0; (target = at_target_at(n)); n++) {
        const char *name = target->name;
        assert_int_equal(at_lib_set(t, "isa", name), 0);
        if (at_target_check(target, NULL) != AT_OK) {
            assert_null(at_lib_load_entity(t, NULL));
            assert_non_null(strstr(at_lib_error(lib), name));
            print_message("this CPU has no %s\n", name);
            continue;
        }
        for (int64_t i = -1; i < at_lib_space_length(t); i = i * 3 + 5) {
            at_lib_kernel *k = at_lib_load_entity(t, i < 0 ? "default" : at_lib_entity(t, i));
            if (!k) fail_msg("%s", at_lib_error(lib));
            assert_string_equal(at_lib_isa(k), name);
            check_dense(k);
            at_lib_kernel_free(k);
        }
    }
    at_lib_task_free(t);
    at_lib_free(lib);
}

/* Data, weights and output in blocks of a configuration's choice; on two threads. */
static void in_blocks(void **state) {
    (void)state;
    enum { C = 8, H = 6, O = 16 };
    static float data[C * H * H], weight[O * C * 9], out[2][O * H * H], blocks[3][O * C * 9 + 4096];
    at_lib *lib = new_lib();
    at_lib_task *t = at_lib_task_new(lib, "conv2d_NCHWc",
                                     "N=1,IC=8,H=6,W=6,OC=16,KH=3,KW=3,strides=1,padding=1");
    if (!t) fail_msg("%s", at_lib_error(lib));
#ifdef __SANITIZE_THREAD__
    const int threads = 1; /* OpenMP's own locks are unknown to it, and look like races */
#else
    const int threads = 2;
#endif
    assert_int_equal(at_lib_set(t, "threads", threads == 2 ? "2" : "1"), 0);
    at_lib_kernel *k = at_lib_load_entity(t, NULL);
    if (!k) fail_msg("%s", at_lib_error(lib));
    assert_int_equal(at_lib_threads(k), threads);
    fill(data, C * H * H, 2), fill(weight, O * C * 9, 3);
    void *tensors[] = {data, weight, out[0]}, *workspace = malloc(at_lib_workspace_bytes(k));
    assert_int_equal(at_lib_call(k, tensors, workspace), 0);
    for (int o = 0; o < O; o++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < H; x++) {
                float sum = 0;
                for (int c = 0; c < C; c++)
                    for (int i = 0; i < 9; i++) {
                        int h = y + i / 3 - 1, w = x + i % 3 - 1;
                        if (h < 0 || w < 0 || h >= H || w >= H) continue;
                        sum += data[(c * H + h) * H + w] * weight[(o * C + c) * 9 + i];
                    }
                assert_true(out[0][(o * H + y) * H + x] == sum);
            }

    typedef void order(const float *, float *);
    typedef void fast(const float *, const void *, float *, void *);
    typedef void pack(const float *, void *);
    at_lib_tensor d;
    assert_int_equal(at_lib_tensor_at(k, 0, &d), 0);
    assert_true(d.num_dims == 4 && d.num_block_dims == 5);
    assert_int_equal(at_lib_tensor_at(k, 3, &d), AT_LIB_USAGE);
    ((order *)at_lib_order(k, 0))(data, blocks[0]);
    void *packed = malloc(at_lib_packed_bytes(k));
    ((pack *)at_lib_function(k, AT_LIB_PACK))(weight, packed);
    ((fast *)at_lib_function(k, AT_LIB_IN_BLOCKS))(blocks[0], packed, blocks[2], workspace);
    ((order *)at_lib_order(k, 2))(blocks[2], out[1]);
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    free(packed);
    free(workspace);
    at_lib_kernel_free(k);
    at_lib_task_free(t);
    at_lib_free(lib);
}

/* ---- an end, and messages -------------------------------------------------------------------- */

typedef struct listener {
    int calls, messages, until;
    at_lib_task *task;
    pthread_t other;
} listener;

static int stop_after(void *ctx, const at_lib_progress *p) {
    listener *l = ctx;
    assert_int_equal(p->done, ++l->calls);
    return l->calls == l->until;
}

/* ---- a tuner of the caller's ----------------------------------------------------------------- */

typedef struct own_tuner {
    int asked, heard, valid;
    int64_t last;
} own_tuner;

/* Some that are not there, some twice, then no more. */
static int propose(void *ctx, int64_t *indices, int n) {
    static const int64_t all[] = {5, -1, 5, 3, (int64_t)1 << 40, 8, 3};
    own_tuner *o = ctx;
    int made = 0;
    while (made < n && o->asked < 7) indices[made++] = all[o->asked++];
    return made;
}

static void hear(void *ctx, int64_t index, int is_valid, double gflops) {
    own_tuner *o = ctx;
    assert_true(index == 5 || index == 3 || index == 8);
    assert_true(is_valid ? gflops > 0 : gflops == 0);
    o->heard++;
    o->valid += is_valid;
    o->last = index;
}

static void callers_tuner(void **state) {
    (void)state;
    path log = in_folder("own-tuner.log");
    own_tuner o = {0}, again = {0};
    at_lib *lib = new_lib();
    at_lib_task *t = new_task(lib, "dense", dense_args, "20");
    at_lib_task *operator_task = at_lib_task_new(lib, "conv2d", "N=1,H=8,W=8,CI=8,CO=8");
    assert_int_equal(at_lib_set_tuner(t, propose, hear, &o), AT_LIB_OK);
    tune(lib, t, log.text);
    assert_int_equal(o.heard, 3);
    assert_true(o.valid > 0);
    assert_int_equal(o.last, 8);
    at_lib_log *l = at_lib_log_read(lib, log.text);
    at_lib_record r;
    assert_int_equal(at_lib_log_count(l), 3);
    static const int64_t made[] = {5, 3, 8};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(at_lib_log_at(l, i, &r), 0);
        assert_int_equal(r.index, made[i]);
        assert_string_equal(r.tuner, "caller");
    }
    at_lib_log_free(l);
    /* What the log has is told, too. */
    assert_int_equal(at_lib_set_tuner(t, propose, hear, &again), AT_LIB_OK);
    tune(lib, t, log.text);
    assert_int_equal(again.heard, 3);
    if (!operator_task) fail_msg("%s", at_lib_error(lib));
    assert_int_equal(at_lib_set_tuner(operator_task, propose, hear, &o), AT_LIB_USAGE);
    assert_non_null(strstr(at_lib_error(lib), "several ways"));
    at_lib_task_free(operator_task);
    at_lib_task_free(t);
    at_lib_free(lib);
}

static void *cancel(void *task) {
    at_lib_cancel(task);
    return NULL;
}

static int cancel_from_elsewhere(void *ctx, const at_lib_progress *p) {
    listener *l = ctx;
    if (p->done == l->until) assert_int_equal(pthread_create(&l->other, NULL, cancel, l->task), 0);
    l->calls++;
    return 0;
}

static void message(void *ctx, const char *text) {
    assert_true(*text != 0);
    ((listener *)ctx)->messages++;
}

static void ended(void **state) {
    (void)state;
    path log = in_folder("ended.log");
    at_lib *lib = new_lib();
    at_lib_task *t = new_task(lib, "dense", dense_args, "10");
    listener l = {.until = 3};
    at_lib_on_message(lib, message, &l);
    assert_int_equal(at_lib_tune(t, log.text, stop_after, &l), AT_LIB_INTERRUPTED);
    assert_int_equal(at_lib_error_code(lib), AT_LIB_INTERRUPTED);
    assert_true(l.calls == 3 && l.messages > 0);
    /* The same again goes on where that ended. */
    l = (listener){.until = 0};
    assert_int_equal(at_lib_tune(t, log.text, stop_after, &l), AT_LIB_OK);
    assert_int_equal(l.calls, 10);

    at_lib_task *long_one = new_task(lib, "dense", "M=32,N=64,K=64", "100000");
    l = (listener){.until = 2, .task = long_one};
    assert_int_equal(at_lib_tune(long_one, log.text, cancel_from_elsewhere, &l),
                     AT_LIB_INTERRUPTED);
    pthread_join(l.other, NULL);
    assert_true(l.calls < 100000);
    at_lib_task_free(long_one);
    at_lib_task_free(t);
    at_lib_free(lib);
}

/* ---- beside each other ----------------------------------------------------------------------- */

typedef struct run {
    const char *name, *args;
    path log;
    int code, calls;
    char error[256];
} run;

static void *run_one(void *ctx) {
    run *r = ctx;
    at_lib *lib = new_lib();
    at_lib_task *t = new_task(lib, r->name, r->args, "6");
    listener l = {.until = 0};
    r->code = at_lib_tune(t, r->log.text, stop_after, &l);
    r->calls = l.calls;
    for (int i = 0; i < 5 && !r->code; i++) {
        at_lib_kernel *k = at_lib_load_log(t, r->log.text);
        if (!k) r->code = at_lib_error_code(lib);
        at_lib_kernel_free(k);
    }
    snprintf(r->error, sizeof r->error, "%s", at_lib_error(lib));
    at_lib_task_free(t);
    at_lib_free(lib);
    return NULL;
}

static void two_threads(void **state) {
    (void)state;
    run runs[2] = {{.name = "matmul_add", .args = "N=6,L=8,M=16", .log = in_folder("one.log")},
                   {.name = "dense", .args = dense_args, .log = in_folder("two.log")}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_one, &runs[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        if (runs[i].code) fail_msg("%s", runs[i].error);
        assert_int_equal(runs[i].calls, 6);
    }
}

/* ---- a template of one's own ----------------------------------------------------------------- */

static void own_template(void **state) {
    (void)state;
    path file = in_folder("scale.c"), log = in_folder("scale.log"), bad = in_folder("bad.c");
    FILE *f = fopen(file.text, "w");
    assert_non_null(f);
    fputs("#include \"template.h\"\n"
          "static void define(at_template *t) {\n"
          "    at_split(t, \"tile_x\", \"X\", \"xo xi\", .policy = AT_FACTORS);\n"
          "    at_compute(t, \"a[X] : input\\nb[x:X] = a[x] * a[x]\\n\");\n"
          "    at_schedule(t, \"xo, xi:vec =>\\n    @b = {xo, xi}/x\\n\");\n"
          "}\n"
          "const at_template_row at_scale = {.name = \"scale\", .args = \"X=64\",\n"
          "    .record_args = \"[X]\", .define = define};\n",
          f);
    fclose(f);
    at_lib *lib = new_lib();
    at_lib_task *t = new_task(lib, file.text, NULL, "3");
    tune(lib, t, log.text);
    at_lib_kernel *k = at_lib_load_log(t, log.text);
    if (!k) fail_msg("%s", at_lib_error(lib));
    assert_null(at_lib_function(k, AT_LIB_PACK));
    assert_null(at_lib_prototype(k, AT_LIB_PACK));
    assert_int_equal(at_lib_packed_bytes(k), 0);
    float a[64], b[64];
    fill(a, 64, 0);
    void *tensors[] = {a, b}, *workspace = malloc(at_lib_workspace_bytes(k) + 1);
    assert_int_equal(at_lib_call(k, tensors, workspace), 0);
    for (int i = 0; i < 64; i++) assert_true(b[i] == a[i] * a[i]);
    free(workspace);
    at_lib_kernel_free(k);
    at_lib_task_free(t);

    f = fopen(bad.text, "w");
    assert_non_null(f);
    fputs("#include \"template.h\"\nint x = ;\n", f);
    fclose(f);
    assert_null(at_lib_task_new(lib, bad.text, NULL));
    assert_int_equal(at_lib_error_code(lib), AT_LIB_INPUT);
    if (!strstr(at_lib_error(lib), "bad.c:")) fail_msg("%s", at_lib_error(lib));
    at_lib_free(lib);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static void mistakes(void **state) {
    (void)state;
    at_lib *lib = at_lib_new();
    at_lib_record r;
    static const struct {
        const char *name, *args, *text;
    } tasks[] = {{NULL, NULL, "template"},
                 {"nothing", NULL, "unknown template \"nothing\""},
                 {"dense", "Q=1", "Q"},
                 {"dense", "M=0", "M"},
                 {"dense", "M=,", "M"},
                 {"dense", "[1, 2", ""},
                 {"/nowhere/x.c", NULL, "/nowhere/x.c"}};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        assert_null(at_lib_task_new(lib, tasks[i].name, tasks[i].args));
        if (!*at_lib_error(lib) || !strstr(at_lib_error(lib), tasks[i].text))
            fail_msg("task %zu: \"%s\"", i, at_lib_error(lib));
    }
    at_lib_task *t = at_lib_task_new(lib, "dense", dense_args);
    static const struct {
        const char *name, *value, *text;
    } sets[] = {{NULL, "1", "name"},
                {"trials", NULL, "value"},
                {"trails", "5", "did you mean trials?"},
                {"trials", "-5", "trials \"-5\""},
                {"trials", "many", "a whole number"},
                {"trials", "99999999999999999999", "a whole number"},
                {"repeat", "65", "repeat 65: must be from 0 to 64"},
                {"time", "5 years", "90s"},
                {"prune", "nan", "a number"},
                {"isa", "mmx", "isa mmx: there are"},
                {"compiler", "icc", "tcc, gcc and clang"},
                {"pack", "later", "ahead and inline"},
                {"cache", "warm", "hot and cold"},
                {"trials", "0", "trials \"0\": a whole number from 1 on"},
                {"early-stopping", "0", "from 1 on"},
                {"time", "0", "time \"0\": a time above 0"},
                {"prune", "0.5", "from 1 on"},
                {"max-error", "0", "above 0 and up to 1"},
                {"feature", "all", "itervar"},
                {"paranoid", "yes", "1 and 0"},
                {"tuner", "luck", "unknown tuner \"luck\""},
                {"tuner", "ga:size=3", "size"}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        assert_int_equal(at_lib_set(t, sets[i].name, sets[i].value), AT_LIB_USAGE);
        if (!strstr(at_lib_error(lib), sets[i].text))
            fail_msg("option %zu: \"%s\"", i, at_lib_error(lib));
    }
    /* Everything that takes an object takes none, and a number that is not there. */
    assert_int_equal(at_lib_tune(t, NULL, NULL, NULL), AT_LIB_USAGE);
    assert_int_equal(at_lib_tune(NULL, "x.log", NULL, NULL), AT_LIB_USAGE);
    assert_int_equal(at_lib_best(t, "/nowhere.log", &r), AT_LIB_INPUT);
    assert_null(at_lib_load_log(t, NULL));
    assert_null(at_lib_load_entity(t, "{"));
    assert_null(at_lib_load_entity(t, "{\"entity\": [[\"tile_y\", \"sp\", [-1, 7]]]}"));
    assert_null(at_lib_log_read(lib, folder));
    path log = in_folder("mistakes.log");
    FILE *f = fopen(log.text, "w");
    assert_true(f && fputs("# a comment\n", f) >= 0 && !fclose(f));
    assert_null(at_lib_log_read(lib, log.text));
    assert_non_null(strstr(at_lib_error(lib), "holds no record"));
    assert_int_equal(at_lib_pick_best(lib, NULL, 0, "x"), AT_LIB_USAGE);
    assert_int_equal(at_lib_set_worker(lib, "autotune-worker"), AT_LIB_USAGE);
    assert_int_equal(at_lib_set_worker(lib, folder), AT_LIB_USAGE);
    assert_int_equal(at_lib_call(NULL, NULL, NULL), AT_LIB_USAGE);
    at_lib_kernel *k = at_lib_load_entity(t, NULL);
    void *missing[] = {&r, NULL, &r}; /* none is touched */
    assert_int_equal(at_lib_call(k, missing, &r), AT_LIB_USAGE);
    at_lib_kernel_free(k);
    assert_null(at_lib_task_new(NULL, "dense", NULL));
    assert_null(at_lib_function(NULL, AT_LIB_PLAIN));
    at_lib_task_free(NULL), at_lib_log_free(NULL), at_lib_kernel_free(NULL), at_lib_free(NULL);

    /* A worker that is none: the search ends before it begins, and no log is left locked. */
    unlink(log.text);
    assert_int_equal(at_lib_set_worker(lib, "/bin/true"), AT_LIB_OK);
    assert_int_equal(at_lib_tune(t, log.text, NULL, NULL), AT_LIB_FAULT);
    assert_non_null(strstr(at_lib_error(lib), "/bin/true"));
    assert_int_equal(at_lib_set_worker(lib, NULL), AT_LIB_OK);
    setenv("AUTOTUNE_WORKER", "worker", 1);
    assert_int_equal(at_lib_tune(t, log.text, NULL, NULL), AT_LIB_USAGE);
    assert_non_null(strstr(at_lib_error(lib), "AUTOTUNE_WORKER=worker"));
    unsetenv("AUTOTUNE_WORKER");
    at_lib_task_free(t);
    at_lib_free(lib);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computation),      cmocka_unit_test(checked_elements),
        cmocka_unit_test(bounded_indices),  cmocka_unit_test(own_kernel),
        cmocka_unit_test(tuned_and_loaded), cmocka_unit_test(callers_tuner),
        cmocka_unit_test(own_tables),       cmocka_unit_test(every_isa),
        cmocka_unit_test(in_blocks),        cmocka_unit_test(ended),
        cmocka_unit_test(two_threads),      cmocka_unit_test(own_template),
        cmocka_unit_test(mistakes)};
    return cmocka_run_group_tests_name("library/library", tests, make_folder, remove_folder);
}
