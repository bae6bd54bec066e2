/* conv2d_NCHWc: spaces and defaults are AutoTVM's, all forms of arguments are read, and what it
 * computes is a convolution. */
#include "tests/templates/support.h"
#include "sketch/sketch.h"

#include <string.h>

static at_task *task(at_arena *a, const char *args) {
    return task_of(a, row_named("conv2d_NCHWc"), args);
}

/* ---- the space ------------------------------------------------------------------------------- */

static const char *shape_text(at_arena *a, const at_json *shape) {
    at_text text = {0};
    at_json_print(&text, shape);
    const char *copy = at_strdup(a, text.data);
    at_text_free(&text);
    return copy;
}

/* Some spaces come with a record's arguments, the others are 3x3 with a square image. */
static const char *args_of(at_arena *a, const at_json *space) {
    const at_json *data = at_json_get(space, "data");
    if (data)
        return at_format(a,
                         "[[\"TENSOR\", %s, \"float32\"], [\"TENSOR\", %s, \"float32\"], %s, %s, "
                         "[1, 1], \"NCHW\", \"NCHW\", \"float32\"]",
                         shape_text(a, data), shape_text(a, at_json_get(space, "kernel")),
                         shape_text(a, at_json_get(space, "strides")),
                         shape_text(a, at_json_get(space, "padding")));
    int64_t c = at_json_get(at_json_get(space, "knobs")->child, "axis")->integer;
    int64_t w = at_json_get(space, "ow")->integer;
    return at_format(a, "N=10,IC=%lld,OC=%lld,H=%lld,W=%lld", (long long)c, (long long)c,
                     (long long)w, (long long)w);
}

static void golden_spaces(void **state) {
    const at_json *spaces = golden(*state, "tests/golden/space_conv2d_NCHWc_x86.json");
    for (const at_json *s = spaces->child; s; s = s->next) {
        const char *args = args_of(*state, s);
        at_task *t = task(*state, args);
        expect_space(*state, t, s);
        if (*args == '[') assert_string_equal(shape_text(*state, at_task_args(t)), args);
    }
}

/* AutoTVM leaves the dilation out of the axis it splits. */
static void dilated_width(void **state) {
    at_task *t = task(*state, "H=20,W=20,dilation=2,padding=0");
    assert_int_equal(at_space_knob_length(at_task_space(t), 2), 16);
}

/* ---- arguments ------------------------------------------------------------------------------- */

#define FOUR(rest)                                                                                 \
    "[[\"TENSOR\", [2, 6, 9, 11], \"float32\"], [\"TENSOR\", [10, 6, 3, 5], \"float32\"], " rest   \
    ", \"NCHW\", \"NCHW\", \"float32\"]"
#define FIVE(rest)                                                                                 \
    "[[\"TENSOR\", [2, 3, 9, 11, 2], \"float32\"], [\"TENSOR\", [2, 3, 3, 5, 2, 5], "              \
    "\"float32\"], " rest ", \"NCHW2c\", \"NCHW5c\", \"float32\"]"

/* Numbers count, not how they are written: records have all of them, as TVM writes them. */
static void forms(void **state) {
    static const struct {
        const char *args, *recorded;
        int sh, sw, top, left, bottom, right, dh, dw, ib, ob;
    } cases[] = {
        {FOUR("1, 0, 1"), FOUR("[1, 1], [0, 0, 0, 0], [1, 1]"), 1, 1, 0, 0, 0, 0, 1, 1, 0, 0},
        {FOUR("[1, 2], 3, [2, 1]"), FOUR("[1, 2], [3, 3, 3, 3], [2, 1]"), 1, 2, 3, 3, 3, 3, 2, 1, 0,
         0},
        {FOUR("2, [1, 2], 1"), FOUR("[2, 2], [1, 2, 1, 2], [1, 1]"), 2, 2, 1, 2, 1, 2, 1, 1, 0, 0},
        {FOUR("2, [1, 2, 3, 4], 1"), FOUR("[2, 2], [1, 2, 3, 4], [1, 1]"), 2, 2, 1, 2, 3, 4, 1, 1,
         0, 0},
        {FOUR("2, \"VALID\", 1"), FOUR("[2, 2], [0, 0, 0, 0], [1, 1]"), 2, 2, 0, 0, 0, 0, 1, 1, 0,
         0},
        {FOUR("2, \"SAME\", 1"), FOUR("[2, 2], [1, 2, 1, 2], [1, 1]"), 2, 2, 1, 2, 1, 2, 1, 1, 0,
         0},
        {FIVE("1, [0, 1], [1, 2]"), FIVE("[1, 1], [0, 1, 0, 1], [1, 2]"), 1, 1, 0, 1, 0, 1, 1, 2, 2,
         5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_task *t = task(*state, cases[i].args);
        assert_string_equal(shape_text(*state, at_task_args(t)), cases[i].recorded);
        assert_int_equal(at_task_arg(t, "N"), 2);
        assert_int_equal(at_task_arg(t, "IC"), 6);
        assert_int_equal(at_task_arg(t, "OC"), 10);
        assert_int_equal(at_task_arg(t, "KW"), 5);
        assert_int_equal(at_task_arg(t, "sh"), cases[i].sh);
        assert_int_equal(at_task_arg(t, "sw"), cases[i].sw);
        assert_int_equal(at_task_arg(t, "top"), cases[i].top);
        assert_int_equal(at_task_arg(t, "left"), cases[i].left);
        assert_int_equal(at_task_arg(t, "bottom"), cases[i].bottom);
        assert_int_equal(at_task_arg(t, "right"), cases[i].right);
        assert_int_equal(at_task_arg(t, "dh"), cases[i].dh);
        assert_int_equal(at_task_arg(t, "dw"), cases[i].dw);
        assert_int_equal(at_task_arg(t, "ib"), cases[i].ib);
        assert_int_equal(at_task_arg(t, "ob"), cases[i].ob);
        /* The same by name. */
        at_task *named = task(*state, at_task_args_text(t));
        assert_string_equal(shape_text(*state, at_task_args(named)), cases[i].recorded);
    }
    at_task *t = task(*state, " strides = [1, 2] , padding=SAME,layout=NCHW8c,ib=8,ob=4");
    assert_string_equal(at_task_args_text(t),
                        "N=1,IC=64,H=56,W=56,OC=64,KH=3,KW=3,strides=[1, 2],padding=1,"
                        "dilation=1,layout=\"NCHW8c\",out_layout=\"NCHW\",ib=8,ob=4");
}

#define SIDES                                                                                      \
    "; it is a whole number from 0 on, or [top, left, bottom, right], or [vertical, horizontal], " \
    "or \"SAME\" or \"VALID\""
#define WITH(args) "--args: conv2d_NCHWc with N=1,IC=64,H=56,W=56,OC=64," args

static void refused(void **state) {
    static const struct {
        const char *args, *text;
    } cases[] = {
        {"strides=0", "--args: strides = 0; it is a whole number from 1 on, or [sh, sw]"},
        {"strides=[1]", "--args: strides = [1]; it is a whole number from 1 on, or [sh, sw]"},
        {"strides=[1,2,3,4]",
         "--args: strides = [1,2,3,4]; it is a whole number from 1 on, or [sh, sw]"},
        {"strides=SAME", "--args: strides = SAME; it is a whole number from 1 on, or [sh, sw]"},
        {"padding=-1", "--args: padding = -1" SIDES},
        {"padding=[1,2,3]", "--args: padding = [1,2,3]" SIDES},
        {"padding=[1,2,3,-4]", "--args: padding = [1,2,3,-4]" SIDES},
        {"padding=same", "--args: padding = same" SIDES},
        {"padding=1.5", "--args: padding = 1.5" SIDES},
        {"layout=3", "--args: layout = 3; it is a text"},
        {"layout=NHWC", "--args: layout = \"NHWC\"; it is \"NCHW\""},
        {"layout=NCHW0c", "--args: layout = \"NCHW0c\"; it is \"NCHW\""},
        {"layout=NCHW8c", "--args: layout = \"NCHW8c\"; it is \"NCHW\""},
        {"out_layout=NCHW8c,ib=8,ob=4",
         "--args: out_layout = \"NCHW8c\"; it is \"NCHW\" or \"NCHW4c\""},
        {"[[\"TENSOR\", [2, 3, 9, 11, 2], \"float32\"], [\"TENSOR\", [2, 3, 3, 5, 2, 5], "
         "\"float32\"], 1, [0, 1], [1, 2], \"NCHW2c\", \"NHWC\", \"float32\"]",
         "--args: out_layout = \"NHWC\"; it is \"NCHW\" or \"NCHW5c\""},
        {"padding=[9007199254740993,0]", "--args: padding = [9007199254740993,0] exceeds 2^53"},
        {"KH=0", "--args: KH = 0; an argument is a whole number from 1 on"},
        {"ib=-1", "--args: ib = -1; an argument is a whole number from 0 on"},
        {FOUR("0, 0, 1"), "--args: strides = 0; it is a whole number from 1 on, or [sh, sw]"},
        {FOUR("1, null, 1"), "--args: padding = null" SIDES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(*state, row_named("conv2d_NCHWc"), cases[i].args, AT_E_USAGE, cases[i].text);
    static const struct {
        const char *args, *end;
    } misfits[] = {
        {"KH=60", ": the kernel exceeds the padded image"},
        {"ib=8", ": ib and ob are given both or neither"},
        {"ib=7,ob=8", ": ib does not divide IC"},
        {"ib=8,ob=7", ": ob does not divide OC"},
        {"[[\"TENSOR\", [1, 6, 9, 11], \"float32\"], [\"TENSOR\", [4, 3, 3, 3], \"float32\"], 1, "
         "1, "
         "1, \"NCHW\", \"NCHW\", \"float32\"]",
         "--args: IC = 3, but 6 before"},
    };
    for (size_t i = 0; i < sizeof misfits / sizeof *misfits; i++) {
        at_task *t;
        at_error err = {0};
        assert_int_equal(at_task_new(*state, row_named("conv2d_NCHWc"), misfits[i].args, &t, &err),
                         AT_E_USAGE);
        size_t n = strlen(err.text), end = strlen(misfits[i].end);
        if (n < end || strcmp(err.text + n - end, misfits[i].end)) fail_msg("%s", err.text);
    }
}

/* ---- programs -------------------------------------------------------------------------------- */

static const char *const shapes[] = {
    "IC=3,OC=4,H=7,W=5",
    "IC=4,OC=2,H=6,W=8,KH=1,KW=1,padding=0",
    "IC=2,OC=4,H=5,W=7,KH=1,KW=1,padding=0,strides=2",
    "N=2,IC=2,OC=3,H=7,W=7,strides=2",
    "IC=2,OC=2,H=9,W=8,dilation=2,padding=2",
    "IC=2,OC=3,H=9,W=11,KH=7,KW=7,strides=2,padding=3",
    "IC=2,OC=3,H=5,W=6,KH=2,KW=4,padding=SAME,strides=[1, 2]",
    "IC=4,OC=6,H=4,W=5,padding=[0, 2, 1, 0],ib=2,ob=3",
};

static void random_entities(void **state) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        expect_random_right(task(*state, shapes[i]), 40);
}

/* Blocked index of channel c of C at position p of P, with block b. */
static int64_t blocked(int64_t c, int64_t b, int64_t p, int64_t P) {
    return (c / b * P + p) * b + c % b;
}

/* By hand, sharing nothing with the notations. */
static void is_a_convolution(void **state) {
    enum { N = 2, IC = 4, H = 6, W = 7, OC = 6, KH = 3, KW = 2, SH = 2, SW = 1, DH = 1, DW = 2 };
    enum { TOP = 1, LEFT = 2, BOTTOM = 0, RIGHT = 1, I = 2, O = 3, OH = 3, OW = 8 };
    float data[N * IC * H * W], weight[OC * IC * KH * KW];
    for (int i = 0; i < N * IC * H * W; i++) data[i] = (float)(i % 7 - 2);
    for (int i = 0; i < OC * IC * KH * KW; i++) weight[i] = (float)(i % 5 - 1);
    at_task *t = task(*state, "N=2,IC=4,H=6,W=7,OC=6,KH=3,KW=2,strides=[2,1],padding=[1,2,0,1],"
                              "dilation=[1,2]");
    at_config c = config_of(*state, t,
                            "[\"tile_ic\", \"sp\", [-1, 2]], [\"tile_oc\", \"sp\", [-1, 3]], "
                            "[\"tile_ow\", \"sp\", [-1, 4]], [\"unroll_kw\", \"ot\", true]");
    const at_compute *compute = at_task_compute(t);
    at_program *p;
    at_error err = {0};
    assert_int_equal(at_task_program(*state, t, &c, &p, &err), AT_OK);
    at_data *x = AT_NEW_ARRAY(*state, at_data, compute->num_tensors);
    x[at_compute_find(compute, "data")].f = data;
    x[at_compute_find(compute, "weight")].f = weight;
    assert_int_equal(at_program_interpret(*state, p, x, &err), AT_OK);
    const float *out = x[at_compute_find(compute, "out")].f;

    for (int n = 0; n < N; n++)
        for (int oc = 0; oc < OC; oc++)
            for (int h = 0; h < OH; h++)
                for (int w = 0; w < OW; w++) {
                    float sum = 0;
                    for (int ic = 0; ic < IC; ic++)
                        for (int kh = 0; kh < KH; kh++)
                            for (int kw = 0; kw < KW; kw++) {
                                int y = h * SH + kh * DH - TOP, z = w * SW + kw * DW - LEFT;
                                if (y < 0 || y >= H || z < 0 || z >= W) continue;
                                int64_t tap = ((oc / O * (IC / I) + ic / I) * KH + kh) * KW + kw;
                                sum += data[n * IC * H * W + blocked(ic, I, y * W + z, H * W)] *
                                       weight[(tap * I + ic % I) * O + oc % O];
                            }
                    assert_true(out[n * OC * OH * OW + blocked(oc, O, h * OW + w, OH * OW)] == sum);
                }
}

static void default_entities(void **state) {
    static const struct {
        const char *args;
        int lanes;
        const char *entity;
    } cases[] = {
        {"H=5", 16,
         "[[\"tile_ic\", \"sp\", [4, 16]], [\"tile_oc\", \"sp\", [4, 16]], [\"tile_ow\", \"sp\", "
         "[2, 28]], [\"unroll_kw\", \"ot\", false]]"},
        {"IC=3,OC=12,H=4,W=33", 8,
         "[[\"tile_ic\", \"sp\", [1, 3]], [\"tile_oc\", \"sp\", [2, 6]], [\"tile_ow\", \"sp\", "
         "[3, 11]], [\"unroll_kw\", \"ot\", false]]"},
        {"IC=6,OC=8,KH=1,KW=1,padding=0,H=28,W=14", 4,
         "[[\"tile_ic\", \"sp\", [2, 3]], [\"tile_oc\", \"sp\", [2, 4]], [\"tile_ow\", \"sp\", "
         "[1, 14]], [\"tile_oh\", \"ot\", 2]]"},
        /* 7 is no value of the option. */
        {"IC=6,OC=8,KH=1,KW=1,padding=0,H=7,W=4", 4,
         "[[\"tile_ic\", \"sp\", [2, 3]], [\"tile_oc\", \"sp\", [2, 4]], [\"tile_ow\", \"sp\", "
         "[1, 4]], [\"tile_oh\", \"ot\", 7]]"},
        {"IC=2,OC=2,KH=1,KW=1,padding=0,H=3,W=37", 16,
         "[[\"tile_ic\", \"sp\", [1, 2]], [\"tile_oc\", \"sp\", [1, 2]], [\"tile_ow\", \"sp\", "
         "[37, 1]], [\"tile_oh\", \"ot\", 3]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_default(*state, task(*state, cases[i].args), cases[i].lanes, cases[i].entity);
}

static void flops(void **state) {
    assert_true(at_task_flops(task(*state, "IC=3,H=224,W=224,KH=7,KW=7,strides=2,padding=3")) ==
                236027904);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)
    const struct CMUnitTest tests[] = {
        TEST(golden_spaces),    TEST(dilated_width),   TEST(forms),
        TEST(refused),          TEST(random_entities), TEST(is_a_convolution),
        TEST(default_entities), TEST(flops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
