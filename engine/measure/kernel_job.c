/* engine/measure/kernel_job.c: see kernel_job.h. */
#include "engine/measure/kernel_job.h"

static int own(const at_places *where, int tensor) {
    return where->tensor_of && tensor >= 0 ? where->tensor_of[tensor] : tensor;
}

static void add_moves(const at_places *where, int tensor, at_buf *b) {
    const at_moved *m = where->moved;
    b->cover_step = m->step[tensor];
    b->cover_offset = b->cover_step ? m->first[tensor] : where->cover_at[tensor];
    if (b->role == AT_BUF_OUT) return;
    b->moves_offset = m->moves[tensor];
    b->num_moves = m->num[tensor];
}

static at_buf buffer(const at_param *p, const at_places *where) {
    static const at_buf_role roles[] = {
        [AT_PARAM_IN] = AT_BUF_IN, [AT_PARAM_OUT] = AT_BUF_OUT, [AT_PARAM_PACKED] = AT_BUF_PACKED};
    at_buf b = {.name = p->name,
                .role = roles[p->role],
                .type = p->type,
                .offset = -1,
                .size_bytes = p->elements * at_type_bytes(p->type)};
    const int tensor = own(where, p->tensor), before = own(where, p->before - 1);
    if (b.role == AT_BUF_PACKED) return b;
    b.offset = where->at[tensor];
    if (p->before) b.before_offset = where->at[before];
    b.is_fresh = p->before && !p->stays;
    b.stays = p->stays;
    for (int set = 0; set < where->num_others; set++) {
        const int64_t *at = where->other_at[set];
        if (p->before) b.other_before_offset[set] = at[before];
        b.other_offset[set] =
            b.role == AT_BUF_OUT ? where->other_expected[set][tensor] : at[tensor];
    }
    if (where->moved) add_moves(where, tensor, &b);
    return b;
}

at_job at_kernel_code(at_arena *a, const at_kernel *k) {
    at_blob *blobs = AT_NEW_ARRAY(a, at_blob, k->num_tiles);
    for (int i = 0; i < k->num_tiles; i++)
        blobs[i] = (at_blob){k->tiles[i].symbol, k->tiles[i].bytes, k->tiles[i].size_bytes};
    return (at_job){.source = k->source,
                    .blobs = blobs,
                    .num_blobs = k->num_tiles,
                    .entry = k->entry,
                    .pack = k->pack,
                    .turns = k->turns};
}

at_job at_kernel_job(at_arena *a, const at_kernel *k, int threads, const at_places *where) {
    at_buf *bufs = AT_NEW_ARRAY(a, at_buf, k->num_params);
    int64_t *expected = AT_NEW_ARRAY(a, int64_t, k->num_params);
    at_job job = at_kernel_code(a, k);
    int outputs = 0;
    for (int i = 0; i < k->num_params; i++) {
        bufs[i] = buffer(&k->params[i], where);
        if (bufs[i].role == AT_BUF_OUT)
            expected[outputs++] = where->expected[own(where, k->params[i].tensor)];
    }
    job.bufs = bufs;
    job.num_bufs = k->num_params;
    job.expected_offset = expected;
    job.workspace_bytes = k->workspace_bytes + k->workspace_per_thread_bytes * threads;
    job.threads = threads;
    if (where->moved) job.cover_runs = where->moved->runs;
    return job;
}

int at_unwritten_sign(const at_compute *c) {
    bool max = false, min = false;
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        max |= x->num_reduce > 0 && x->reduction == AT_REDUCE_MAX;
        min |= x->num_reduce > 0 && x->reduction == AT_REDUCE_MIN;
    }
    return max - min;
}

at_status at_kernel_load(at_arena *a, const at_kernel *k, const char *source,
                         const char *parallel_for, const char *const *named, int n, void **all,
                         at_resident **out, at_error *err) {
    const at_symbol_fn host[] = {{parallel_for, (at_any_fn *)at_par_for}};
    const at_job code = at_kernel_code(a, k);
    const char **names = AT_NEW_ARRAY(a, const char *, n);
    void **found = AT_NEW_ARRAY(a, void *, n);
    at_unit unit = {.source = source,
                    .functions = host,
                    .num_functions = 1,
                    .blobs = code.blobs,
                    .num_blobs = code.num_blobs,
                    .names = names,
                    .is_written = true};
    for (int i = 0; i < n; i++)
        if (named[i]) names[unit.num_names++] = named[i];
    AT_TRY(at_resident_new(&unit, found, out, err));
    for (int i = 0; i < n; i++) all[i] = named[i] ? *found++ : NULL;
    return AT_OK;
}
