/* engine/task/task_arrays.c: see task_arrays.h. */
#include "engine/task/task_arrays.h"

#include <math.h>
#include <string.h>

#include "foreign/foreign.h"
#include "runtime/runtime.h"

typedef struct reader {
    at_arena *arena;
    const at_task *task;
    const at_compute *c;
    int64_t **extents;
    const float **values;
    const int32_t **indices;
    at_hash hash;
    const char *from; /* who names the file that is read */
    at_error *err;
} reader;

at_status at_check_named_file(const char *from, const char *text, at_error *err) {
    const char *equals = strchr(text, '=');
    if (equals && equals > text && equals[1]) return AT_OK;
    return at_fail(err, AT_E_USAGE, "%s%s: %sNAME=FILE is expected", from, text,
                   !equals          ? ""
                   : equals == text ? "no name before the =; "
                                    : "no file behind the =; ");
}

/* "column=c.npy" */
static at_status find_tensor(const reader *r, const char *text, const char **path, int *tensor) {
    AT_TRY(at_check_named_file(r->from, text, r->err));
    const char *equals = strchr(text, '=');
    const char *name = at_strndup(r->arena, text, (size_t)(equals - text));
    int t = at_compute_find(r->c, name);
    if (t < 0 || r->c->tensors[t].role == AT_ROLE_STAGE)
        return at_fail(r->err, AT_E_USAGE, "%s%s: %s has no input \"%s\"", r->from, text,
                       at_task_row(r->task)->name, name);
    if (r->values[t] || r->indices[t])
        return at_fail(r->err, AT_E_USAGE, "%s%s: a second file for %s", r->from, text, name);
    if (at_task_layout(r->task, t))
        return at_fail(r->err, AT_E_USAGE, "%s%s: %s is stored in blocks", r->from, text, name);
    *path = equals + 1;
    *tensor = t;
    return AT_OK;
}

static at_status take_indices(reader *r, const char *text, int t, const int64_t *entries,
                              int64_t n) {
    int32_t *to = AT_NEW_ARRAY(r->arena, int32_t, n + 1);
    const bool is_packed = at_index_is_packed(r->arena, r->c, t);
    for (int64_t i = 0; i < n; i++) {
        if (entries[i] < (is_packed ? INT32_MIN : 0) || entries[i] > INT32_MAX)
            return at_fail(r->err, AT_E_INPUT,
                           "%s%s: element %lld is %lld; entries are from %s to 2^31 - 1", r->from,
                           text, (long long)i, (long long)entries[i], is_packed ? "-2^31" : "0");
        to[i] = (int32_t)entries[i];
        at_hash_add_number(&r->hash, (uint64_t)to[i]);
    }
    r->indices[t] = to;
    return AT_OK;
}

/* As elements of the tensor's type, which at_dataset_lay_given copies as they are. */
static at_status take_whole(reader *r, const char *text, int t, const int64_t *entries, int64_t n) {
    const at_type_facts *type = at_type_of(r->c->tensors[t].type);
    const bool is_word = type->bytes == 4; /* of which ranges take half */
    const double least = is_word ? -AT_MOST_GIVEN : type->least,
                 most = is_word ? AT_MOST_GIVEN : type->most;
    char *to = at_alloc(r->arena, (size_t)(n * type->bytes) + 1);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = (uint32_t)entries[i];
        if ((double)entries[i] < least || (double)entries[i] > most)
            return at_fail(r->err, AT_E_INPUT,
                           "%s%s: element %lld is %lld; elements of type %s are from %.0f to "
                           "%.0f here",
                           r->from, text, (long long)i, (long long)entries[i], type->name, least,
                           most);
        memcpy(to + i * type->bytes, &bits, (size_t)type->bytes);
        at_hash_add_number(&r->hash, bits);
    }
    r->values[t] = (const float *)(const void *)to;
    return AT_OK;
}

static void take_values(reader *r, int t, const float *values, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        at_hash_add_number(&r->hash, bits);
    }
    r->values[t] = values;
}

/* Integers are the bits of floats of 16 bits, as NumPy has no type for the upper halves of float32;
 * of floats the nearest are taken. Finite ones. */
static at_status take_halves(reader *r, const char *text, int t, const at_input *in,
                             const int64_t *bits, int64_t n) {
    const at_type type = r->c->tensors[t].type;
    uint16_t *to = AT_NEW_ARRAY(r->arena, uint16_t, n + 1);
    for (int64_t i = 0; i < n; i++) {
        if (!bits) at_type_store(type, to, i, in->values[i]);
        else to[i] = (uint16_t)bits[i];
        const double given = bits ? (double)bits[i] : (double)in->values[i];
        if ((bits && bits[i] != to[i]) || !isfinite(at_type_value(type, to, i)))
            return at_fail(r->err, AT_E_INPUT,
                           "%s%s: element %lld is %.9g; %s takes finite floats of its range, "
                           "or the bits of such as uint16",
                           r->from, text, (long long)i, given, at_type_of(type)->name);
        at_hash_add_number(&r->hash, to[i]);
    }
    r->values[t] = (const float *)(const void *)to;
    return AT_OK;
}

static at_status check_shape(const reader *r, const char *text, int t, const at_input *in,
                             int64_t *n) {
    const at_tensor *x = &r->c->tensors[t];
    const bool is_number = !in->sparse && !in->num_dims; /* an array whose sizes are 1 */
    bool fits = is_number || (!in->sparse && in->num_dims == x->num_axes);
    *n = 1;
    for (int i = 0; fits && i < x->num_axes; i++) {
        fits = (is_number ? 1 : in->dims[i]) == r->extents[t][i];
        *n *= r->extents[t][i];
    }
    if (fits) return AT_OK;
    return at_fail(r->err, AT_E_USAGE, "%s%s: %s with %s is an array of %s, the file holds %s%s",
                   r->from, text, x->name, at_task_args_text(r->task),
                   at_weight_dims_text(r->arena, r->extents[t], x->num_axes),
                   in->sparse ? "a sparse matrix of " : "",
                   at_weight_dims_text(r->arena, in->dims, in->num_dims));
}

static at_status read_one(reader *r, const char *text) {
    const char *path = NULL;
    const int64_t *entries = NULL;
    at_input in;
    int t = 0;
    int64_t n;
    AT_TRY(find_tensor(r, text, &path, &t));
    const at_tensor *x = &r->c->tensors[t];
    const bool is_whole = at_type_of(x->type)->is_int; /* index tensors are, too */
    const bool has_bits =
        at_type_is_half(x->type) && at_input_integers(r->arena, path, &in, &entries, NULL) == AT_OK;
    at_status s = has_bits   ? AT_OK
                  : is_whole ? at_input_integers(r->arena, path, &in, &entries, r->err)
                             : at_input_read(r->arena, path, &in, r->err);
    const int of_option = *r->from == '-' ? (int)strcspn(text, "=") : 0; /* a head's says it */
    if (s != AT_OK)
        return at_fail_at(r->err, "%s%.*s%s", r->from, of_option, text, of_option ? ": " : "");
    AT_TRY(check_shape(r, text, t, &in, &n));
    at_hash_add_str(&r->hash, x->name);
    if (x->role == AT_ROLE_INDEX) return take_indices(r, text, t, entries, n);
    if (is_whole) return take_whole(r, text, t, entries, n);
    if (at_type_is_half(x->type)) return take_halves(r, text, t, &in, has_bits ? entries : NULL, n);
    take_values(r, t, in.values, n);
    return AT_OK;
}

/* All entries are known, and lead to elements that there are. */
static at_status check_indices(const reader *r, const int64_t *values) {
    const char *given = NULL, *open = NULL;
    at_data *data = AT_NEW_ARRAY(r->arena, at_data, r->c->num_tensors);
    for (int t = 0; t < r->c->num_tensors; t++) {
        if (r->c->tensors[t].role != AT_ROLE_INDEX) continue;
        if (r->indices[t]) given = r->c->tensors[t].name;
        else open = r->c->tensors[t].name;
        data[t].i = (int32_t *)(uintptr_t)r->indices[t];
    }
    if (!given) return AT_OK;
    if (open)
        return at_fail(r->err, AT_E_USAGE,
                       "--array %s: index tensor %s needs a file, too: they go together", given,
                       open);
    if (at_compute_check_reads(r->c, values, data, NULL, r->err) != AT_OK)
        return at_fail_at(r->err, "--array: ");
    return AT_OK;
}

bool at_array_is_of(const char *array, const char *name) {
    const size_t n = strlen(name);
    return !strncmp(array, name, n) && array[n] == '=';
}

/* And the files that a kernel's head names, but for tensors that have another one. */
static at_status add_head_files(at_arena *a, const at_request *q, const at_task *t, at_request *out,
                                at_error *err) {
    const at_foreign *f = at_foreign_of(t);
    *out = *q;
    for (int i = 0; f && i < f->num_data; i++) {
        const at_foreign_data *d = &f->data[i];
        bool given = !d->file;
        for (int k = 0; k < q->num_arrays; k++) given |= at_array_is_of(q->arrays[k], d->name);
        if (given) continue;
        if (out->num_arrays == AT_MAX_ARRAYS)
            return at_fail(err, AT_E_INPUT, "%s: more than %d arrays", f->path, AT_MAX_ARRAYS);
        out->arrays[out->num_arrays++] =
            at_format(a, "%s=%s%s%s", d->name, *d->file == '/' ? "" : f->folder,
                      *d->file == '/' ? "" : "/", d->file);
    }
    return AT_OK;
}

at_status at_arrays_read(at_arena *a, const at_request *q, const at_task *t, const at_arrays **out,
                         at_error *err) {
    reader r = {.arena = a, .task = t, .c = at_task_compute(t), .err = err};
    at_config config;
    int64_t *values;
    at_bsr sparse;
    at_request both;
    const int num_given = q->num_arrays;
    *out = NULL;
    AT_TRY(add_head_files(a, q, t, &both, err));
    q = &both;
    if (!q->num_arrays) return AT_OK;
    if (at_task_bsr(t, &sparse))
        return at_fail(err, AT_E_USAGE, "--array: the sparse weight of %s comes by --weight",
                       at_task_row(t)->name);
    AT_TRY(at_task_default_config(a, t, AT_ANY_LANES, &config, err));
    AT_TRY(at_task_values(a, t, &config, &values, err));
    AT_TRY(at_compute_extents(a, r.c, values, &r.extents, err));
    r.values = AT_NEW_ARRAY(a, const float *, r.c->num_tensors);
    r.indices = AT_NEW_ARRAY(a, const int32_t *, r.c->num_tensors);
    at_hash_init(&r.hash);
    for (int i = 0; i < q->num_arrays; i++) {
        const at_foreign *f = i < num_given ? NULL : at_foreign_of(t);
        const int n = (int)strcspn(q->arrays[i], "=");
        r.from = f ? at_format(a, "%s: data %.*s: ", f->path, n, q->arrays[i]) : "--array ";
        AT_TRY(read_one(&r, q->arrays[i]));
    }
    AT_TRY(check_indices(&r, values));
    at_arrays *arrays = AT_NEW(a, at_arrays);
    *arrays = (at_arrays){.values = r.values, .indices = r.indices};
    at_hash_hex(&r.hash, arrays->hash);
    *out = arrays;
    return AT_OK;
}
