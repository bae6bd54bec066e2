/* sketch/rule_inline.c: what costs little is computed where it is read. What a sum reads so, and is
 * no choice such as padding's, becomes part of the sum's text before all other rules, so that these
 * find what is read behind it:
 *
 *     d[i, j, k] = x[i, k] - y[j, k]; .. sum(k) abs(d[i, j, k])
 *                          ->    .. sum(k) abs(x[i, k] - y[j, k])  */
#include "schedule/edit.h"
#include "sketch/limits.h"
#include "sketch/sketch_int.h"

bool sketch_is_arithmetic(const at_expr *e, int *reads) {
    if (e->op == AT_X_SELECT) return false;
    if (e->op == AT_X_INDEX) ++*reads;
    for (int i = 0; i < e->nargs; i++)
        if (e->op == AT_X_INDEX ? at_index_axis(e->arg[i]) == AT_INDEX_OTHER
                                : !sketch_is_arithmetic(e->arg[i], reads))
            return false;
    return true;
}

/* In how many places sums read it, once all behind it is inlined; 0: other stages read it, too. */
static int places_of(const at_facts *f, int stage, const int *places) {
    int n = 0;
    for (int r = stage + 1; r < f->compute->num_tensors; r++) {
        const at_tensor *reader = &f->compute->tensors[r];
        int reads = f->of[r].is_stage ? at_expr_count_reads(reader->body, stage) : 0;
        if (reads && !reader->num_reduce && !places[r]) return 0;
        n += reads * (reader->num_reduce ? 1 : places[r]);
    }
    return n;
}

void sketch_inline_sums(sketch_state *s) {
    at_error why; /* over a list: it is dissolved */
    const at_facts *f = s->facts;
    int *places = AT_NEW_ARRAY(s->arena, int, f->compute->num_tensors); /* of those inlined */
    for (int t = f->compute->num_tensors - 1; t >= 0; t--) {
        int reads = 0, n = f->of[t].is_dissolved ? places_of(f, t, places) : 0;
        if (!n || !sketch_is_arithmetic(f->compute->tensors[t].body, &reads) || !reads ||
            n * reads > INLINE_MOST_READS)
            continue;
        at_edit e = {.kind = AT_EDIT_INLINE, .stage = f->compute->tensors[t].name};
        if (sketch_step(s, &e, &why) == AT_OK) places[t] = n;
    }
}
