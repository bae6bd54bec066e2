/* network/wire.c: fields of the protobuf wire format in bytes that are mapped. Nothing is copied,
 * and nothing beyond the end is read. */
#include "network/network_int.h"

#include <string.h>

bool wire_varint(wire *w, uint64_t *out) {
    uint64_t x = 0;
    for (int shift = 0; shift < 64 && w->at < w->end; shift += 7) {
        const uint8_t byte = *w->at++;
        x |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return *out = x, true;
    }
    return false;
}

static bool fixed(wire *w, int bytes, uint64_t *out) {
    if (w->end - w->at < bytes) return false;
    *out = 0;
    memcpy(out, w->at, (size_t)bytes); /* little-endian, as the machines that we know */
    w->at += bytes;
    return true;
}

static bool bytes_of(wire *w, wire *out) {
    uint64_t n;
    if (!wire_varint(w, &n) || n > (uint64_t)(w->end - w->at)) return false;
    *out = (wire){w->at, w->at + n};
    w->at += n;
    return true;
}

bool wire_next(wire *w, wire_field *f, bool *broken) {
    uint64_t tag;
    if (*broken || w->at >= w->end) return false;
    bool ok = wire_varint(w, &tag) && tag >> 3 && tag >> 3 < 1u << 29;
    if (ok) {
        *f = (wire_field){.number = (int)(tag >> 3), .kind = (wire_kind)(tag & 7)};
        switch (f->kind) {
        case WIRE_VARINT: ok = wire_varint(w, &f->value); break;
        case WIRE_FIXED64: ok = fixed(w, 8, &f->value); break;
        case WIRE_FIXED32: ok = fixed(w, 4, &f->value); break;
        case WIRE_BYTES: ok = bytes_of(w, &f->bytes); break;
        default: ok = false; /* groups are no part of ONNX */
        }
    }
    *broken = !ok;
    return ok;
}

float wire_float(uint64_t bits) {
    const uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, sizeof x);
    return x;
}
