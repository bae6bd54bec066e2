/* Plain loops for shapes that no kernel has: made of a task, they compute other tasks of the form
 * as the naive reference of those does, refuse shapes of another form, and decisions on knobs alone
 * make no form. */
#include "tests/export/kernels.h"
#include "sketch/sketch.h"

static const struct {
    const char *name, *args;
    const char *others[3]; /* of the same form; NULL: no more */
    const char *foreign;   /* of another one; NULL: none */
} forms[] = {
    {"conv2d_3x3_gemm",
     "N=1,H=4,W=6,CI=4,CO=8",
     {"N=2,H=3,W=1,CI=5,CO=7", "N=1,H=9,W=8,CI=1,CO=1"},
     NULL},
    {"conv2d_NCHWc",
     "N=1,IC=4,H=5,W=6,OC=8",
     {"N=2,IC=3,H=7,W=4,OC=5,KH=5,KW=2,strides=2", "N=1,IC=4,H=6,W=6,OC=8,ib=2,ob=4",
      "N=1,IC=2,H=9,W=9,OC=3,dilation=2,padding=[0,1,2,0]"},
     "padding=0"},
    {"conv2d_nhwc",
     "N=1,H=5,W=6,CI=4,CO=8",
     {"N=2,H=4,W=7,CI=3,CO=5,KH=1,KW=1", "N=1,H=2,W=2,CI=128,CO=128"},
     "padding=0"},
    {"conv2d_winograd_nhwc",
     "N=1,H=5,W=6,CI=4,CO=8,m=2",
     {"N=2,H=4,W=7,CI=3,CO=5,m=2", "N=1,H=9,W=3,CI=2,CO=3,m=2,padding=[1,1,2,0]"},
     "m=4"},
    {"dense", "M=4,N=16,K=8,bias=1", {"M=3,N=5,K=7,bias=1"}, "bias=0"},
    {"matmul_add", "N=4,L=6,M=8", {"N=5,L=3,M=7", "N=1,L=1,M=1"}, NULL},
    {"sparse_dense", "M=6,N=32,K=8,nnz=5,R=16,C=1", {"M=3,N=34,K=10,nnz=7,R=17,C=1"}, "M=16,R=4"},
    {"spconv2d_3x3_gemm",
     "N=1,H=4,W=6,CI=4,CO=32,nnz=9,R=16,C=1",
     {"N=1,H=7,W=14,CI=2,CO=32,nnz=11,R=32,C=1", "N=2,H=14,W=28,CI=1,CO=16,nnz=3,R=16,C=1"},
     "R=4"},
};
enum { NUM_FORMS = sizeof forms / sizeof *forms };

static at_general general_of(at_arena *a, at_task *task) {
    at_general g;
    at_task_general(a, task, &g);
    return g;
}

static void args_of(at_text *out, const at_task *task) {
    const char *name;
    at_text_add(out, "{");
    for (int i = 0; i < at_task_num_numbers(task); i++)
        at_text_addf(out, "%lldL, ", (long long)at_task_number(task, i, &name));
    at_text_add(out, "}");
}

/* int check_N(void): the loops and the reference of this task, on small integers. */
static void add_check(at_arena *a, at_text *out, int n, at_task *task) {
    const at_compute *c = at_task_compute(task);
    const char *entry = at_format(a, "reference%d", n);
    int64_t *values, **extents, workspace, size[64];
    at_bsr bsr = {.indptr = -1, .indices = -1};
    int buf = 0;
    at_task_bsr(task, &bsr);
    CALL(at_task_plain_values(a, task, &values, &err));
    CALL(at_compute_extents(a, c, values, &extents, &err));
    CALL(at_compute_reference_c(a, c, values, entry, out, &workspace, &err));
    at_text_addf(out, "static int check%d(void) {\n    const long args[] = ", n);
    args_of(out, task);
    at_text_add(out, ";\n    long elements[16], bytes;\n    int wrong = 0;\n"
                     "    if (!loops_sizes(args, elements, &bytes)) return -1;\n");
    for (int output = 0; output < 2; output++)
        for (int t = 0; t < c->num_tensors; t++) {
            const at_tensor *tensor = &c->tensors[t];
            if (output ? !tensor->is_output : tensor->role == AT_ROLE_STAGE) continue;
            size[buf] = at_tensor_elements(tensor, extents[t]);
            at_text_addf(out,
                         "    static %s b%d[%lld], w%d[%lld];\n    (void)w%d;\n"
                         "    if (elements[%d] != %lld) return -2;\n",
                         tensor->role == AT_ROLE_INDEX ? "int" : "float", buf,
                         (long long)size[buf] + 1, buf, (long long)size[buf] + 1, buf, buf,
                         (long long)size[buf]);
            const char *value = "(float)(i * 7 % 11 - 5)";
            if (t == bsr.indices) value = at_format(a, "i %% %lld", (long long)bsr.columns);
            if (t == bsr.indptr)
                value = at_format(a, "i * %lld / %lld", (long long)bsr.nnz, (long long)bsr.rows);
            if (!output)
                at_text_addf(out, "    for (int i = 0; i < %lld; i++) b%d[i] = %s;\n",
                             (long long)size[buf], buf, value);
            buf++;
        }
    at_text_add(out, "    void *got[] = {");
    for (int i = 0; i < buf; i++) at_text_addf(out, "b%d, ", i);
    at_text_add(out, "}, *want[] = {");
    for (int i = 0; i < buf; i++) at_text_addf(out, "%c%d, ", i + 1 < buf ? 'b' : 'w', i);
    at_text_addf(out,
                 "};\n    void *space = malloc(bytes + %lld + 64);\n"
                 "    loops(args, got, space);\n    reference%d(want, space, 0);\n"
                 "    for (int i = 0; i < %lld; i++) wrong += b%d[i] != w%d[i];\n"
                 "    free(space);\n    return wrong;\n}\n\n",
                 (long long)workspace, n, (long long)size[buf - 1], buf - 1, buf - 1);
}

static void other_shapes(void **state) {
    (void)state;
    for (int f = 0; f < NUM_FORMS; f++) {
        at_arena *a = at_arena_new();
        at_general g = general_of(a, task_of(a, forms[f].name, forms[f].args));
        at_text text = {0};
        int n = 0;
        at_text_add(&text, "#include <stdlib.h>\n#include <stdio.h>\n");
        at_general_c(a, &g, "loops", &text);
        add_check(a, &text, n++, task_of(a, forms[f].name, forms[f].args));
        for (int i = 0; i < 3 && forms[f].others[i]; i++)
            add_check(a, &text, n++, task_of(a, forms[f].name, forms[f].others[i]));
        at_text_add(&text, "int main(void) {\n    int wrong = 0, one;\n");
        for (int i = 0; i < n; i++)
            at_text_addf(&text,
                         "    if ((one = check%d())) printf(\"%s, shape %d: %%d wrong\\n\", one);\n"
                         "    wrong += one != 0;\n",
                         i, forms[f].name, i);
        at_text_add(&text, "    return wrong;\n}\n");
        write_text("loops.c", at_text_str(&text));
        run("cc -O1 -Wall -Wextra -Werror loops.c -o loops && ./loops");
        at_text_free(&text);
        at_arena_free(a);
    }
}

/* What is no argument of the template is refused, "SAME" too: in C it is no number. */
static void no_shapes(void **state) {
    (void)state;
    static const char *const same[] = {"H=9,W=9,CI=4,CO=8,KH=3,KW=3,padding=SAME",
                                       "H=9,W=9,CI=4,CO=8,KH=3,KW=3,padding=1"};
    for (int f = -2; f < NUM_FORMS; f++) {
        const char *name = f < 0 ? "conv2d_nhwc" : forms[f].name;
        at_arena *a = at_arena_new();
        at_task *task = task_of(a, name, f < 0 ? same[f + 2] : forms[f].args);
        at_general g = general_of(a, task);
        at_text text = {0};
        at_text_add(&text, "#include <limits.h>\n");
        at_general_c(a, &g, "loops", &text);
        at_text_add(&text, "int main(void) {\n    const long given[] = ");
        args_of(&text, task);
        at_text_addf(&text,
                     ";\n    const long wrong[] = {-1, -2, LONG_MIN, LONG_MAX};\n"
                     "    long args[%1$d], elements[16], bytes;\n"
                     "    if (!loops_sizes(given, elements, &bytes)) return 1;\n"
                     "    for (int i = 0; i < %1$d; i++)\n"
                     "        for (int w = 0; w < 4; w++) {\n"
                     "            for (int k = 0; k < %1$d; k++) args[k] = given[k];\n"
                     "            args[i] = wrong[w];\n"
                     "            if (loops_sizes(args, elements, &bytes)) return 2 + i;\n"
                     "        }\n    void *buf[16] = {0};\n    loops(args, buf, 0);\n"
                     "    return 0;\n}\n",
                     g.num_args);
        write_text("no.c", at_text_str(&text));
        run("cc -O1 -fsanitize=undefined -fno-sanitize-recover no.c -o no && ./no");
        at_text_free(&text);
        at_arena_free(a);
    }
}

static void other_forms(void **state) {
    (void)state;
    for (int f = 0; f < NUM_FORMS; f++) {
        at_arena *a = at_arena_new();
        at_general g = general_of(a, task_of(a, forms[f].name, forms[f].args));
        at_general again = general_of(a, task_of(a, forms[f].name, forms[f].args));
        assert_true(at_general_equal(&g, &again));
        for (int i = 0; i < 4; i++) {
            const char *args = i < 3 ? forms[f].others[i] : forms[f].foreign, *name;
            if (!args) continue;
            const at_template_row *row;
            at_task *task;
            CALL(at_template_find(forms[f].name, &row, &err));
            CALL(at_task_new_over(a, row, i < 3 ? "" : forms[f].args, args, &task, &err));
            int64_t numbers[64], *values;
            for (int k = 0; k < at_task_num_numbers(task); k++)
                numbers[k] = at_task_number(task, k, &name);
            at_status s = at_general_values(a, &g, numbers, &values, NULL);
            if ((s == AT_OK) != (i < 3)) fail_msg("%s %s", forms[f].name, args);
            at_general own = general_of(a, task);
            if (i == 3) assert_false(at_general_equal(&g, &own));
        }
        at_arena_free(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(other_shapes), cmocka_unit_test(no_shapes),
                                       cmocka_unit_test(other_forms)};
    return cmocka_run_group_tests_name("export/shapes", tests, make_folder, remove_folder);
}
