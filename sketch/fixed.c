/* sketch/fixed.c: one program as a template of a single configuration: its numbers are sizes. */
#include <string.h>

#include "sketch/sketch_int.h"

static bool stays(const at_definition *d) {
    return d->kind == AT_DEFINE_LAYOUT || d->kind == AT_DEFINE_SPARSE ||
           d->kind == AT_DEFINE_FLOPS || d->kind == AT_DEFINE_REQUIRE;
}

at_schedulable *sketch_fixed(at_arena *a, const at_task *t, const char *sizes, const at_compute *c,
                             const char *tree) {
    AT_VEC(at_definition) definitions = {0};
    at_text compute = {0}, args = {0}, record_args = {0};
    at_schedulable_args(t, &args, &record_args);
    if (*sizes)
        *at_push(a, &definitions) = (at_definition){.kind = AT_DEFINE_SIZES, .text = {sizes}};
    for (int i = 0; i < at_task_num_definitions(t); i++)
        if (stays(at_task_definition(t, i))) *at_push(a, &definitions) = *at_task_definition(t, i);
    at_compute_print(&compute, c);
    at_schedulable *s = at_schedulable_untried(
        a, at_task_row(t)->name, at_text_str(&args), at_text_str(&record_args), definitions.data,
        definitions.len, NULL, 0, at_text_str(&compute), tree);
    at_text_free(&compute);
    at_text_free(&args);
    at_text_free(&record_args);
    return s;
}

/* Sizes that the computation, or what is said of it, is made with: numbers of this program. The
 * tree has its own. */
static const char *sizes_of(at_arena *a, const at_task *t, const at_program *p) {
    const at_symbols *names = p->compute->symbols;
    at_text said = {0}, out = {0};
    at_compute_print(&said, p->compute);
    for (int i = 0; i < at_task_num_definitions(t); i++) {
        const at_definition *d = at_task_definition(t, i);
        for (int k = 0; stays(d) && k < 4 && d->text[k]; k++)
            at_text_addf(&said, " %s", d->text[k]);
    }
    for (int i = at_task_num_numbers(t); i < names->names.len; i++)
        if (sketch_has_word(at_text_str(&said), names->names.data[i]))
            at_text_addf(&out, "%s%s = %lld", out.len ? ", " : "", names->names.data[i],
                         (long long)p->values[i]);
    at_text_free(&said);
    return at_text_take(a, &out);
}

at_status at_schedulable_of_config(at_arena *a, const at_task *t, const at_config *c,
                                   const at_schedulable **out, at_error *err) {
    at_config own_config;
    const at_task *own = at_task_of_config(t, c, &own_config);
    at_program *p;
    at_text tree = {0};
    AT_TRY(at_task_program(a, own, &own_config, &p, err));
    at_program_print(&tree, p, false);
    at_schedulable *s =
        sketch_fixed(a, own, sizes_of(a, own, p), p->compute, at_text_take(a, &tree));
    *out = s;
    return at_schedulable_try_only(a, s, err);
}
