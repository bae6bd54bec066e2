/* network/net_over.c: an output in the memory of an input that nobody needs any longer. A kernel
 * that reads an input where it makes the output's element, and nowhere else, may write over it: an
 * addend's lines are then at hand when the sum is stored, and the network takes less memory. What a
 * kernel does is not taken from its text alone: it runs both ways, and the outputs must have the
 * same bits. */
#include <stdlib.h>
#include <string.h>

#include "network/net_memory.h"
#include "network/program.h"

/* ---- what the text says ---------------------------------------------------------------------- */

typedef struct reading {
    const at_compute *c;
    const bool *made; /* [tensor] the input, and stages whose elements are made of one of it */
    int stage;
    bool any, elsewhere;
} reading;

static at_walk look(const at_expr *e, void *ctx) {
    reading *r = ctx;
    const at_tensor *t = &r->c->tensors[r->stage];
    if (e->op != AT_X_INDEX || !r->made[e->ref]) return AT_WALK_ON;
    r->any = true;
    r->elsewhere |= t->num_reduce || r->c->tensors[e->ref].is_output ||
                    r->c->tensors[e->ref].num_axes != t->num_axes || !at_net_is_read_there(t, e, 0);
    return AT_WALK_ON;
}

/* Is of input number k nothing made but the output's elements, each of the one in the same place?
 */
static bool is_made_in_place(at_arena *a, const at_compute *c, int k) {
    bool *made = AT_NEW_ARRAY(a, bool, c->num_tensors), ok = true, reaches = false;
    for (int t = 0; t < c->num_tensors; t++) made[t] = c->tensors[t].role != AT_ROLE_STAGE && !k--;
    for (int t = 0; t < c->num_tensors && ok; t++) {
        reading r = {.c = c, .made = made, .stage = t};
        if (c->tensors[t].role != AT_ROLE_STAGE) continue;
        at_expr_walk(c->tensors[t].body, look, &r);
        ok = !r.elsewhere && !(c->tensors[t].is_output && !r.any);
        made[t] = r.any;
        reaches |= r.any && c->tensors[t].is_output;
    }
    return ok && reaches;
}

/* ---- what the kernel does -------------------------------------------------------------------- */

typedef struct trial {
    const at_net_kernel *k;
    const at_net_form *f;
    int64_t bytes[64]; /* of each parameter */
    at_type types[64];
    void *tensors[64];
    char *packed, *scratch;
} trial;

/* Elements of the parameter in memory, as rows have it. */
static int64_t bytes_of(const at_net_form *f, int number, int tensor) {
    const at_tensor *t = &f->candidate.program->compute->tensors[tensor];
    const int64_t *extents = f->candidate.program->extents[tensor];
    int64_t elements = 1;
    for (int i = 0; i < t->num_axes; i++)
        elements *=
            i == t->num_axes - 1 && f->rows && f->rows[number] ? f->rows[number] : extents[i];
    return elements * at_type_bytes(t->type);
}

/* Numbers about 1, none like its neighbours; the same in each tensor, so that what lies between
 * rows is the same wherever a kernel writes. */
static void fill(void *at, int64_t bytes, at_type type) {
    for (int64_t i = 0; type == AT_F32 && i < bytes / 4; i++)
        ((float *)at)[i] = 0.5F + (float)(i * 7919 % 1009) / 1024;
    for (int64_t i = 0; type != AT_F32 && i < bytes; i++)
        ((unsigned char *)at)[i] = (unsigned char)(i * 31 % 61);
}

/* Inputs as the text has them, then the output. */
static void find_sizes(trial *x) {
    const at_compute *c = x->f->candidate.program->compute;
    for (int side = 0, i = 0; side < 2; side++)
        for (int t = 0; t < c->num_tensors; t++) {
            const at_tensor *of = &c->tensors[t];
            if (side ? of->role != AT_ROLE_STAGE || !of->is_output : of->role == AT_ROLE_STAGE)
                continue;
            x->bytes[i] = bytes_of(x->f, i, t);
            x->types[i++] = of->type;
        }
}

static void begin(trial *x) {
    x->packed = at_net_room(x->f->packed_bytes);
    x->scratch = at_net_room(x->f->scratch_bytes);
    memset(x->packed, 0, (size_t)x->f->packed_bytes);
    for (int i = 0; i < x->k->part->num_params; i++) {
        x->tensors[i] = at_net_room(x->bytes[i]);
        fill(x->tensors[i], x->bytes[i], x->types[i]);
    }
    if (x->f->pack) x->f->pack(x->tensors, x->packed);
}

static void end(trial *x) {
    for (int i = 0; i < x->k->part->num_params; i++) free(x->tensors[i]);
    free(x->packed);
    free(x->scratch);
}

/* Does the output have the same bits where the input was? All else is as in begin. */
static bool may_be_written_over(trial *x, int input) {
    const int out = x->k->part->num_params - 1;
    void *tensors[64], *over = at_net_room(x->bytes[out]);
    memcpy(tensors, x->tensors, sizeof tensors);
    memcpy(over, x->tensors[input], (size_t)x->bytes[out]);
    tensors[input] = tensors[out] = over;
    x->f->fast(tensors, x->packed, x->scratch);
    const bool same = !memcmp(over, x->tensors[out], (size_t)x->bytes[out]);
    free(over);
    return same;
}

/* Those of the inputs whose memory is as large as the output's that do not change it there. */
static uint64_t try_each(trial *x, uint64_t inputs) {
    const int out = x->k->part->num_params - 1;
    uint64_t found = 0;
    begin(x);
    x->f->fast(x->tensors, x->packed, x->scratch);
    for (int i = 0; i < out; i++)
        if (inputs >> i & 1 && may_be_written_over(x, i)) found |= UINT64_C(1) << i;
    end(x);
    return found;
}

uint64_t at_net_find_overwritten(const at_net_kernel *k, const at_net_form *f, bool by_text) {
    const at_net_part *part = k->part;
    const at_compute *c = at_task_compute(k->chosen.task);
    const int out = part->num_params - 1;
    uint64_t said = 0;
    if (f->is_late || out >= 64 || out < 1 || part->params[out].role != AT_ROLE_STAGE) return 0;
    for (int i = 0; i < out; i++) {
        if (part->params[i].role == AT_ROLE_STAGE || part->params[i].role == AT_ROLE_INDEX)
            return 0; /* several outputs; entries of any number */
        if (part->params[i].role == AT_ROLE_INPUT && is_made_in_place(f->session.arena, c, i))
            said |= UINT64_C(1) << i;
    }
    if (!said) return 0;
    trial x = {.k = k, .f = f};
    find_sizes(&x);
    for (int i = 0; i < out; i++)
        if (x.bytes[i] != x.bytes[out]) said &= ~(UINT64_C(1) << i);
    return said && !by_text ? try_each(&x, said) : said;
}

/* ---- the network ----------------------------------------------------------------------------- */

static bool is_constant(const at_net_program *p, const at_net_storage *s) {
    return s->value >= 0 && p->cut.net->values.data[s->value].is_constant;
}

/* Is the argument's memory the network's own, and does all of it end with this step? */
static bool ends_here(const at_net_program *p, const at_net_step *s, int step, int arg) {
    const at_net_storage *x = &p->storages.data[s->args[arg]];
    int times = 0;
    for (int i = 0; i < s->num_args; i++) times += s->args[i] == s->args[arg];
    return times == 1 && x->last == step && x->first < step && !s->offsets[arg] &&
           x->place.where == AT_NET_NOWHERE && !is_constant(p, x);
}

void at_net_write_over(at_net_program *p) {
    for (int i = 0; i < p->steps.len; i++) {
        const at_net_step *s = &p->steps.data[i];
        if (s->kind != AT_NET_CALL || !s->num_args) continue;
        const at_net_form *f = &p->kernels[s->kernel].forms.data[s->form];
        const int out = s->num_args - 1;
        at_net_storage *y = s->args[out] < 0 ? NULL : &p->storages.data[s->args[out]];
        if (!f->overwritten || !y || y->first != i || y->place.where != AT_NET_NOWHERE) continue;
        for (int k = 0; k < out && y->over < 0; k++) {
            if (!(f->overwritten >> k & 1) || s->args[k] < 0 || s->offsets[out]) continue;
            const at_net_storage *x = &p->storages.data[s->args[k]];
            if (x->bytes == y->bytes && ends_here(p, s, i, k)) y->over = s->args[k];
        }
    }
}
