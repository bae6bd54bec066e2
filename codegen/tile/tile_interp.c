/* codegen/tile/tile_interp.c: executes a tile program as written, so that a fault is found before
 * any byte is made. */
#include "codegen/tile/tile.h"
#include "codegen/tile/tile_zip.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MAX_LANES 16
#define MAX_REGS 64
#define MAX_NEST 32

static float multiply_add(const at_tile *t, float a, float b, float c) {
    return t->target->fused ? fmaf(a, b, c) : a * b + c;
}

static uint32_t byte_of(uint32_t x, int at, bool has_sign) {
    return has_sign ? (uint32_t)(int8_t)(x >> at) : x >> at & 255;
}

/* Numbers as dot products of floats take and make them: what is denormal is 0. */
static float normal(float x) { return fabsf(x) < FLT_MIN ? copysignf(0, x) : x; }

static float add_product(float sum, uint32_t a, uint32_t b) {
    return normal(fmaf(normal(at_of_bits(a)), normal(at_of_bits(b)), sum));
}

/* d and the products of the elements of a lane. */
static uint32_t dot(int signs, uint32_t d, uint32_t a, uint32_t b) {
    if (signs == AT_DOT_BF16) {
        const float second = add_product(normal(at_of_bits(d)), a & 0xffff0000, b & 0xffff0000);
        return at_bits_of(add_product(second, a << 16, b << 16));
    }
    if (signs == AT_DOT_S16)
        return d + (uint32_t)((int16_t)a * (int16_t)b) +
               (uint32_t)((int16_t)(a >> 16) * (int16_t)(b >> 16));
    const bool a_sign = signs == AT_DOT_SS || signs == AT_DOT_SU,
               b_sign = signs == AT_DOT_SS || signs == AT_DOT_US;
    uint32_t sum = d;
    for (int i = 0; i < 32; i += 8) sum += byte_of(a, i, a_sign) * byte_of(b, i, b_sign);
    return sum;
}

/* One of 8 or 16 bits. */
static uint32_t narrow(const at_tile_op *op, uint32_t d, uint32_t x, uint32_t y) {
    const int up = 32 - op->bits;
    const int64_t a = op->no_sign ? (int64_t)(x << up >> up) : (int32_t)(x << up) >> up,
                  b = op->no_sign ? (int64_t)(y << up >> up) : (int32_t)(y << up) >> up;
    switch (op->kind) {
    case AT_T_INT_ADD: return x + y;
    case AT_T_INT_SUB: return x - y;
    case AT_T_INT_MUL: return x * y;
    case AT_T_INT_MIN: return a < b ? x : y;
    case AT_T_INT_MAX: return a > b ? x : y;
    case AT_T_SHIFT_LEFT: return x << op->by;
    case AT_T_SHIFT_RIGHT: return (uint32_t)(a >> op->by);
    case AT_T_LESS: return a < b ? UINT32_MAX : 0;
    default: return (x & y) | (~x & d);
    }
}

static uint32_t narrow_lane(const at_tile_op *op, uint32_t d, uint32_t x, uint32_t y) {
    uint32_t all = 0;
    for (int i = 0; i < 32; i += op->bits)
        all |= (narrow(op, d >> i, x >> i, y >> i) & (UINT32_MAX >> (32 - op->bits))) << i;
    return all;
}

float at_tile_lane(const at_tile *t, const at_tile_op *op, float d, float a, float b) {
    if (op->bits) return at_of_bits(narrow_lane(op, at_bits_of(d), at_bits_of(a), at_bits_of(b)));
    switch (op->kind) {
    case AT_T_FMA: return multiply_add(t, a, b, d);
    case AT_T_FNMA: return multiply_add(t, -a, b, d);
    case AT_T_FMS: return multiply_add(t, a, b, -d);
    case AT_T_MUL_ADD: return multiply_add(t, d, a, b);
    case AT_T_SCALE:
        if (isnan(b) || b == INFINITY) return b; /* infinite also of what is not a number */
        return b < op->number ? 0 : ldexpf(a, b > 1000 ? 1000 : (int)b);
    case AT_T_AND: return at_of_bits(at_bits_of(a) & at_bits_of(b));
    case AT_T_OR: return at_of_bits(at_bits_of(a) | at_bits_of(b));
    case AT_T_INT_ADD: return at_of_bits(at_bits_of(a) + at_bits_of(b));
    case AT_T_INT_SUB: return at_of_bits(at_bits_of(a) - at_bits_of(b));
    case AT_T_INT_MUL: return at_of_bits(at_bits_of(a) * at_bits_of(b));
    case AT_T_INT_MIN:
        return at_of_bits((int32_t)at_bits_of(a) < (int32_t)at_bits_of(b) ? at_bits_of(a)
                                                                          : at_bits_of(b));
    case AT_T_INT_MAX:
        return at_of_bits((int32_t)at_bits_of(a) > (int32_t)at_bits_of(b) ? at_bits_of(a)
                                                                          : at_bits_of(b));
    case AT_T_DOT: return at_of_bits(dot(op->by, at_bits_of(d), at_bits_of(a), at_bits_of(b)));
    case AT_T_TO_INT: return at_of_bits((uint32_t)(int32_t)nearbyintf(a));
    case AT_T_LESS: return at_of_bits(a < b ? UINT32_MAX : 0);
    case AT_T_AT_MOST: return at_of_bits(a <= b ? UINT32_MAX : 0);
    case AT_T_EQUAL: return at_of_bits(a == b ? UINT32_MAX : 0);
    case AT_T_BLEND: return at_bits_of(a) ? b : d;
    case AT_T_SQRT: return sqrtf(a);
    case AT_T_SHIFT_LEFT: return at_of_bits(at_bits_of(a) << op->by);
    case AT_T_SHIFT_RIGHT: return at_of_bits((uint32_t)((int32_t)at_bits_of(a) >> op->by));
    case AT_T_TO_FLOAT: return (float)(int32_t)at_bits_of(a);
    case AT_T_ADD: return a + b;
    case AT_T_SUB: return a - b;
    case AT_T_MUL: return a * b;
    case AT_T_DIV: return a / b;
    case AT_T_MIN: return a < b ? a : b;
    default: return a > b ? a : b;
    }
}

/* Integers of two registers, cut to half their bits. */
static void cut_two(const at_tile *t, const at_tile_op *op, float *d, const float *a,
                    const float *b) {
    enum { BLOCK = 16 }; /* bytes */
    const at_type type = (at_type)op->by, from = type == AT_S16 ? AT_S32 : AT_S16;
    const at_type_facts *of = at_type_of(type);
    const int n = BLOCK / (int)at_type_bytes(from);
    for (int i = 0; i < t->lanes / 4 * 2 * n; i++) {
        const int block = i / (2 * n), within = i % (2 * n);
        const double x = at_type_value(from, within < n ? a : b, block * n + within % n);
        const int cut = (int)fmin(fmax(x, of->least), of->most);
        at_type_store(type, d, i, at_of_bits((uint32_t)cut));
    }
}

/* What puts elements of two registers together. */
static void zip(const at_tile_op *op, char *d, const char *a, const char *b) {
    const int bytes = at_tile_zip_bytes(op);
    for (int i = 0; i < 4 * op->lanes / bytes; i++)
        memcpy(d + (ptrdiff_t)i * bytes,
               (i % 2 ? b : a) + (ptrdiff_t)at_tile_zip_from(op, i) * bytes, (size_t)bytes);
}

/* Whole lanes of a register or of two. */
static void shuffle(const at_tile *t, const at_tile_op *op, float reg[][MAX_LANES]) {
    const float *a = reg[op->a], *second = reg[at_tile_shuffled_second(op)];
    float made[MAX_LANES];
    for (int i = 0; i < t->lanes; i++) {
        const int from = at_tile_shuffled_from(op, t->lanes, i);
        made[i] = from < t->lanes ? a[from] : second[from - t->lanes];
    }
    memcpy(reg[op->dst], made, sizeof *made * (size_t)t->lanes);
}

/* A step of a tile whose registers hold doubles. m: its memory. */
static void step_in_double(const at_tile *t, const at_tile_op *op, double (*reg)[MAX_LANES],
                           float *m) {
    double *d = op->dst >= 0 ? reg[op->dst] : NULL;
    for (int j = 0; j < t->lanes; j++) {
        double a = op->a >= 0 ? reg[op->a][j] : 0;
        double b = op->mem == AT_MEM_CONST ? op->number : op->b >= 0 ? reg[op->b][j] : 0;
        switch (op->kind) {
        case AT_T_CONST: d[j] = op->number; break;
        case AT_T_LOAD: d[j] = j < op->lanes ? (double)m[j] : 0; break;
        case AT_T_BCAST: d[j] = (double)*m; break;
        case AT_T_STORE:
            if (j < op->lanes) m[j] = (float)a;
            break;
        case AT_T_MOV: d[j] = a; break;
        case AT_T_FMA: d[j] = t->target->fused ? fma(a, b, d[j]) : a * b + d[j]; break;
        case AT_T_FNMA: d[j] = t->target->fused ? fma(-a, b, d[j]) : d[j] - a * b; break;
        case AT_T_FMS: d[j] = t->target->fused ? fma(a, b, -d[j]) : a * b - d[j]; break;
        case AT_T_ADD: d[j] = a + b; break;
        case AT_T_SUB: d[j] = a - b; break;
        case AT_T_MUL: d[j] = a * b; break;
        case AT_T_DIV: d[j] = a / b; break;
        case AT_T_MIN: d[j] = a < b ? a : b; break;
        case AT_T_MAX: d[j] = a > b ? a : b; break;
        default: AT_BUG("tile operation %d is none of doubles", op->kind);
        }
    }
}

const at_tile_op *at_tile_first_miss(const at_tile *t, const at_tile_op *op) {
    for (int i = 0; i < t->num_ops; i++)
        if (t->ops[i].kind == AT_T_INDEX && t->ops[i].may_miss &&
            at_tile_bits(&t->ops[i]) == at_tile_bits(op) &&
            t->slot_type[t->ops[i].base] == t->slot_type[op->base])
            return &t->ops[i];
    return op;
}

int at_tile_loop_end(const at_tile *t, int i) {
    int depth = 0;
    do {
        depth += (t->ops[i].kind == AT_T_LOOP) - (t->ops[i].kind == AT_T_END);
        i++;
    } while (depth);
    return i;
}

/* The bits of a register's lane: element i from there, or as many as 32 bits hold. */
static float get(const at_tile *t, const at_tile_op *op, const char *m, int64_t i) {
    const at_type type = t->slot_type[op->slot];
    uint32_t bits;
    if (at_type_is_half(type) && !op->packed) return (float)at_type_value(type, m, i);
    if (!at_tile_is_wide(t, op)) return at_of_bits((uint32_t)(int32_t)at_type_value(type, m, i));
    memcpy(&bits, m + 4 * i, sizeof bits);
    return at_of_bits(bits);
}

static void put(const at_tile *t, const at_tile_op *op, char *m, int64_t i, float x) {
    const uint32_t bits = at_bits_of(x);
    if (op->packed) {
        memcpy(m + (int64_t)sizeof bits * i, &bits, sizeof bits);
        return;
    }
    if (at_type_is_half(t->slot_type[op->slot])) {
        at_type_store(t->slot_type[op->slot], m, i, x);
        return;
    }
    const size_t bytes = (size_t)at_type_bytes(t->slot_type[op->slot]);
    memcpy(m + (int64_t)bytes * i, &bits, bytes); /* the lowest come first */
}

/* Terms join what lies where they belong. list: integers that say it; m: the first place. */
static void interpret_scatter(const at_tile *t, const at_tile_op *op, float reg[][MAX_LANES],
                              const char *list, char *m) {
    const at_tile_op join = at_tile_scatter_join(op, 0, 1, 2);
    for (int j = 0; j < op->lanes; j++) {
        const int lane = op->cyclic ? 0 : j;
        const double place = op->a < 0
                                 ? at_type_value(t->slot_type[op->base], list, op->trip + lane)
                                 : (double)reg[op->a][lane];
        if (!(place >= 0 && place <= op->most)) continue;
        const int64_t at = (int64_t)place * op->bump + (op->cyclic ? j : (int64_t)op->times * j);
        const float found = get(t, op, m, at), term = reg[op->b][j];
        put(t, op, m, at,
            at_tile_lane(t, &join, 0, join.a == 1 ? found : term, join.b == 1 ? found : term));
    }
}

/* ---- floats of 16 bits, two to a lane -------------------------------------------------------- */

static float half_of(const float lanes[MAX_LANES], int i) {
    return (float)at_type_value(AT_F16, lanes, i);
}

static void load_halves(const at_tile_op *op, float into[MAX_LANES], const char *m, int lanes) {
    const size_t bytes = 2;
    memset(into, 0, sizeof *into * MAX_LANES);
    for (int i = 0; i < (op->kind == AT_T_BCAST ? 2 * lanes : op->lanes); i++)
        memcpy((char *)into + bytes * (size_t)i, op->kind == AT_T_BCAST ? m : m + bytes * (size_t)i,
               bytes);
}

static void add_halves(const at_tile *t, const at_tile_op *op, float reg[][MAX_LANES]) {
    const int from = op->upper ? t->lanes : 0;
    for (int i = 0; i < t->lanes; i++)
        reg[op->dst][i] =
            at_tile_lane(t, op, reg[op->dst][i], half_of(reg[op->a], from + i),
                         half_of(reg[op->b], op->element ? op->element - 1 : from + i));
}

/* Where lane j of a load or a store lies. */
static char *lane_at(const at_tile *t, const at_tile_op *op, char *m, int j) {
    const int64_t element = at_type_bytes(t->slot_type[op->slot]),
                  lane = at_tile_is_wide(t, op) ? (int64_t)sizeof(float) : element;
    if (op->fours) return m + j / 4 * op->fours * element + j % 4 * lane;
    return m + lane * (op->times ? at_tile_lane_from(op, j) : j);
}

static void load(const at_tile *t, const at_tile_op *op, float *d, char *m) {
    float lanes[MAX_LANES] = {0};
    for (int j = 0; j < op->lanes; j++) lanes[j] = get(t, op, lane_at(t, op, m, j), 0);
    const bool is_spread = op->by && !op->times;
    for (int j = 0; j < MAX_LANES; j++)
        d[j] = lanes[is_spread && j < t->lanes ? at_tile_spread_from(op, j) : j];
}

/* The second operand of arithmetic. */
static void second_operand(const at_tile *t, const at_tile_op *op, float reg[][MAX_LANES],
                           const char *m, float *b) {
    for (int j = 0; j < t->lanes; j++) switch (op->mem) {
        case AT_MEM_VECTOR: b[j] = j < op->lanes ? get(t, op, m, j) : 0; break;
        case AT_MEM_BCAST: b[j] = get(t, op, m, 0); break;
        case AT_MEM_CONST: b[j] = at_of_bits(at_tile_bits(op)); break;
        default: b[j] = op->b < 0 ? 0 : reg[op->b][op->element ? op->element - 1 : j];
        }
}

/* What is done with registers; m: where an operand in memory lies. */
static void interpret_vector(const at_tile *t, const at_tile_op *op, float reg[][MAX_LANES],
                             char *m) {
    float one[MAX_LANES] = {0}, *d = op->dst >= 0 ? reg[op->dst] : NULL;
    if (op->halves && at_tile_is_term(op)) add_halves(t, op, reg);
    else if (op->halves) load_halves(op, d, m, t->lanes);
    if (op->halves) return;
    switch (op->kind) {
    case AT_T_CONST:
        for (int j = 0; j < t->lanes; j++) d[j] = at_of_bits(at_tile_bits(op));
        return;
    case AT_T_LOAD: load(t, op, d, m); return;
    case AT_T_BCAST:
        for (int j = 0; j < t->lanes; j++) d[j] = get(t, op, m, 0);
        return;
    case AT_T_STORE:
        for (int j = 0; j < op->lanes; j++) put(t, op, lane_at(t, op, m, j), 0, reg[op->a][j]);
        return;
    case AT_T_MOV: memcpy(d, reg[op->a], sizeof reg[0]); return;
    case AT_T_GATHER:
        for (int j = 0; j < op->lanes; j++)
            one[j] = get(t, op, m, (int32_t)at_bits_of(reg[op->a][j]));
        break;
    case AT_T_CUT: cut_two(t, op, one, reg[op->a], reg[op->b]); break;
    case AT_T_WEAVE:
        for (int j = 0; j < 4 * t->lanes; j++)
            ((char *)one)[j] = ((const char *)reg[op->a])[j % 4 * t->lanes + j / 4];
        break;
    case AT_T_SWAP:
    case AT_T_QUARTERS:
    case AT_T_FIRST:
    case AT_T_FOURS:
    case AT_T_HALVES:
    case AT_T_MERGE: shuffle(t, op, reg); return;
    case AT_T_ZIP_LOW:
    case AT_T_ZIP_HIGH:
    case AT_T_ZIP_LOW2:
    case AT_T_ZIP_HIGH2:
    case AT_T_ZIP_LOW16:
    case AT_T_ZIP_HIGH16:
    case AT_T_ZIP_LOW8:
    case AT_T_ZIP_HIGH8:
        memcpy(one, d, sizeof one);
        zip(op, (char *)one, (const char *)reg[op->a], (const char *)reg[op->b]);
        break;
    default:
        second_operand(t, op, reg, m, one);
        for (int j = 0; j < t->lanes; j++) d[j] = at_tile_lane(t, op, d[j], reg[op->a][j], one[j]);
        return;
    }
    memcpy(d, one, sizeof one);
}

/* A pointer to what an entry of an index list leads to, or to numbers where it leads nowhere. */
static void interpret_index(const at_tile *t, const at_tile_op *op, char **p, const char *m,
                            float numbers[][AT_TILE_NUMBERS]) {
    int32_t entry;
    memcpy(&entry, m, sizeof entry);
    const int64_t digit = op->by == 1 ? entry : ((int64_t)op->times * entry + op->plus) / op->by;
    p[op->dst] = p[op->base] + digit * op->bump * at_type_bytes(t->slot_type[op->base]);
    if (!op->may_miss || entry >= 0) return;
    p[op->dst] = (char *)numbers[op->dst];
    for (int j = 0; j < AT_TILE_NUMBERS; j++)
        numbers[op->dst][j] = at_of_bits(at_tile_missed(t, op));
}

void at_tile_interpret(const at_tile *t, float *const *slots, const long *trips) {
    float reg[MAX_REGS][MAX_LANES] = {{0}};
    double doubles[MAX_REGS][MAX_LANES] = {{0}};
    char *p[at_tile_all_slots(t) + 1];
    float numbers[at_tile_all_slots(t) + 1][AT_TILE_NUMBERS],
        spilled[t->num_spilled * t->lanes + 1];
    struct {
        int body;
        int64_t left;
    } nest[MAX_NEST];
    int depth = 0;
    for (int i = 0; i < t->num_slots; i++) p[i] = (char *)slots[i];
    p[at_tile_frame(t)] = (char *)spilled;
    for (int i = 0; i < t->num_ops;) {
        const at_tile_op *op = &t->ops[i++];
        const int64_t bytes = op->slot >= 0 ? at_type_bytes(t->slot_type[op->slot]) : 0;
        char *m = op->slot >= 0 && op->kind != AT_T_BUMP ? p[op->slot] + bytes * op->off : NULL;
        if (t->target->is_double && op->kind >= AT_T_CONST) {
            step_in_double(t, op, doubles, (float *)(void *)m);
            continue;
        }
        switch (op->kind) {
        case AT_T_LOOP: {
            int64_t n = op->trip_arg >= 0 ? at_tile_turns(op, trips[op->trip_arg]) : op->trip;
            if (n <= 0) i = at_tile_loop_end(t, i - 1);
            else nest[depth].body = i, nest[depth++].left = n;
            break;
        }
        case AT_T_END:
            if (--nest[depth - 1].left > 0) i = nest[depth - 1].body;
            else depth--;
            break;
        case AT_T_BUMP:
            p[op->slot] += bytes * op->bump * (op->trip_arg >= 0 ? trips[op->trip_arg] : 1);
            break;
        case AT_T_PREFETCH: break;
        case AT_T_INDEX: interpret_index(t, op, p, m, numbers); break;
        case AT_T_SCATTER: interpret_scatter(t, op, reg, op->a < 0 ? p[op->base] : NULL, m); break;
        default: interpret_vector(t, op, reg, m);
        }
    }
}
