/* runtime/npy.c: NumPy's files of one array, as its documentation of the format (numpy.lib.format)
 * has them: "\x93NUMPY", a version, the length of a header, the header, which is a Python
 * dictionary, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, and the elements. */
#include "runtime/runtime_int.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- the dictionary -------------------------------------------------------------------------- */

typedef struct cursor {
    const char *p, *end;
} cursor;

static void skip_blanks(cursor *c) {
    while (c->p < c->end && isspace((unsigned char)*c->p)) c->p++;
}

static bool take(cursor *c, const char *word) {
    size_t n = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0) return false;
    c->p += n;
    return true;
}

static bool take_string(cursor *c, char *out, size_t size) {
    skip_blanks(c);
    if (c->p == c->end || (*c->p != '\'' && *c->p != '"')) return false;
    char quote = *c->p++;
    size_t n = 0;
    while (c->p + n < c->end && c->p[n] != quote) n++;
    if (c->p + n == c->end || n >= size) return false;
    memcpy(out, c->p, n);
    out[n] = 0;
    c->p += n + 1;
    return true;
}

static bool take_bool(cursor *c, bool *out) {
    *out = take(c, "True");
    return *out || take(c, "False");
}

static bool take_shape(cursor *c, at_npy *out) {
    if (!take(c, "(")) return false;
    while (!take(c, ")")) {
        int64_t n = 0;
        skip_blanks(c);
        if (c->p == c->end || !isdigit((unsigned char)*c->p)) return false;
        for (; c->p < c->end && isdigit((unsigned char)*c->p); c->p++)
            if (!at_mul64(n, 10, &n) || __builtin_add_overflow(n, *c->p - '0', &n)) return false;
        take(c, "L"); /* of Python 2 */
        if (out->num_dims == AT_INPUT_DIMS) return false;
        out->dims[out->num_dims++] = n;
        if (!take(c, ",")) return take(c, ")");
    }
    return true;
}

static bool take_header(cursor *c, at_npy *out) {
    bool descr = false, order = false, shape = false;
    char key[32];
    if (!take(c, "{")) return false;
    while (!take(c, "}")) {
        if (!take_string(c, key, sizeof key) || !take(c, ":")) return false;
        if (!strcmp(key, "descr")) descr = take_string(c, out->descr, sizeof out->descr);
        else if (!strcmp(key, "fortran_order")) order = take_bool(c, &out->fortran);
        else if (!strcmp(key, "shape") && !shape) shape = take_shape(c, out);
        else return false;
        if (!take(c, ",") && (skip_blanks(c), c->p == c->end || *c->p != '}')) return false;
    }
    return descr && order && shape;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Bytes of an element: '<f4', '|S3', '<U3'; 0 where the type has no fixed size or has fields. */
static int64_t item_bytes(const char *descr) {
    int64_t n = 0;
    if (!descr[0] || !strchr("<>|=", descr[0]) || !descr[1] || !strchr("biufcSU", descr[1]))
        return 0;
    for (const char *p = descr + 2; *p; p++) {
        if (!isdigit((unsigned char)*p) || n > 1 << 20) return 0;
        n = 10 * n + (*p - '0');
    }
    return descr[1] == 'U' ? 4 * n : n;
}

static at_status find_header(const char *what, const char *bytes, size_t len, cursor *header,
                             at_error *err) {
    const uint8_t *b = (const uint8_t *)bytes;
    if (len < 6 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return at_fail(err, AT_E_INPUT, "%s: no NumPy array: it does not begin with \\x93NUMPY",
                       what);
    size_t start = len > 6 && b[6] > 1 ? 12 : 10, n;
    if (len < start) return at_fail(err, AT_E_INPUT, "%s: truncated: the header is cut off", what);
    if (b[6] < 1 || b[6] > 3)
        return at_fail(err, AT_E_INPUT, "%s: version %d of the format; 1 to 3 are read", what,
                       b[6]);
    n = (size_t)b[8] | (size_t)b[9] << 8;
    if (start == 12) n |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (n > len - start)
        return at_fail(err, AT_E_INPUT, "%s: truncated: the header is cut off", what);
    *header = (cursor){bytes + start, bytes + start + n};
    return AT_OK;
}

at_status at_npy_open(const char *what, const char *bytes, size_t len, at_npy *out, at_error *err) {
    cursor header = {0};
    int64_t total;
    *out = (at_npy){.what = what, .count = 1};
    AT_TRY(find_header(what, bytes, len, &header, err));
    cursor c = header;
    if (!take_header(&c, out)) {
        const char *end = header.end;
        while (end > header.p && isspace((unsigned char)end[-1])) end--;
        return at_fail(err, AT_E_INPUT,
                       "%s: header \"%.*s\"; expected a descr without fields, fortran_order and a "
                       "shape of at most %d axes",
                       what, (int)(end - header.p < 200 ? end - header.p : 200), header.p,
                       AT_INPUT_DIMS);
    }
    for (int i = 0; i < out->num_dims; i++)
        if (!at_mul64(out->count, out->dims[i], &out->count))
            return at_fail(err, AT_E_INPUT, "%s: its shape exceeds 2^63 elements", what);
    int64_t there = bytes + len - header.end;
    out->item_bytes = item_bytes(out->descr);
    if (!out->item_bytes)
        return at_fail(err, AT_E_INPUT, "%s: dtype '%s' is not read", what, out->descr);
    if (!at_mul64(out->count, out->item_bytes, &total) || total > there)
        return at_fail(err, AT_E_INPUT, "%s: truncated: %lld elements of '%s', but %lld bytes",
                       what, (long long)out->count, out->descr, (long long)there);
    if (total < there)
        return at_fail(err, AT_E_INPUT, "%s: %lld bytes behind the array", what,
                       (long long)(there - total));
    if (out->descr[0] == '>')
        return at_fail(err, AT_E_INPUT,
                       "%s: dtype '%s' is big-endian; x.astype('<%s') makes it little-endian", what,
                       out->descr, out->descr + 1);
    if (out->fortran && out->num_dims > 1)
        return at_fail(err, AT_E_INPUT,
                       "%s: in Fortran order; numpy.ascontiguousarray(x) makes it C order", what);
    out->data = header.end;
    return AT_OK;
}

at_status at_npy_floats(at_arena *a, const at_npy *x, const float **out, at_error *err) {
    const bool wide = !strcmp(x->descr + 1, "f8"), half = !strcmp(x->descr + 1, "f2");
    if (!wide && !half && strcmp(x->descr + 1, "f4") != 0)
        return at_fail(err, AT_E_INPUT, "%s: dtype '%s'; float16, float32 and float64 are read",
                       x->what, x->descr);
    /* In place, where elements lie as those of an array do, and are no shorter. */
    const bool is_aligned = !half && (uintptr_t)x->data % sizeof(float) == 0;
    float *values = is_aligned ? (float *)(uintptr_t)x->data : AT_NEW_ARRAY(a, float, x->count);
    for (int64_t i = 0; i < x->count; i++) {
        double d;
        if (half) values[i] = (float)(d = at_type_value(AT_F16, x->data, i));
        else if (wide) memcpy(&d, x->data + 8 * i, 8), values[i] = (float)d;
        else memcpy(&values[i], x->data + 4 * i, 4), d = (double)values[i];
        if (!isfinite(values[i]))
            return at_fail(err, AT_E_INPUT, "%s: element %lld is %g; float32 cannot hold or add it",
                           x->what, (long long)i, d);
    }
    *out = values;
    return AT_OK;
}

/* Of an element in little-endian bytes; truth values are 0 and 1. */
static int64_t integer_at(const at_npy *x, int64_t i) {
    const uint8_t *p = (const uint8_t *)x->data + x->item_bytes * i;
    uint64_t bits = 0;
    for (int64_t k = 0; k < x->item_bytes; k++) bits |= (uint64_t)p[k] << 8 * k;
    const int unused = 64 - 8 * (int)x->item_bytes;
    return x->descr[1] == 'i' ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

at_status at_npy_integers(at_arena *a, const at_npy *x, const int64_t **out, at_error *err) {
    const char kind = x->descr[1];
    const bool is_read =
        ((kind == 'i' || kind == 'u') && x->item_bytes <= 8) || (kind == 'b' && x->item_bytes == 1);
    if (!is_read)
        return at_fail(err, AT_E_INPUT, "%s: dtype '%s'; integers of up to 64 bits are read",
                       x->what, x->descr);
    int64_t *values = AT_NEW_ARRAY(a, int64_t, x->count);
    for (int64_t i = 0; i < x->count; i++) {
        values[i] = integer_at(x, i);
        if (kind == 'u' && values[i] < 0)
            return at_fail(err, AT_E_INPUT, "%s: element %lld is %llu; up to 2^63 - 1 is read",
                           x->what, (long long)i, (unsigned long long)values[i]);
    }
    *out = values;
    return AT_OK;
}

at_status at_input_npy(at_arena *a, const char *what, const char *bytes, size_t len, at_input *out,
                       at_error *err) {
    at_npy x;
    AT_TRY(at_npy_open(what, bytes, len, &x, err));
    *out = (at_input){.num_dims = x.num_dims};
    memcpy(out->dims, x.dims, sizeof x.dims);
    return at_npy_floats(a, &x, &out->values, err);
}
