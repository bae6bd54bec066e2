/* export/emit_file.c: the files of `apply`: kernels, functions that choose between them, a main,
 * and a header.
 *
 * The files depend on libc only, compile without warnings, hold no state, and need no include where
 * no main is asked for. */
#include "codegen/target.h"
#include "export/export_int.h"

#include <ctype.h>
#include <string.h>

/* What is written is the user's. */
static const char licence[] =
    " *\n * This file is yours: whoever ran the program that wrote it may "
    "use, change and pass it on without\n * any condition. It comes "
    "without warranty. SPDX-License-Identifier: 0BSD\n";

static void kernel_head(at_text *out, const at_file_kernel *f) {
    at_text_add(out, f->head);
    at_text_add(out, "\n");
    at_program_print(out, f->program, false);
}

static void how_to_compile(at_text *out, const at_kernel *k, int threads, bool several,
                           const at_file_options *o) {
    const char *source = o->source ? o->source : "kernel.c", *dot = strrchr(source, '.');
    size_t stem = dot && dot > source ? (size_t)(dot - source) : strlen(source);
    const char *cc = k->dialect == AT_DIALECT_TCC ? "tcc"
                     : threads > 1                ? "cc -O3 -fopenmp"
                                                  : "cc -O3";
    /* types.md: beside integers floats are rounded at each operation */
    const char *in_steps =
        k->has_integers && k->dialect != AT_DIALECT_TCC ? " -ffp-contract=off" : "";
    at_text_addf(out, "compile: %s%s%s ", cc, in_steps, o->with_main ? "" : " -c");
    at_text_add_shell(out, source, strlen(source));
    if (o->with_main) {
        at_text_add(out, " -o ");
        at_text_add_shell(out, source, stem);
        at_text_add(out, " && ./");
        at_text_add_shell(out, source, stem);
    }
    at_text_addf(out, "\n%s%s",
                 o->header ? "declarations are in " : "declarations stand before the kernel",
                 o->header ? o->header : "");
    if (several) at_text_add(out, "; each kernel asks for its instruction set: NAME_supported()\n");
    else if (k->dialect == AT_DIALECT_TCC)
        at_text_addf(out, "; tiles are machine code: %s\n", k->target->name);
    else if (!k->target->prelude) at_text_add(out, "; plain C\n");
    else at_text_addf(out, "; runs on CPUs with %s\n", k->target->name);
}

static void source_head(at_text *out, const at_file_kernel *kernels, int n, bool families,
                        const at_file_options *o) {
    at_text text = {0};
    bool several = false;
    int threads = 1;
    for (int i = 0; i < n; i++) {
        several |= kernels[i].kernel->target != kernels->kernel->target;
        if (kernels[i].threads > threads) threads = kernels[i].threads;
    }
    if (families) at_text_add(&text, o->head);
    else kernel_head(&text, kernels);
    at_text_add(&text, "\n");
    how_to_compile(&text, kernels->kernel, threads, several, o);
    at_text_add(out, "/*\n");
    at_file_comment(out, at_text_str(&text));
    at_text_add(out, licence);
    at_text_add(out, " */\n");
    at_text_free(&text);
}

static void add_declarations(at_text *out, const at_face *faces, int n,
                             const at_families *families) {
    for (int i = 0; i < families->len; i++) at_family_declare(out, &families->data[i]);
    for (int i = 0; i < n; i++) {
        if (i) at_text_add(out, "\n");
        at_kernel_declare(out, &faces[i]);
    }
}

/* ---- what kernels of an instruction set share ------------------------------------------------ */

static size_t name_length(const char *s) {
    size_t n = 0;
    while (at_in_name(s[n])) n++;
    return n;
}

/* Every name of the text that is ours: of another instruction set it means something else. */
static void add_names(at_text *out, const char *text, const char *target) {
    static const char define[] = "#define ";
    at_text seen = {0};
    at_text_add(&seen, " ");
    for (const char *s = text; *s;) {
        size_t n = name_length(s);
        if (!n) {
            s++;
            continue;
        }
        at_text word = {0};
        at_text_addf(&word, " %.*s ", (int)n, s);
        bool ours = (!strncmp(s, "at_", 3) || !strncmp(s, "AT_", 3)) && strncmp(s, "at_par", n);
        if (ours && !strstr(at_text_str(&seen), at_text_str(&word))) {
            at_text macro = {0};
            at_text_addf(&seen, "%.*s ", (int)n, s);
            at_text_addf(&macro, "%s%.*s", define, (int)n, s);
            const char *found = strstr(text, at_text_str(&macro));
            while (found && name_length(found + strlen(define)) != n)
                found = strstr(found + 1, at_text_str(&macro));
            at_text_addf(out, "#undef %.*s\n", (int)n, s);
            if (!found && target)
                at_text_addf(out, "#define %.*s %.*s_%s\n", (int)n, s, (int)n, s, target);
            at_text_free(&macro);
        }
        at_text_free(&word);
        s += n;
    }
    at_text_free(&seen);
}

void at_set_add(at_set *set, const at_kernel *k) {
    if (!set->first) set->first = k;
    set->has_integers |= k->has_integers;
    set->has_halves |= k->has_halves;
}

/* What all of a set share, behind what all sets share. */
static const char *shared_text(at_arena *a, const at_set *set, bool first) {
    static const char end[] = "} at_par;\n\n";
    at_text common = {0};
    at_kernel_common(&common, set->first->target, set->first->dialect, set->has_integers,
                     set->has_halves);
    const char *text = at_text_take(a, &common), *rest = strstr(text, end);
    AT_ASSERT(rest);
    return first ? text : rest + strlen(end);
}

/* What a set's names end with; the next time that the set begins, with a number: C99 has a type
 * once.
 */
static const char *suffix_of(at_arena *a, const at_text *out, const char *target) {
    const char *suffix = target;
    for (int n = 2; strstr(at_text_str(out), at_format(a, "/* ---- %s ---- */", suffix)); n++)
        suffix = at_format(a, "%s_%d", target, n);
    return suffix;
}

void at_begin_set(at_arena *a, at_text *out, const at_set *set, const char *prefix,
                  const char **before) {
    const bool first = !*before;
    const char *text = shared_text(a, set, first);
    if (!first) {
        const char *suffix = suffix_of(a, out, set->first->target->name);
        at_text_addf(out, "\n/* ---- %s ---- */\n\n", suffix);
        add_names(out, *before, NULL);
        add_names(out, text, suffix);
    }
    at_text_add(out, text);
    if (prefix) at_cpu_test_shared(out, set->first, prefix);
    *before = at_format(a, "%s%s", first ? "" : *before, shared_text(a, set, false));
}

/* Kernels of one instruction set stand together. */
static void add_kernels(at_arena *a, at_text *out, const at_face *faces, int n, bool heads) {
    bool *done = AT_NEW_ARRAY(a, bool, n);
    const char *before = NULL;
    for (int i = 0; i < n; i++) {
        const at_target *target = faces[i].of->kernel->target;
        if (done[i]) continue;
        at_set set = {0};
        for (int j = i; j < n; j++)
            if (!done[j] && faces[j].of->kernel->target == target)
                at_set_add(&set, faces[j].of->kernel);
        at_begin_set(a, out, &set, faces->of->name, &before);
        for (int j = i; j < n; j++) {
            if (done[j] || faces[j].of->kernel->target != target) continue;
            if (heads) {
                at_text head = {0};
                kernel_head(&head, faces[j].of);
                at_text_add(out, "\n/*\n");
                at_file_comment(out, at_text_str(&head));
                at_text_add(out, " */\n");
                at_text_free(&head);
            }
            at_kernel_define(out, &faces[j], faces->of->name);
            done[j] = true;
        }
    }
}

static void header_file(at_arena *a, at_text *out, const at_file_kernel *kernels,
                        const at_file_options *o, bool families, const char *declarations) {
    const char *head = families ? o->head : kernels->head;
    at_text guard = {0};
    const char *stem = at_c_name(a, o->header);
    for (const char *c = stem; *c; c++) at_text_addf(&guard, "%c", toupper((unsigned char)*c));
    at_text_add(out, "/*\n");
    at_file_comment(out, head);
    at_text_add(out, licence);
    at_text_addf(out,
                 " *\n * Pointers need the alignment of their elements and no more; what is "
                 "written must not\n * overlap what is read. Functions keep no state: any may "
                 "run at the same time as any other.\n */\n"
                 "#ifndef %s\n#define %s\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n%s\n"
                 "#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
                 at_text_str(&guard), at_text_str(&guard), declarations);
    at_text_free(&guard);
}

at_status at_emit_file(at_arena *a, const at_file_kernel *kernels, int n, const at_file_options *o,
                       at_text *source, at_text *header, at_error *err) {
    at_face *faces = AT_NEW_ARRAY(a, at_face, n);
    int apart = 0; /* the most tensors of a kernel that runs apart */
    for (int i = 0; i < n; i++) {
        const at_compute *c = kernels[i].program->compute;
        bool converts = c->in_steps;
        for (int t = 0; t < c->num_tensors; t++) converts |= at_tensor_is_checked(&c->tensors[t]);
        if (o->fallback && (converts || c->has_halves))
            return at_fail(err, AT_E_INPUT,
                           "%s: there are no plain loops for %s so far: leave --fallback out",
                           kernels[i].name, converts ? "integers" : "floats of 16 bits");
        at_status s = at_face_make(a, &kernels[i], o->abi, &faces[i], err);
        if (s != AT_OK) return err ? at_fail_at(err, "%s: ", kernels[i].name) : s;
        faces[i].runs_apart = o->with_main && faces[i].threads > 1;
        if (faces[i].runs_apart && faces[i].num > apart) apart = faces[i].num;
    }
    at_families families = at_file_families(a, faces, n, o);
    at_text declarations = {0};
    add_declarations(&declarations, faces, n, &families);
    source_head(source, kernels, n, families.len > 0, o);
    if (o->with_main) at_file_main_includes(source);
    at_file_apart_helper(apart, source);
    if (o->header) {
        at_text_addf(source, "#include \"%s\"\n\n", o->header);
        header_file(a, header, kernels, o, families.len > 0, at_text_str(&declarations));
    } else at_text_addf(source, "%s\n", at_text_str(&declarations));
    at_text_free(&declarations);

    add_kernels(a, source, faces, n, families.len > 0);
    for (int i = 0; i < families.len; i++) at_family_define(a, source, &families.data[i]);
    if (!o->with_main) return AT_OK;
    return at_file_main(a, faces, n, &families, source, err);
}
