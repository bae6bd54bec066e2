/* codegen/sums.c: whether a sum is in registers from its first term to its last, or lies in memory
 * between steps of loops of its reduction. */
#include <string.h>

#include "codegen/codegen_int.h"
#include "codegen/lowered.h"

typedef struct search {
    const at_lowered *l;
    int tensor;
    at_text *loops;
} search;

/* What a tile does with the sum: it begins it, or adds to what is in memory. */
typedef struct use {
    bool begins, grows;
} use;

static void join(use *x, use y) {
    x->begins |= y.begins;
    x->grows |= y.grows;
}

static void note_loop(const search *s, const char *name) {
    size_t n = strlen(name);
    const char *all = at_text_str(s->loops);
    for (const char *p = all; (p = strstr(p, name)); p += n)
        if ((p == all || p[-1] == ' ') && (!p[n] || p[n] == ',')) return;
    at_text_addf(s->loops, "%s%s", s->loops->len ? ", " : "", name);
}

/* ---- in a tile ------------------------------------------------------------------------------- */

static const at_node *leaf_of(const at_node *list, int tensor) {
    for (const at_node *n = list; n; n = n->next) {
        if (n->is_leaf && n->tensor == tensor && !n->is_init) return n;
        const at_node *below = n->is_leaf ? NULL : leaf_of(n->child, tensor);
        if (below) return below;
    }
    return NULL;
}

static bool is_of_reduction(const search *s, const char *name) {
    const at_program *p = s->l->low->program;
    const at_node *n = leaf_of(p->root, s->tensor);
    for (n = n ? n->parent : NULL; n; n = n->parent)
        for (int i = 0; n->is_reduce && i < n->num_pieces; i++)
            if (!strcmp(p->piece_names[n->piece[i]], name)) return true;
    return false;
}

/* From operation *at to the end of its loop, or of the tile. What is stored first begins. */
static use of_ops(const search *s, const at_tile_call *call, int *at) {
    use all = {0};
    bool reads = false;
    for (; *at < call->tile->num_ops; ++*at) {
        const at_tile_op *op = &call->tile->ops[*at];
        if (op->kind == AT_T_END) break;
        if (op->kind == AT_T_LOOP) {
            ++*at;
            use x = of_ops(s, call, at);
            if (x.grows && !x.begins && op->name && is_of_reduction(s, op->name))
                note_loop(s, op->name);
            join(&all, x);
            continue;
        }
        bool is_read = op->kind == AT_T_LOAD || op->kind == AT_T_BCAST || op->kind == AT_T_GATHER ||
                       op->kind == AT_T_SCATTER || op->mem == AT_MEM_VECTOR ||
                       op->mem == AT_MEM_BCAST;
        if ((op->kind != AT_T_STORE && !is_read) || op->slot >= call->tile->num_slots ||
            call->slot_tensor[op->slot] != s->tensor)
            continue;
        reads |= is_read;
        if (at_tile_stores(op)) join(&all, (use){.begins = !reads, .grows = reads});
    }
    return all;
}

/* ---- around tiles ---------------------------------------------------------------------------- */

static use of_list(const search *s, const at_ir *list) {
    use all = {0};
    for (const at_ir *n = list; n; n = n->next) {
        use x = {0};
        if (n->kind == AT_IR_STMT && n->stmt.tensor == s->tensor)
            x = (use){.begins = !n->stmt.add, .grows = n->stmt.add};
        if (n->kind == AT_IR_TILE) x = of_ops(s, n->call, &(int){0});
        if (n->kind == AT_IR_LOOP || n->kind == AT_IR_IF) x = of_list(s, n->child);
        if (n->kind == AT_IR_IF) join(&x, of_list(s, n->other));
        if (n->kind == AT_IR_LOOP && n->loop.is_reduce && x.grows && !x.begins)
            note_loop(s, s->l->syms[n->loop.sym].name);
        join(&all, x);
    }
    return all;
}

bool at_lowered_sum_waits(const at_lowered *l, int tensor, at_text *loops) {
    of_list(&(search){l, tensor, loops}, l->root);
    return loops->len > 0;
}
