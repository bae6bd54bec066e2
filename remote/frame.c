/* remote/frame.c: messages as bytes: a head of 16 (a word, version, type, length), then the fields
 * that the table gives the type, in its order. */
#include "remote/frame.h"

#include <string.h>

enum { HEAD_BYTES = 16 };
static const char word[4] = {'a', 't', 'f', 'r'};

typedef enum kind { U32, U64, F64, TEXT } kind;
typedef struct field {
    kind kind;
    size_t offset;
} field;
#define FIELD(kind, member)                                                                        \
    { kind, offsetof(at_frame, member) }
enum { MOST_FIELDS = 24 };

static const struct {
    int count;
    field fields[MOST_FIELDS];
} types[AT_FRAME_END] = {
    [AT_FRAME_HELLO] = {4,
                        {FIELD(TEXT, version), FIELD(TEXT, node), FIELD(TEXT, cpu),
                         FIELD(U32, pid)}},
    [AT_FRAME_TASK] =
        {22, {FIELD(F64, lease_s),        FIELD(TEXT, template_name), FIELD(TEXT, template_hash),
              FIELD(TEXT, template_file), FIELD(TEXT, template_text), FIELD(TEXT, args),
              FIELD(TEXT, sparsity),      FIELD(TEXT, block),         FIELD(TEXT, isa),
              FIELD(U32, compiler),       FIELD(U32, packing),        FIELD(U32, cache),
              FIELD(U32, threads),        FIELD(U32, paranoid),       FIELD(U64, seed),
              FIELD(U64, runs),           FIELD(U64, repeat),         FIELD(F64, min_repeat_ms),
              FIELD(F64, timeout_s),      FIELD(F64, cooldown_s),     FIELD(F64, max_error),
              FIELD(TEXT, version)}},
    [AT_FRAME_READY] = {1, {FIELD(TEXT, records)}},
    [AT_FRAME_REFUSED] = {1, {FIELD(TEXT, text)}},
    [AT_FRAME_TRIAL] = {6,
                        {FIELD(U64, search), FIELD(U32, epoch), FIELD(U64, number),
                         FIELD(U32, attempt), FIELD(TEXT, entity), FIELD(F64, best_s)}},
    [AT_FRAME_RESULT] = {5,
                         {FIELD(U64, search), FIELD(U32, epoch), FIELD(U64, number),
                          FIELD(U32, attempt), FIELD(TEXT, records)}},
    [AT_FRAME_FINAL] = {2, {FIELD(TEXT, records), FIELD(F64, budget_s)}},
    [AT_FRAME_TURNS] = {1, {FIELD(TEXT, text)}},
    [AT_FRAME_TOLD] = {1, {FIELD(TEXT, text)}},
    [AT_FRAME_ALIVE] = {0, {{0}}},
    [AT_FRAME_ASK] = {0, {{0}}},
    [AT_FRAME_STATES] = {1, {FIELD(TEXT, text)}},
    [AT_FRAME_BYE] = {0, {{0}}},
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

static void put_field(at_text *out, const at_frame *f, const field *row) {
    const void *at = (const char *)f + row->offset;
    uint64_t bits;
    switch (row->kind) {
    case U32: put_number(out, *(const uint32_t *)at, 4); break;
    case U64: put_number(out, *(const uint64_t *)at, 8); break;
    case F64:
        memcpy(&bits, at, sizeof bits);
        put_number(out, bits, 8);
        break;
    case TEXT: {
        const char *text = *(const char *const *)at;
        size_t len = text ? strlen(text) : 0;
        put_number(out, len, 4);
        at_text_addn(out, text ? text : "", len);
    }
    }
}

at_status at_frame_put(at_text *out, const at_frame *f, at_error *err) {
    size_t begin = out->len;
    AT_ASSERT(f->type > 0 && f->type < AT_FRAME_END);
    at_text_addn(out, word, sizeof word);
    put_number(out, AT_FRAME_VERSION, 4);
    put_number(out, f->type, 4);
    put_number(out, 0, 4);
    for (int i = 0; i < types[f->type].count; i++) put_field(out, f, &types[f->type].fields[i]);
    size_t len = out->len - begin - HEAD_BYTES;
    if (len > AT_FRAME_MOST_BYTES) {
        out->len = begin;
        return at_fail(err, AT_E_USAGE,
                       "a message of %zu bytes; what is sent to a worker at once may have %d", len,
                       AT_FRAME_MOST_BYTES);
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

static void take_field(at_arena *a, reader *r, at_frame *f, const field *row) {
    void *at = (char *)f + row->offset;
    uint64_t x;
    switch (row->kind) {
    case U32: *(uint32_t *)at = (uint32_t)take_number(r, 4); break;
    case U64: *(uint64_t *)at = take_number(r, 8); break;
    case F64:
        x = take_number(r, 8);
        memcpy(at, &x, sizeof x);
        break;
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
    if (type == 0 || type >= AT_FRAME_END || bytes > AT_FRAME_MOST_BYTES)
        return at_fail(err, AT_E_INPUT, "a message of type %u and %llu bytes", type,
                       (unsigned long long)bytes);
    if (len - HEAD_BYTES < bytes) return AT_OK;
    reader r = {data + HEAD_BYTES, data + HEAD_BYTES + bytes, false};
    *f = (at_frame){.type = type};
    for (int i = 0; i < types[type].count; i++) take_field(a, &r, f, &types[type].fields[i]);
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
