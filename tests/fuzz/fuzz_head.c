/* Heads of kernels that somebody wrote: refused with a text that a terminal may show, or a template
 * whose task is made or refused in the same way, and whose first points are sources. What begins as
 * JSON is a T1 file of Kernel Tuner's, of which a head is made, and read again. */
#include "tests/fuzz/fuzz.h"

#include "foreign/foreign.h"
#include "sketch/sketch.h"
#include "tests/fuzz/verb.h"

static void write_points(at_arena *a, const at_task *t) {
    const at_space *s = at_task_space(t);
    int64_t index = at_space_next(s, -1, 1, 0, 0);
    for (int i = 0; i < 3 && index >= 0; i++, index = at_space_next(s, index, 1, 0, 0)) {
        at_config c;
        at_foreign_unit unit;
        at_error err;
        AT_ASSERT(at_config_at(a, s, index, &c, &err) == AT_OK);
        at_status status = at_foreign_unit_of(a, t, &c, NULL, "kernel_entry", &unit, &err);
        AT_ASSERT(status == AT_OK || status == AT_E_INPUT);
        if (status != AT_OK) fuzz_check_shown(err.text, "the message");
    }
}

static bool make_task(at_arena *a, const char *text, size_t size) {
    const at_template_row *row;
    at_task *t;
    at_error err;
    at_status s = at_foreign_parse(a, "my.c", text, size, &row, &err);
    if (s == AT_OK) s = at_task_new(a, row, "", &t, &err);
    AT_ASSERT(s == AT_OK || s == AT_E_INPUT || s == AT_E_USAGE);
    if (s == AT_OK) write_points(a, t);
    else fuzz_check_shown(err.text, "the message");
    return s == AT_OK;
}

/* A head that is written here is one that is read here, but for a space without points. */
static void read_t1(at_arena *a, const char *text, size_t size) {
    const at_json *file;
    at_text head = {0};
    at_error err;
    int left;
    if (at_json_parse(a, text, size, &file, NULL) != AT_OK) return;
    if (at_head_of_t1(a, file, "my.json", &head, &left, &err) == AT_OK) {
        AT_ASSERT(at_is_foreign(at_text_str(&head), head.len));
        make_task(a, at_text_str(&head), head.len);
    } else fuzz_check_shown(err.text, "the message");
    at_text_free(&head);
}

static void run(const uint8_t *data, size_t size) {
    at_arena *a = at_arena_new();
    const char *text = (const char *)data;
    if (size && *data == '{') read_t1(a, text, size);
    else if (at_is_foreign(text, size)) make_task(a, text, size);
    at_arena_free(a);
}

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "/* autotune\n * args  N=16, M=8, K=4\n * a[N, K] : input\n * b[K, M] : input\n"
        " * c[n:N, m:M] = sum(k:K) a[n, k] * b[k, m]\n * knob TILE = 2 4 8\n"
        " * knob FAST = false true\n * knob ORDER = \"nm\" \"mn\"\n * split PART of N into 3\n"
        " * order LOOPS of 3\n * require TILE * PART_1 <= 16 && LOOPS_0 == 0 || FAST\n"
        " * knob W = 1..4 if ORDER == \"nm\"\n * default TILE=4, PART=[-1, 4, 2]\n"
        " * flags -O3 -DL={TILE} -Isub\n * workspace N*64\n"
        " * call void f(const float *a, const float *b, float *c, int N, float *workspace)\n */\n"
        "#include \"x.h\"\nvoid f(void) { TILE; }\n",
        "// autotune\n// args N=100, B=64 from 0\n// x[N] : index\n// h[B] : inout\n"
        "// data x = 0..63, h = -1..1\n// reference plain\n// limit 1e-3\n// operations N\n"
        "// knob COPIES = 1 2,4\n// call int h(const int *x, float h[])\nint h(void);\n",
        "! autotune\n! args N=8\n! sizes H = N/2\n! x[N] : input u8\n! y[H] : output s32\n"
        "! unchecked\n! operations 2*N\n! knob U = 0.5 -1.5\n! compiler gfortran\n"
        "! data x = \"x.npy\"\n! call void f(const uint8_t *x, int *y, int N)\n",
        "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"A\", \"Values\": \"[16, "
        "'a']\"}, {\"Name\": \"B\", \"Values\": \"list(range(1, 9, 2))\", \"Default\": 3}, "
        "{\"Name\": \"C\", \"Values\": \"[True, False]\"}], \"Conditions\": [{\"Expression\": \"1 "
        "<= B // 2 < 8 and B in [1, 3] or not C\"}, {\"Expression\": \"A == 'a' and max(B, 2) % 2 "
        "== 0\"}]}, \"KernelSpecification\": {\"KernelName\": \"f\", \"Arguments\": [{\"Name\": "
        "\"N\", \"Type\": \"int32\", \"MemoryType\": \"Scalar\", \"FillValue\": 8}, {\"Name\": "
        "\"x\", \"Type\": \"uint8\", \"MemoryType\": \"Vector\", \"Size\": 64, \"AccessType\": "
        "\"ReadOnly\"}]}}",
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_head = {"head", run, seed, 20};
