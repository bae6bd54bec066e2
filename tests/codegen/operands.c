#include "tests/codegen/operands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, PATTERN = 255 }; /* floats of these bytes are NaN, integers -1 */

void guarded_open(guarded *g, size_t bytes, bool at_end) {
    size_t inner = (bytes + PAGE - 1) / PAGE * PAGE;
    *g = (guarded){.map_bytes = inner + 2 * PAGE, .bytes = bytes};
    g->map = mmap(NULL, g->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    AT_ASSERT(g->map != MAP_FAILED);
    AT_ASSERT(!inner || !mprotect(g->map + PAGE, inner, PROT_READ | PROT_WRITE));
    memset(g->map + PAGE, PATTERN, inner);
    g->data = g->map + PAGE + (at_end ? inner - bytes : 0);
}

void guarded_close(guarded *g) { munmap(g->map, g->map_bytes); }

static bool intact(const guarded *g) {
    const char *end = g->map + g->map_bytes - PAGE;
    for (const char *p = g->map + PAGE; p < end; p++)
        if ((p < g->data || p >= g->data + g->bytes) && *p != (char)PATTERN) return false;
    return true;
}

static void protect(const guarded *g) {
    if (g->bytes) mprotect(g->map + PAGE, g->map_bytes - 2 * PAGE, PROT_READ);
}

const void *elements_of(const at_data *d) { return d->i ? (const void *)d->i : d->f; }

static void fill(const operands *o, int i, int tensor) {
    memcpy(o->mem[i].data, elements_of(&o->b->data[tensor]), o->mem[i].bytes);
}

void operands_begin_again(const operands *o) {
    for (int i = 0; i < o->num_params; i++)
        if (o->params[i].before && !o->params[i].stays) fill(o, i, o->params[i].before - 1);
}

void operands_open(operands *o, const built *b, const at_param *params, int num_params,
                   int64_t shared_bytes, int64_t thread_bytes, uint64_t seed) {
    at_rng rng;
    at_rng_seed(&rng, seed, 17);
    AT_ASSERT(num_params <= OPERANDS);
    *o = (operands){.b = b, .params = params, .num_params = num_params};
    for (int i = 0; i < num_params; i++) {
        size_t bytes = (size_t)params[i].elements * 4;
        guarded_open(&o->mem[i], bytes, at_rng_below(&rng, 4) > 0);
        o->buf[i] = o->mem[i].data;
        const bool is_input = params[i].role == AT_PARAM_IN;
        if (!is_input && !params[i].before) continue;
        fill(o, i, is_input ? params[i].tensor : params[i].before - 1);
        if (is_input) protect(&o->mem[i]);
    }
    guarded_open(&o->workspace, (size_t)(shared_bytes + THREADS * thread_bytes),
                 at_rng_below(&rng, 2));
    o->memory = (ir_memory){o->buf, o->workspace.data, THREADS};
}

/* Floats in ascending order, as numbers. */
static int64_t place_of(float x) {
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
}

/* Units in the last place by which an output may differ: a function of exact values has some. */
static int ulps_of(const built *b, const char *name) {
    int t = at_compute_find(b->compute, name);
    const at_expr *body = t >= 0 ? b->compute->tensors[t].body : NULL;
    return body && body->op == AT_X_CALL ? at_function_ulps((at_function)body->integer) : 0;
}

static const char *find_other_integer(const built *b, const char *name, const int32_t *found,
                                      const int32_t *want, int64_t n) {
    for (int64_t e = 0; e < n; e++)
        if (found[e] != want[e])
            return at_format(b->arena, "%s[%lld] is %d, expected %d", name, (long long)e,
                             (int)found[e], (int)want[e]);
    return NULL;
}

static const char *find_other_float(const built *b, const char *name, const float *found,
                                    const float *want, int64_t n) {
    int ulps = ulps_of(b, name);
    for (int64_t e = 0; e < n; e++)
        if (!(found[e] == want[e]) && !(isnan(found[e]) && isnan(want[e])) &&
            (isnan(found[e]) || isnan(want[e]) ||
             llabs(place_of(found[e]) - place_of(want[e])) > ulps))
            return at_format(b->arena, "%s[%lld] is %g, expected %g", name, (long long)e,
                             (double)found[e], (double)want[e]);
    return NULL;
}

const char *find_difference(const built *b, const char *name, const void *found,
                            const at_data *expected, int64_t n) {
    return expected->i ? find_other_integer(b, name, found, expected->i, n)
                       : find_other_float(b, name, found, expected->f, n);
}

/* Does the tree say how the stage lies? */
static bool is_laid_out(const at_node *n, int tensor) {
    for (; n; n = n->next)
        if (n->is_leaf ? n->tensor == tensor && !n->is_init && (n->rows || n->order)
                       : is_laid_out(n->child, tensor))
            return true;
    return false;
}

const char *operands_check(const operands *o, const at_data *expected) {
    if (!intact(&o->workspace)) return "writes outside the workspace";
    for (int i = 0; i < o->num_params; i++) {
        const at_param *q = &o->params[i];
        if (!intact(&o->mem[i])) return at_format(o->b->arena, "writes outside %s", q->name);
        if (q->role == AT_PARAM_IN || q->tensor < 0) continue; /* a table: what reads it shows */
        if (is_laid_out(o->b->program->root, q->tensor)) continue; /* the same */
        const char *fault =
            find_difference(o->b, q->name, o->mem[i].data, &expected[q->tensor], q->elements);
        if (fault) return fault;
    }
    return NULL;
}

void operands_close(operands *o) {
    for (int i = 0; i < o->num_params; i++) guarded_close(&o->mem[i]);
    guarded_close(&o->workspace);
}
