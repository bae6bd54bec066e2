/* network/weights.c: constants as kernels want them, one behind another, equal ones once. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "network/net_memory.h"
#include "network/program.h"

typedef struct blob {
    at_net_program *p;
    char *data;
    int64_t bytes, capacity;
    at_key_map known; /* hashes */
    AT_VEC(int64_t) offsets;
} blob;

static char *reserve(blob *b, int64_t bytes) {
    int64_t need = b->bytes + at_net_rounded(bytes);
    if (need > b->capacity) {
        int64_t capacity = need > 2 * b->capacity ? need : 2 * b->capacity;
        char *data = at_net_room(capacity);
        if (b->bytes) memcpy(data, b->data, (size_t)b->bytes);
        free(b->data);
        b->data = data;
        b->capacity = capacity;
    }
    memset(b->data + b->bytes, 0, (size_t)at_net_rounded(bytes));
    return b->data + b->bytes;
}

/* What was reserved last is filled; where the same is there already, that is its place. */
static int64_t keep(blob *b, int64_t bytes) {
    at_hash h;
    char hex[33];
    at_hash_init(&h);
    at_hash_add(&h, b->data + b->bytes, (size_t)bytes);
    at_hash_hex(&h, hex);
    int known = b->offsets.len, at = at_key_map_add(&b->known, hex);
    if (at < known) return b->offsets.data[at];
    *at_push(b->p->arena, &b->offsets) = b->bytes;
    b->bytes += at_net_rounded(bytes);
    return b->offsets.data[known];
}

/* Subnormal weights, which training leaves where it makes them smaller and smaller, are 0: products
 * with them take a core a hundred times as long, and are nothing beside others. */
static float normal_of(double x) { return fabs(x) < (double)FLT_MIN ? 0 : (float)x; }

/* A constant as kernels have it: float or int, or of its own narrow type as it is. */
static void *elements_of(at_arena *a, const at_net_value *v, bool index) {
    if (!index && v->element != AT_F32)
        return at_copy(a, v->data, (size_t)v->elements * (size_t)at_type_bytes(v->element));
    char *out = at_alloc(a, (size_t)v->elements * 4);
    for (int64_t i = 0; i < v->elements; i++)
        if (index) ((int32_t *)(void *)out)[i] = (int32_t)at_net_element_int(v->type, v->data, i);
        else ((float *)(void *)out)[i] = normal_of(at_net_element(v->type, v->data, i));
    return out;
}

/* [O, I, k, k] as [k, k, I, O]. */
static void *turned(at_arena *a, const at_net_value *v, const float *from) {
    int64_t out = v->dims[0], in = v->dims[1], taps = v->elements / (out * in);
    float *to = at_alloc(a, (size_t)v->elements * sizeof *to);
    for (int64_t o = 0; o < out; o++)
        for (int64_t i = 0; i < in; i++)
            for (int64_t t = 0; t < taps; t++)
                to[(t * in + i) * out + o] = from[(o * in + i) * taps + t];
    return to;
}

static void pack(blob *b, at_net_step *s) {
    const at_net_program *p = b->p;
    const at_net_kernel *k = &p->kernels[s->kernel];
    const at_net_form *f = &k->forms.data[s->form];
    const at_net_part *part = &p->cut.parts[s->part];
    at_arena *a = at_arena_new();
    void **tensors = AT_NEW_ARRAY(a, void *, part->num_params);
    char *to = reserve(b, f->packed_bytes);
    for (int i = 0; i < part->num_params; i++) {
        const at_net_param *x = &part->params[i];
        const at_net_value *v = &p->cut.net->values.data[x->value];
        if (x->role != AT_ROLE_WEIGHT && x->role != AT_ROLE_INDEX) continue;
        tensors[i] = elements_of(a, v, x->role == AT_ROLE_INDEX);
        if (k->way && v->rank == 4) tensors[i] = turned(a, v, tensors[i]);
    }
    f->pack(tensors, to);
    at_arena_free(a);
    s->packed = (at_net_place){AT_NET_WEIGHTS, 0, keep(b, f->packed_bytes)};
}

static int64_t packed_bytes(const at_net_program *p, const at_net_step *s) {
    return p->kernels[s->kernel].forms.data[s->form].packed_bytes;
}

/* How many bytes pack would keep, where content that is equal by chance is told twice. */
static void count(blob *b, const at_net_step *s) {
    const at_net_program *p = b->p;
    const at_net_part *part = &p->cut.parts[s->part];
    at_text key = {0};
    at_text_addf(&key, "%d", s->kernel);
    for (int i = 0; i < part->num_params; i++)
        if (part->params[i].role == AT_ROLE_WEIGHT || part->params[i].role == AT_ROLE_INDEX)
            at_text_addf(&key, " %d", part->params[i].value);
    const int known = b->offsets.len;
    if (at_key_map_add(&b->known, at_text_take(p->arena, &key)) == known) {
        *at_push(p->arena, &b->offsets) = b->bytes;
        b->bytes += at_net_rounded(packed_bytes(p, s));
    }
}

/* Constants that steps read as they are. */
static void add_constants(blob *b) {
    at_net_program *p = b->p;
    for (int i = 0; i < p->storages.len; i++) {
        at_net_storage *s = &p->storages.data[i];
        if (s->value < 0 || s->first < 0 || !p->cut.net->values.data[s->value].is_constant)
            continue;
        const at_net_value *v = &p->cut.net->values.data[s->value];
        if (p->without_weights) {
            b->bytes += at_net_rounded(s->bytes);
            continue;
        }
        char *to = reserve(b, s->bytes);
        for (int64_t e = 0; e < s->elements; e++)
            if (s->type == v->type) memcpy(to, v->data, (size_t)s->bytes), e = s->elements;
            else at_net_store(s->type, to, e, at_net_element(v->type, v->data, e));
        s->place = (at_net_place){AT_NET_WEIGHTS, 0, keep(b, s->bytes)};
    }
}

at_status at_net_pack_weights(at_net_program *p, at_error *err) {
    blob b = {.p = p, .known.arena = p->arena};
    (void)err;
    for (int i = 0; i < p->steps.len; i++) {
        at_net_step *s = &p->steps.data[i];
        if (s->kind != AT_NET_CALL || !packed_bytes(p, s)) continue;
        if (p->without_weights) count(&b, s);
        else pack(&b, s);
    }
    add_constants(&b);
    p->weights = b.data;
    p->weights_bytes = b.bytes;
    return AT_OK;
}
