/* sketch/rule_pack.c: what a tile reads as vectors is copied into blocks in the order of use:
 * weights ahead, other tensors as part of the kernel.
 *
 *     @mul = .. B[k, j]    ->    j0, j1, k0, k1, j2 => @B_packed = ..    before everything else  */
#include <string.h>

#include "sketch/sketch_int.h"

static at_status pack(sketch_state *s, const sketch_tile *tile, const at_access *x, at_error *err) {
    const at_tensor *from = &s->facts->compute->tensors[x->tensor];
    const char *name = sketch_fresh(s, at_format(s->arena, "%s_packed", from->name));
    at_edit e = {.kind = AT_EDIT_COPY,
                 .stage = tile->leaf,
                 .other = from->name,
                 .copy = AT_COPY_LAYOUT,
                 .names = {name}};
    AT_TRY(sketch_step(s, &e, err));
    if (from->role == AT_ROLE_WEIGHT) return AT_OK;
    AT_TRY(sketch_mark(s, name, tile->outer, AT_ANN_PARA, err));
    return AT_OK;
}

/* 1: it must be packed, for lanes read it with a stride; 2: it may; 0: it cannot, or is none. */
static int is_worth(const sketch_state *s, const sketch_tile *tile, const at_access *x) {
    const at_tensor *from = &s->facts->compute->tensors[x->tensor];
    int reads = 0;
    for (int i = 0; i < s->facts->of[tile->stage].num_accesses; i++)
        reads += s->facts->of[tile->stage].access[i].tensor == x->tensor;
    if (!x->is_bare || reads > 1 || from->is_int || from->role == AT_ROLE_STAGE ||
        x->stride[tile->vec] == 0)
        return 0;
    return x->stride[tile->vec] != 1 || from->role == AT_ROLE_WEIGHT ? 1 : 2;
}

void sketch_pack(const sketch_state *s, sketch_states *out, at_error *err) {
    sketch_states all = {0};
    *at_push(s->arena, &all) = sketch_branch(s, "");
    for (int i = 0; i < s->tiles.len; i++) {
        const sketch_tile *tile = &s->tiles.data[i];
        const at_stage_facts *f = &s->facts->of[tile->stage];
        for (int k = 0; k < f->num_accesses; k++) {
            int worth = is_worth(s, tile, &f->access[k]);
            for (int b = 0, n = all.len; worth && b < n; b++) {
                const char *tensor = s->facts->compute->tensors[f->access[k].tensor].name;
                sketch_state *packed =
                    sketch_branch(all.data[b], at_format(s->arena, "pack_%s", tensor));
                if (pack(packed, tile, &f->access[k], err) != AT_OK) continue;
                if (worth == 1) all.data[b] = packed;
                else *at_push(s->arena, &all) = packed;
            }
        }
    }
    for (int b = 0; b < all.len; b++) *at_push(s->arena, out) = all.data[b];
}
