/* export/check_main.c: the main of an `apply` file: each kernel against the naive reference on
 * exact data, then its time. */
#include <string.h>

#include "base/agree.h"
#include "export/check_int.h"

static const char includes[] = "#define _POSIX_C_SOURCE 200112L\n#include <math.h>\n#include "
                               "<stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
                               "#include <time.h>\n\n";

static const char helpers[] =
    "\n/* Whole cache lines: any place will do, this one is the fastest. */\n"
    "static void *at_allocate(unsigned long bytes) {\n"
    "    void *p;\n"
    "    if (posix_memalign(&p, 64, bytes + 64)) exit(1);\n"
    "    memset(p, 255, bytes + 64); /* NaN: what is never written shows */\n"
    "    return p;\n}\n\n"
    "static unsigned at_next(unsigned *state) {\n"
    "    *state = *state * 1664525u + 1013904223u;\n"
    "    return *state >> 16;\n}\n\n";

void at_file_main_includes(at_text *out) { at_text_add(out, includes); }

static const at_family *family_of(const at_families *all, const at_face *f) {
    for (int i = 0; i < all->len; i++)
        if (f->of->family && !strcmp(all->data[i].name, f->of->family)) return &all->data[i];
    return NULL;
}

static void add_shape(at_text *out, const at_families *families, const at_face *f) {
    const at_family *family = family_of(families, f);
    if (!family) return;
    at_text_addf(out, "    const %s_shape shape = {", family->name);
    if (!f->of->num_shape) at_text_add(out, "0");
    for (int i = 0; i < f->of->num_shape; i++)
        at_text_addf(out, "%s%lld", i ? ", " : "", (long long)f->of->shape[i].value);
    at_text_add(out, "};\n");
}

/* What a reference is called behind the kernel's name: with limits of its own where exact draws
 * have none. */
static const char plain_reference[] = "reference", with_limits[] = "limits";

/* What it makes of the data that are there. */
static void run_reference(at_arena *a, at_text *out, const at_face *f, const char *reference) {
    const at_compute *c = f->of->program->compute;
    at_main_widen(out, f);
    for (int i = f->num_inputs; i < f->num; i++)
        if (c->tensors[f->tensors[i].tensor].lies_in) at_main_clear(a, out, f, i);
    for (int i = 0; i < f->num; i++)
        if (f->tensors[i].is_ordered) at_main_own_order(out, f, i);
    at_text_addf(out, "    %s_%s(buf, reference_workspace, 0);\n", f->of->name, reference);
}

static void call_and_compare(at_arena *a, at_text *out, const at_face *f, bool exact) {
    at_main_call(out, f, "    ");
    at_main_finish(out, f);
    at_main_compare(a, out, f, exact);
}

static void run_fast(at_arena *a, at_text *out, const at_face *f, bool exact) {
    at_main_prepare(out, f);
    call_and_compare(a, out, f, exact);
}

/* Once more with the turns of its parallel loops apart. */
static void run_apart(at_arena *a, at_text *out, const at_face *f, bool exact) {
    char *letters = AT_NEW_ARRAY(a, char, f->num);
    for (int i = 0; i < f->num; i++)
        letters[i] = at_main_has_blocks(f, &f->tensors[i]) ? 'c' : at_main_letter(&f->tensors[i]);
    at_file_begin_apart(out, f, letters);
    run_fast(a, out, f, exact);
    at_file_end_apart(out, f);
}

/* As often as a worker calls a kernel of somebody's own, which may do something else at times. */
static void call_again(at_arena *a, at_text *out, const at_face *f, bool exact) {
    at_text_add(out, "    for (int call = 0; call < 8; call++) {\n");
    call_and_compare(a, out, f, exact);
    at_text_add(out, "    }\n");
}

/* Each of the functions on the data that are there. */
static void call_functions(at_arena *a, at_text *out, const at_family *family, const at_face *f,
                           bool exact) {
    if (f->name && !f->is_part) {
        at_text_addf(out, "    %s(", f->name);
        at_main_buffers(out, f, AT_CALL_PLAIN, "");
        at_main_compare(a, out, f, exact);
    }
    if (f->name && family) {
        at_text_add(out, "    if (");
        at_main_call_by_shape(out, family, f);
        at_text_add(out, ") return 1;\n");
        at_main_compare(a, out, f, exact);
    }
    if (f->fast || f->is_part) run_fast(a, out, f, exact);
}

static void check_functions(at_arena *a, at_text *out, const at_family *family, const at_face *f,
                            bool exact, const char *reference) {
    run_reference(a, out, f, reference);
    call_functions(a, out, family, f, exact);
}

static void put_off_one(at_text *out, char letter, int i, long bytes, bool back) {
    at_text_addf(out, "    memmove(%1$c%2$d %3$c 1, %1$c%2$d, %4$ldUL);\n    %1$c%2$d%5$s;\n",
                 letter, i, back ? '-' : '+', bytes, back ? "--" : "++");
}

/* Tensors one element further on, or back again, and what is packed in between words. */
static void put_off(at_text *out, const at_face *f, bool back) {
    for (int i = 0; i < f->num; i++) {
        const at_face_tensor *t = &f->tensors[i];
        const long bytes = (long)(t->elements * at_type_bytes(t->type));
        put_off_one(out, 'b', i, bytes, back);
        if (t->is_s64) put_off_one(out, 'g', i, (long)t->elements * 8, back);
        if (at_main_has_blocks(f, t)) at_text_addf(out, "    c%d%s;\n", i, back ? "--" : "++");
    }
    if (f->packs) at_text_addf(out, "    packed = (char *)packed %c 4;\n", back ? '-' : '+');
    at_text_addf(out, "    workspace = (char *)workspace %c 1;\n", back ? '-' : '+');
}

/* Pointers have the alignment of their elements and no more. */
static void call_off(at_arena *a, at_text *out, const at_family *family, const at_face *f,
                     bool exact) {
    put_off(out, f, false);
    call_functions(a, out, family, f, exact);
    put_off(out, f, true);
    at_main_prepare(out, f);
}

/* Plain loops for shapes without a kernel, on the kernel's own. */
static void check_loops(at_arena *a, at_text *out, const at_family *family, const at_face *f,
                        bool exact) {
    at_text_addf(out, "    %s_only_loops = 1;\n    if (!", family->name);
    at_main_call_by_shape(out, family, f);
    at_text_add(out, ") {\n");
    at_main_compare(a, out, f, exact);
    at_text_addf(out, "    }\n    %s_only_loops = 0;\n", family->name);
}

/* The kernel on each set of data, the first one last: times are its. Where draws are made again,
 * the generator goes on, and every other time no element has a value of its own. */
static void check_draws(at_arena *a, at_text *out, const at_family *family, const at_face *f,
                        const at_filling *with) {
    const bool exact = with->rule.is_exact;
    const int64_t times = with->rule.again / with->rule.num_draws + 1;
    at_main_list_buffers(out, f, at_file_has_limits(with));
    if (with->reals.fill) {
        at_file_fill(out, f, with, &with->reals);
        check_functions(a, out, family, f, false, with_limits);
    }
    if (with->rule.cover.covers.len) {
        at_file_fill(out, f, with, &with->rule.cover);
        at_file_begin_cover(out, f, &with->rule.cover);
        run_reference(a, out, f, plain_reference);
        run_fast(a, out, f, exact);
        at_file_end_cover(out, f, &with->rule.cover);
    }
    for (int draw = with->rule.num_draws; draw-- > 0;) {
        if (with->rule.again)
            at_text_addf(out, "    for (int again = %lld; again-- > 0;) {\n", (long long)times);
        at_file_fill(out, f, with, &with->rule.draw[draw]);
        check_functions(a, out, family, f, exact, plain_reference);
        if (with->rule.again) at_text_add(out, "    }\n");
    }
    if (family && family->checks_loops) check_loops(a, out, family, f, exact);
    if (f->runs_apart) run_apart(a, out, f, exact);
    call_off(a, out, family, f, exact);
    call_again(a, out, f, exact);
}

static void check(at_arena *a, at_text *out, const at_families *families, const at_face *f,
                  const at_filling *with, int64_t reference_workspace, bool several) {
    const at_family *family = family_of(families, f);
    const bool exact = with->rule.is_exact;
    at_text_addf(out, "static int at_check_%s(void) {\n", f->of->name);
    if (!f->is_part) at_main_check_cpu(out, f->of, several);
    add_shape(out, families, f);
    at_main_allocate(out, f, at_file_has_limits(with));
    if (family)
        at_text_addf(out, "    long bytes = %s_workspace_bytes(&shape, 1);\n", family->name);
    if (family && family->checks_loops)
        at_text_addf(out,
                     "    %1$s_only_loops = 1;\n"
                     "    long loop_bytes = %1$s_workspace_bytes(&shape, 1);\n"
                     "    %1$s_only_loops = 0;\n"
                     "    if (loop_bytes > bytes) bytes = loop_bytes;\n",
                     family->name);
    at_text_addf(out,
                 "    unsigned long own_bytes = %s_workspace_bytes(1);\n"
                 "    void *workspace = at_allocate(%s);\n"
                 "    void *reference_workspace = at_allocate(%lldUL);\n    unsigned state = 1;\n"
                 "    long wrong = 0;\n",
                 f->of->name,
                 family ? "bytes > (long)own_bytes ? (unsigned long)bytes : own_bytes"
                        : "own_bytes",
                 (long long)reference_workspace);
    check_draws(a, out, family, f, with);
    at_main_say_wrong(out, f, "");
    if (!f->is_part) at_main_time(a, out, f, exact);
    at_main_release(out, f, at_file_has_limits(with));
    at_text_add(out, "    return 0;\n}\n\n");
}

/* The same tensors as the computation has them that was written, in the same order. */
static at_face as_written(at_arena *a, const at_face *f) {
    at_face written = *f;
    if (!f->of->written) return written;
    const at_compute *from = f->of->program->compute, *c = f->of->written->compute;
    at_file_kernel *of = at_copy(a, f->of, sizeof *f->of);
    at_face_tensor *tensors = at_copy(a, f->tensors, sizeof *f->tensors * (size_t)f->num);
    of->program = f->of->written;
    for (int i = 0; i < f->num; i++) {
        at_face_tensor *t = &tensors[i];
        t->tensor = at_compute_find(c, from->tensors[t->tensor].name);
        AT_ASSERT(t->tensor >= 0 && (!i || i == f->num_inputs || t->tensor > t[-1].tensor));
    }
    written.of = of;
    written.tensors = tensors;
    written.values = of->program->values;
    return written;
}

/* What is computed, without any schedule; *workspace grows to what it takes. */
static at_status print_reference(at_arena *a, at_text *out, const at_face *f, const char *name,
                                 bool exact, int64_t *workspace, at_error *err) {
    const at_compute *c = f->of->program->compute;
    const char *entry = at_format(a, "%s_%s", f->of->name, name);
    int64_t own = 0;
    at_text_addf(out,
                 "/* What is computed, without any schedule%s. */\n"
                 "static int %s(void *const buf[], void *workspace, void *par);\n",
                 exact ? "" : ", and how far a result may be from it", entry);
    AT_TRY((exact ? at_compute_reference_c : at_compute_limits_c)(a, c, f->values, entry, out, &own,
                                                                  err));
    at_text_add(out, "\n");
    if (own > *workspace) *workspace = own;
    return AT_OK;
}

static at_status print_references(at_arena *a, at_text *out, const at_face *f,
                                  const at_filling *with, int64_t *workspace, at_error *err) {
    at_begin_as_tuned(out, f->of->kernel);
    AT_TRY(print_reference(a, out, f, plain_reference, with->rule.is_exact, workspace, err));
    if (with->reals.fill) AT_TRY(print_reference(a, out, f, with_limits, false, workspace, err));
    at_end_as_tuned(out);
    return AT_OK;
}

at_status at_file_checks(at_arena *a, const at_face *kernels, int n, const at_families *families,
                         at_text *out, at_error *err) {
    at_face *faces = AT_NEW_ARRAY(a, at_face, n);
    for (int i = 0; i < n; i++) faces[i] = as_written(a, &kernels[i]);
    bool several = false, covers = false;
    for (int i = 0; i < n; i++) several |= faces[i].of->kernel->target != faces->of->kernel->target;
    at_text_add(out, "\n/* ---- checks ---- */\n");
    at_text_add(out, helpers);
    if (!faces->is_part) at_main_time_helpers(out);
    at_text_add(out, "/* May a result be this far from what it should be? */\n" AT_TEXT_OF(
                         AT_AGREES) "\n\n");
    at_main_peaks(a, out, faces, n);
    at_filling *with = AT_NEW_ARRAY(a, at_filling, n);
    for (int i = 0; i < n; i++) {
        AT_TRY(at_file_choose_filling(a, &faces[i], &with[i], err));
        covers |= with[i].rule.cover.covers.len > 0;
    }
    at_file_fill_helpers(faces, with, n, out);
    at_file_half_helpers(faces, n, out);
    if (covers) at_file_cover_helper(out);
    for (int i = 0; i < n; i++) {
        int64_t workspace = 0;
        AT_TRY(print_references(a, out, &faces[i], &with[i], &workspace, err));
        check(a, out, families, &faces[i], &with[i], workspace, several);
    }
    return AT_OK;
}

at_status at_file_main(at_arena *a, const at_face *faces, int n, const at_families *families,
                       at_text *out, at_error *err) {
    AT_TRY(at_file_checks(a, faces, n, families, out, err));
    at_text_add(out, "int main(void) {\n    int failed = 0;\n");
    for (int i = 0; i < n; i++)
        at_text_addf(out, "    failed += at_check_%s();\n", faces[i].of->name);
    at_text_add(out, "    return failed != 0;\n}\n");
    return AT_OK;
}
