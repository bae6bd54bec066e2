/* remote/frame.c: messages as bytes: a head of 16 (a word, version, type, length), then the fields
 * that the table gives the type, in its order. */
#include "remote/frame.h"

#include <string.h>

enum { HEAD_BYTES = 16 };
static const char word[4] = {'a', 't', 'f', 'r'};

typedef enum kind { END, U32, U64, F64, TEXT, FLAG, F64S, BYTES } kind;
typedef struct field {
    kind kind;
    size_t offset, count; /* count: of F64S and BYTES, where their number (an int) is */
} field;
#define FIELD(kind, member)                                                                        \
    { kind, offsetof(at_frame, member), 0 }
#define LIST(member, number)                                                                       \
    { F64S, offsetof(at_frame, member), offsetof(at_frame, number) }
enum { MOST_FIELDS = 40 };
_Static_assert(sizeof(at_check) == 4 && sizeof(at_samples) == 4 && sizeof(int) == 4, "U32");

static const struct {
    field fields[MOST_FIELDS]; /* END behind the last */
} types[AT_FRAME_END] = {
    [AT_FRAME_HELLO] = {{FIELD(TEXT, version), FIELD(TEXT, node), FIELD(TEXT, cpu),
                         FIELD(U32, pid)}},
    [AT_FRAME_TASK] = {{FIELD(F64, lease_s),
                        FIELD(TEXT, template_name),
                        FIELD(TEXT, template_hash),
                        FIELD(TEXT, template_file),
                        FIELD(TEXT, template_text),
                        FIELD(TEXT, template_files),
                        FIELD(TEXT, program),
                        FIELD(TEXT, args),
                        FIELD(TEXT, sparsity),
                        FIELD(TEXT, block),
                        FIELD(TEXT, isa),
                        FIELD(U32, compiler),
                        FIELD(U32, packing),
                        FIELD(U32, cache),
                        FIELD(U64, read_bytes),
                        FIELD(U32, threads),
                        FIELD(U32, paranoid),
                        FIELD(U32, sandbox),
                        FIELD(U64, seed),
                        FIELD(U64, runs),
                        FIELD(U64, repeat),
                        FIELD(F64, min_repeat_ms),
                        FIELD(F64, timeout_s),
                        FIELD(F64, cooldown_s),
                        FIELD(TEXT, version),
                        FIELD(TEXT, second),
                        FIELD(U32, jobs),
                        FIELD(U32, objective_asked),
                        FIELD(F64, prune),
                        FIELD(F64, max_error),
                        FIELD(TEXT, weight_file),
                        FIELD(U64, form.kh),
                        FIELD(U64, form.kw),
                        FIELD(U64, form.ci),
                        FIELD(U64, form.co),
                        FIELD(FLAG, form.outputs_first),
                        {BYTES, offsetof(at_frame, weight), offsetof(at_frame, weight_bytes)}}},
    [AT_FRAME_READY] = {{FIELD(TEXT, records), FIELD(TEXT, anchor), FIELD(TEXT, objective)}},
    [AT_FRAME_REFUSED] = {{FIELD(TEXT, text)}},
    [AT_FRAME_TRIAL] = {{FIELD(U64, search), FIELD(U32, epoch), FIELD(U64, number),
                         FIELD(U32, attempt), FIELD(TEXT, entity), FIELD(F64, best_s)}},
    [AT_FRAME_RESULT] = {{FIELD(U64, search),
                          FIELD(U32, epoch),
                          FIELD(U64, number),
                          FIELD(U32, attempt),
                          FIELD(U64, result.config.index),
                          FIELD(U32, result.error_no),
                          FIELD(F64, result.all_cost_s),
                          FIELD(F64, result.timestamp_s),
                          LIST(result.costs_s, result.num_costs),
                          LIST(result.extra.samples_s, result.extra.num_samples),
                          FIELD(U32, result.extra.number),
                          FIELD(F64, result.extra.min_repeat_ms),
                          FIELD(F64, result.extra.pairs.of_first),
                          FIELD(F64, result.extra.pairs.of_first_error),
                          FIELD(F64, result.extra.pairs.ratio),
                          FIELD(TEXT, result.extra.pairs.states),
                          FIELD(TEXT, result.extra.pairs.first),
                          LIST(result.extra.pairs.ratios, result.extra.pairs.num_ratios),
                          FIELD(FLAG, result.extra.pairs.is_bracketed),
                          FIELD(U32, result.extra.sample_kind),
                          FIELD(F64, result.extra.peak_gflops),
                          FIELD(F64, result.extra.gflops),
                          FIELD(TEXT, result.extra.error),
                          FIELD(FLAG, result.extra.accuracy.is_known),
                          FIELD(F64, result.extra.accuracy.max_error),
                          FIELD(F64, result.extra.accuracy.rms_error),
                          FIELD(U32, result.extra.check),
                          FIELD(TEXT, result.extra.code_hash),
                          FIELD(U64, result.extra.same_as)}},
    [AT_FRAME_FINAL] = {{FIELD(TEXT, records), FIELD(F64, budget_s)}},
    [AT_FRAME_COMPARE] = {{{0}}},
    [AT_FRAME_TURNS] = {{FIELD(TEXT, text)}},
    [AT_FRAME_TOLD] = {{FIELD(TEXT, text)}},
    [AT_FRAME_ALIVE] = {{{0}}},
    [AT_FRAME_ASK] = {{{0}}},
    [AT_FRAME_STATES] = {{FIELD(TEXT, text)}},
    [AT_FRAME_BYE] = {{{0}}},
};

static void put_number(at_text *out, uint64_t x, int bytes) {
    char le[8];
    for (int i = 0; i < bytes; i++) le[i] = (char)(x >> 8 * i);
    at_text_addn(out, le, (size_t)bytes);
}

static uint64_t number_at(const char *p, int bytes) {
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++) x |= (uint64_t)(unsigned char)p[i] << 8 * i;
    return x;
}

static void put_double(at_text *out, const double *x) {
    uint64_t bits;
    memcpy(&bits, x, sizeof bits);
    put_number(out, bits, 8);
}

static void put_field(at_text *out, const at_frame *f, const field *row) {
    const void *at = (const char *)f + row->offset;
    switch (row->kind) {
    case END: break;
    case U32: put_number(out, *(const uint32_t *)at, 4); break;
    case U64: put_number(out, *(const uint64_t *)at, 8); break;
    case F64: put_double(out, at); break;
    case FLAG: put_number(out, *(const bool *)at, 4); break;
    case F64S: {
        int n = *(const int *)((const char *)f + row->count);
        const double *x = *(const double *const *)at;
        put_number(out, (uint64_t)n, 4);
        for (int i = 0; i < n; i++) put_double(out, &x[i]);
        break;
    }
    case BYTES: {
        int n = *(const int *)((const char *)f + row->count);
        put_number(out, (uint64_t)n, 4);
        at_text_addn(out, *(const char *const *)at, (size_t)n);
        break;
    }
    case TEXT: {
        const char *text = *(const char *const *)at;
        size_t len = text ? strlen(text) : 0;
        put_number(out, len, 4);
        at_text_addn(out, text ? text : "", len);
    }
    }
}

static size_t most_bytes(uint32_t type) {
    return type == AT_FRAME_TASK ? AT_FRAME_MOST_TASK_BYTES : AT_FRAME_MOST_BYTES;
}

at_status at_frame_put(at_text *out, const at_frame *f, at_error *err) {
    size_t begin = out->len;
    AT_ASSERT(f->type > 0 && f->type < AT_FRAME_END);
    at_text_addn(out, word, sizeof word);
    put_number(out, AT_FRAME_VERSION, 4);
    put_number(out, f->type, 4);
    put_number(out, 0, 4);
    for (const field *row = types[f->type].fields; row->kind; row++) put_field(out, f, row);
    size_t len = out->len - begin - HEAD_BYTES;
    if (len > most_bytes(f->type)) {
        out->len = begin;
        return at_fail(err, AT_E_USAGE,
                       "a message of %zu bytes; what is sent to a worker at once may have %zu", len,
                       most_bytes(f->type));
    }
    for (int i = 0; i < 4; i++) out->data[begin + 12 + (size_t)i] = (char)(len >> 8 * i);
    return AT_OK;
}

typedef struct reader {
    const char *at, *end;
    bool bad;
} reader;

static const char *take(reader *r, size_t bytes) {
    const char *p = r->at;
    if (r->bad || bytes > (size_t)(r->end - r->at)) return r->bad = true, NULL;
    r->at += bytes;
    return p;
}

static uint64_t take_number(reader *r, int bytes) {
    const char *p = take(r, (size_t)bytes);
    return p ? number_at(p, bytes) : 0;
}

static double take_double(reader *r) {
    uint64_t x = take_number(r, 8);
    double out;
    memcpy(&out, &x, sizeof out);
    return out;
}

static void take_list(at_arena *a, reader *r, const double **out, int *count) {
    size_t n = take_number(r, 4), left = (size_t)(r->end - r->at) / 8;
    if (r->bad || n > left) {
        r->bad = true;
        return;
    }
    double *x = AT_NEW_ARRAY(a, double, n);
    for (size_t i = 0; i < n; i++) x[i] = take_double(r);
    *out = x;
    *count = (int)n;
}

static void take_field(at_arena *a, reader *r, at_frame *f, const field *row) {
    void *at = (char *)f + row->offset;
    uint64_t x;
    switch (row->kind) {
    case END: break;
    case U32: *(uint32_t *)at = (uint32_t)take_number(r, 4); break;
    case U64: *(uint64_t *)at = take_number(r, 8); break;
    case F64: *(double *)at = take_double(r); break;
    case FLAG:
        x = take_number(r, 4);
        r->bad |= x > 1;
        *(bool *)at = x == 1;
        break;
    case F64S: take_list(a, r, at, (int *)((char *)f + row->count)); break;
    case BYTES: {
        size_t len = take_number(r, 4);
        const char *p = take(r, len);
        *(const char **)at = p ? at_copy(a, p, len) : "";
        *(int *)((char *)f + row->count) = p ? (int)len : 0;
        break;
    }
    case TEXT: {
        size_t len = take_number(r, 4);
        const char *p = take(r, len);
        if (p && memchr(p, 0, len)) r->bad = true;
        *(const char **)at = r->bad ? "" : at_strndup(a, p, len);
    }
    }
}

at_status at_frame_get(at_arena *a, const char *data, size_t len, size_t *taken, at_frame *f,
                       at_error *err) {
    *taken = 0;
    size_t seen = len < sizeof word ? len : sizeof word;
    if (memcmp(data, word, seen) != 0) return at_fail(err, AT_E_INPUT, "what came is no message");
    if (len < HEAD_BYTES) return AT_OK;
    uint32_t version = (uint32_t)number_at(data + 4, 4), type = (uint32_t)number_at(data + 8, 4);
    uint64_t bytes = number_at(data + 12, 4);
    if (version != AT_FRAME_VERSION)
        return at_fail(err, AT_E_INPUT, "messages of version %u; this program's are of version %d",
                       version, AT_FRAME_VERSION);
    if (type == 0 || type >= AT_FRAME_END || bytes > most_bytes(type))
        return at_fail(err, AT_E_INPUT, "a message of type %u and %llu bytes", type,
                       (unsigned long long)bytes);
    if (len - HEAD_BYTES < bytes) return AT_OK;
    reader r = {data + HEAD_BYTES, data + HEAD_BYTES + bytes, false};
    *f = (at_frame){.type = type};
    for (const field *row = types[type].fields; row->kind; row++) take_field(a, &r, f, row);
    if (r.bad || r.at != r.end)
        return at_fail(err, AT_E_INPUT, "a message of type %u that is not whole", type);
    *taken = HEAD_BYTES + (size_t)bytes;
    return AT_OK;
}

at_status at_frame_greeting(const char *data, size_t len, size_t *taken, at_error *err) {
    static const char line[] = AT_FRAME_MAGIC "\n";
    *taken = 0;
    const char *found = memmem(data, len, line, sizeof line - 1);
    if (found && (size_t)(found - data) <= AT_FRAME_MOST_GREETING)
        *taken = (size_t)(found - data) + sizeof line - 1;
    else if (len > AT_FRAME_MOST_GREETING + sizeof line)
        return at_fail(err, AT_E_INPUT, "no agent speaks there: %d bytes came, but not its line",
                       AT_FRAME_MOST_GREETING);
    return AT_OK;
}
