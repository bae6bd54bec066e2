/* cost/speeds.c: speeds that nobody measured: of a whole machine, or between what was measured; and
 * a machine's table as JSON: in the user's cache, in the head of a recorded space, and as `autotune
 * machine --json` prints it. It may come from anybody. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "cost/cost.h"

static const double usual_ghz = 3;

/* Of sums in memory (stored_ns), in multiply-adds at the peak: of Zen 5 and of Sapphire Rapids. */
static const double stored_sums[] = {4.1, 12, 28};

/* Of waits (waits_ns): the first in multiply-adds at the peak: four cycles, two of which begin in
 * each (cost/x86/cores.c: of eleven kinds eight; on the others five, and 10); the second in ns, on
 * Zen 5; the third as a multiple of what an element takes in a row; the fourth at the peak; the
 * last in ns, on Zen 5. */
static const double behind_another = 8, masked_ns = 12, gathered = 3, single_load = 1.4;

static void complete_waits(at_speeds *s, double peak_ns) {
    if (s->waits_ns[0] <= 0) s->waits_ns[0] = (float)(behind_another * peak_ns);
    if (s->waits_ns[1] <= 0) s->waits_ns[1] = (float)masked_ns;
    if (s->waits_ns[2] <= 0)
        s->waits_ns[2] = (float)gathered * s->narrow_ns[0][AT_SPEED_ROWS - 1] / AT_SPEED_ROWS;
    if (s->waits_ns[3] <= 0) s->waits_ns[3] = (float)(single_load * peak_ns);
}

/* A step of a tile whose rows come by element, four steps of one by a load, in cycles: what its
 * units take, side by side, or one after the other on a core that goes in order, where no load of a
 * whole register begins beside a multiply-add; the sums wait for themselves. Registers that are too
 * few are loaded again. */
static double cycles_by_element(const at_core *core, const at_target *target, int rows,
                                int vectors) {
    static const at_core usual = {
        .fma = {2, 2}, .loads = {2, 2}, .issue = 4, .window = 128, .fma_latency = 4};
    const at_core *c = core ? core : &usual;
    const double sums = rows * vectors, beyond = sums + vectors + rows / 4.0 - target->regs,
                 loads = vectors + rows / (double)target->lanes + (beyond > 0 ? 2 * beyond : 0),
                 fmas = sums / c->fma[0], moved = loads / c->loads[0],
                 begun = (sums + loads + 1) / c->issue;
    const double units = c->window <= AT_CORE_IN_ORDER ? fmas + moved : fmax(fmas, moved);
    return fmax(fmax(units, begun), c->fma_latency);
}

/* Weights are fitted to kernels on Sapphire Rapids, as those in codegen/tile/tile_parts.c. */
void at_speeds_guess(const at_core *core, const at_target *target, at_speeds *out) {
    bool wide = target->lanes >= AT_WIDE_LANES;
    double ns = 1 / (core ? core->fma[wide] : 2) / usual_ghz;
    if (!target->fused) ns *= 2;
    memset(out, 0, sizeof *out);
    strncpy(out->isa, target->name, sizeof out->isa - 1);
    if (target->by_element) out->peak_gflops = (float)(2 * target->lanes / ns);
    for (int v = 1; v <= AT_SPEED_VECTORS; v++)
        for (int r = 1; r <= AT_SPEED_ROWS; r++) {
            double sums = r * v, loads = r + v, least = 8;
            bool folded = r * v + v + 1 > target->regs && v > 2;
            if (folded) loads += r - 1;
            if (sums < 8) least = 1.3 * sums + 2; /* several chains each */
            double c = sums > 1.07 * loads ? sums : 1.07 * loads;
            if (c < least) c = least < 8 ? least : 8;
            c = (c + 0.02 * loads + (folded ? 0.06 * sums : 0)) * ns;
            if (target->by_element) c = cycles_by_element(core, target, r, v) / usual_ghz;
            out->step_ns[v - 1][r - 1] = (float)c;
            out->far_ns[v - 1][r - 1] = (float)(c + 0.6 * v * target->lanes / 16 * ns);
            out->call_ns[v - 1][r - 1] = (float)(4 + (20 + 3 * sums) * ns);
        }
    for (int w = 0; w < AT_SPEED_WIDTHS; w++) {
        memcpy(out->narrow_ns[w], out->step_ns[0], sizeof out->narrow_ns[w]);
        memcpy(out->narrow_call_ns[w], out->call_ns[0], sizeof out->narrow_call_ns[w]);
    }
    out->line_ns[0] = (float)(0.5 / usual_ghz);
    out->line_ns[1] = (float)(0.6 * ns * target->lanes / 16);
    out->line_ns[2] = 1.5F;
    out->line_ns[3] = 4;
    out->copy_ns = (float)(1.3 / usual_ghz);
    out->run_ns = 0.75F;
    out->turn_ns = 1.5F;
    for (int i = 0; i < 3; i++) out->stored_ns[i] = (float)(stored_sums[i] * ns);
    complete_waits(out, ns);
}

/* One row of a table, of so many vectors: between what was measured in a straight line, beyond it
 * as the guess goes on. */
static void complete_row(float *row, const float *guess) {
    int last = -1;
    for (int r = 0; r < AT_SPEED_ROWS; r++) {
        if (row[r] <= 0) continue;
        for (int k = last + 1; k < r; k++)
            row[k] = last < 0
                         ? row[r] * guess[k] / guess[r]
                         : row[last] + (row[r] - row[last]) * (float)(k - last) / (float)(r - last);
        last = r;
    }
    for (int k = last + 1; k < AT_SPEED_ROWS && last >= 0; k++)
        row[k] = row[last] * guess[k] / guess[last];
}

static void complete(float row[][AT_SPEED_ROWS], const float guess[][AT_SPEED_ROWS]) {
    float share = 1;
    for (int v = 0; v < AT_SPEED_VECTORS; v++) {
        complete_row(row[v], guess[v]);
        for (int r = 0; r < AT_SPEED_ROWS && row[v][AT_SPEED_ROWS - 1] <= 0; r++)
            row[v][r] = guess[v][r] * share;
        share = row[v][0] / guess[v][0];
    }
}

void at_speeds_complete(at_speeds *s, const at_target *target) {
    at_speeds guess;
    at_speeds_guess(NULL, target, &guess);
    complete(s->step_ns, guess.step_ns);
    complete(s->far_ns, guess.far_ns);
    complete(s->call_ns, guess.call_ns);
    for (int w = 0; w < AT_SPEED_WIDTHS; w++) { /* else as whole vectors */
        complete_row(s->narrow_ns[w], guess.narrow_ns[w]);
        complete_row(s->narrow_call_ns[w], guess.narrow_call_ns[w]);
        for (int r = 0; r < AT_SPEED_ROWS; r++) {
            if (s->narrow_ns[w][r] <= 0) s->narrow_ns[w][r] = s->step_ns[0][r];
            if (s->narrow_call_ns[w][r] <= 0) s->narrow_call_ns[w][r] = s->call_ns[0][r];
        }
    }
    for (int i = 0; i < AT_SPEED_LEVELS; i++)
        if (s->line_ns[i] <= 0) s->line_ns[i] = guess.line_ns[i];
    /* The tile it is measured with may hide all of it, which rows of many pictures do not. */
    s->line_ns[1] = fmaxf(s->line_ns[1], guess.line_ns[1] / 2);
    if (s->copy_ns <= 0) s->copy_ns = guess.copy_ns;
    if (s->run_ns <= 0) s->run_ns = guess.run_ns;
    if (s->turn_ns <= 0) s->turn_ns = guess.turn_ns;
    double ns = s->peak_gflops > 0 ? 2 * target->lanes / (double)s->peak_gflops : 0;
    for (int i = 0; i < 3; i++) /* older tables have none */
        if (s->stored_ns[i] <= 0)
            s->stored_ns[i] = ns > 0 ? (float)(stored_sums[i] * ns) : guess.stored_ns[i];
    complete_waits(s, ns);
}

int at_speeds_width(const at_target *target, int64_t elements) {
    if (elements >= target->lanes) return -1;
    for (int w = 0; w < AT_SPEED_WIDTHS - 1; w++)
        if (elements == 1 << w) return w;
    return AT_SPEED_WIDTHS - 1;
}

const at_speeds *at_speed_table_find(const at_speed_table *t, const char *isa) {
    const at_target *target = at_target_find(isa);
    if (target && target->like) isa = target->like;
    for (int i = 0; i < t->num_sets; i++)
        if (!strcmp(t->sets[i].isa, isa)) return &t->sets[i];
    return NULL;
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static const double most_ns = 1e9, most_gops = 1e9, most_bytes = 1e15;
static const char *const caches[] = {"l1d", "l2", "l3"};

/* The members of a set. */
typedef enum member_kind { NUMBER, ROW, TILES } member_kind;
typedef struct set_member {
    const char *name;
    member_kind kind;
    size_t offset; /* in at_speeds */
    int most;      /* of the list */
    bool may_lack; /* older tables have none, or not every CPU */
} set_member;
#define MEMBER(name, kind, most, may_lack)                                                         \
    { #name, kind, offsetof(at_speeds, name), most, may_lack }
static const set_member members[] = {
    MEMBER(peak_gflops, NUMBER, 1, false),
    MEMBER(dot_gops, NUMBER, 1, true),
    MEMBER(bf16_gops, NUMBER, 1, true),
    MEMBER(step_ns, TILES, AT_SPEED_VECTORS, false),
    MEMBER(far_ns, TILES, AT_SPEED_VECTORS, false),
    MEMBER(call_ns, TILES, AT_SPEED_VECTORS, false),
    MEMBER(narrow_ns, TILES, AT_SPEED_WIDTHS, false),
    MEMBER(narrow_call_ns, TILES, AT_SPEED_WIDTHS, false),
    MEMBER(line_ns, ROW, AT_SPEED_LEVELS, false),
    {"copy_run_turn_ns", ROW, offsetof(at_speeds, copy_ns), 3, false},
    MEMBER(stored_ns, ROW, 3, true),
    MEMBER(waits_ns, ROW, AT_SPEED_WAITS, true),
    MEMBER(stream_ns, ROW, AT_SPEED_LEVELS, true),
    MEMBER(beside_ns, NUMBER, 1, true),
    MEMBER(alone_ns, NUMBER, 1, true),
    MEMBER(piled_ns, NUMBER, 1, true),
};
enum { NUM_MEMBERS = sizeof members / sizeof *members };
_Static_assert(offsetof(at_speeds, turn_ns) == offsetof(at_speeds, copy_ns) + 2 * sizeof(float),
               "copy, run and turn lie side by side");

/* ---- printing -------------------------------------------------------------------------------- */

static void add_number(at_text *out, double x) { at_text_addf(out, "%.5g", x); }

static void add_row(at_text *out, const char *name, const float *x, int n) {
    at_text_addf(out, "\"%s\": [", name);
    for (int i = 0; i < n; i++) {
        if (i) at_text_add(out, ", ");
        add_number(out, x[i]);
    }
    at_text_add(out, "]");
}

/* Rows end with the last thing measured; so do the rows of vectors. */
static void add_tiles(at_text *out, const char *name, const float x[][AT_SPEED_ROWS], int most) {
    int vectors = 0, rows[AT_SPEED_VECTORS] = {0};
    for (int v = 0; v < most; v++)
        for (int r = 0; r < AT_SPEED_ROWS; r++)
            if (x[v][r] > 0) rows[v] = r + 1, vectors = v + 1;
    at_text_addf(out, "\"%s\": [", name);
    for (int v = 0; v < vectors; v++) {
        at_text_add(out, v ? ", [" : "[");
        for (int r = 0; r < rows[v]; r++) {
            if (r) at_text_add(out, ", ");
            add_number(out, x[v][r]);
        }
        at_text_add(out, "]");
    }
    at_text_add(out, "]");
}

static void add_member(at_text *out, const set_member *m, const at_speeds *s) {
    const void *x = (const char *)s + m->offset;
    if (m->kind == NUMBER && m->may_lack && !(*(const float *)x > 0)) return;
    at_text_add(out, ", ");
    if (m->kind == TILES) add_tiles(out, m->name, x, m->most);
    else if (m->kind == ROW) add_row(out, m->name, x, m->most);
    else {
        at_text_addf(out, "\"%s\": ", m->name);
        add_number(out, *(const float *)x);
    }
}

void at_speed_table_print(at_text *out, const at_speed_table *t) {
    at_text_add(out, "{\"cpu\": ");
    at_text_add_json_string(out, t->cpu);
    at_text_add(out, ", \"flags\": ");
    at_text_add_json_string(out, t->flags);
    at_text_add(out, ", \"version\": ");
    at_text_add_json_string(out, t->version);
    at_text_addf(out, ", \"measured\": %.0f, \"cache_bytes\": {", t->measured_s);
    for (int i = 0; i < 3; i++)
        at_text_addf(out, "%s\"%s\": %lld", i ? ", " : "", caches[i], (long long)t->cache_bytes[i]);
    at_text_add(out, "}, ");
    add_row(out, "latency_ns", t->latency_ns, AT_SPEED_LEVELS);
    at_text_add(out, ", \"sets\": [");
    for (int i = 0; i < t->num_sets; i++) {
        at_text_addf(out, "%s{\"isa\": ", i ? ", " : "");
        at_text_add_json_string(out, t->sets[i].isa);
        for (int k = 0; k < NUM_MEMBERS; k++) add_member(out, &members[k], &t->sets[i]);
        at_text_add(out, "}");
    }
    at_text_add(out, "]}");
}

/* ---- reading --------------------------------------------------------------------------------- */

static at_status wrong(at_error *err, const char *member, const char *what) {
    return at_fail(err, AT_E_INPUT, "%s: %s", member, what);
}

static at_status read_text(const at_json *object, const char *name, char *out, size_t size,
                           at_error *err) {
    const at_json *v = at_json_get(object, name);
    if (!v || v->kind != AT_JSON_STRING) return wrong(err, name, "a text is wanted");
    size_t len = strlen(v->string);
    if (len >= size) return wrong(err, name, "the text is too long");
    if (at_utf8_end(v->string, len) < len) return wrong(err, name, "the text is not UTF-8");
    strcpy(out, v->string);
    return AT_OK;
}

static at_status read_number(const at_json *v, const char *name, double most, double *out,
                             at_error *err) {
    if (!v || v->kind != AT_JSON_NUMBER || !(v->number >= 0 && v->number <= most))
        return wrong(err, name, "a number is wanted that is not below 0 and not immense");
    *out = v->number;
    return AT_OK;
}

static at_status read_row(const at_json *v, const char *name, float *out, int most, at_error *err) {
    if (!v || v->kind != AT_JSON_ARRAY || v->count > most)
        return at_fail(err, AT_E_INPUT, "%s: a list of at most %d numbers is wanted", name, most);
    int i = 0;
    for (const at_json *x = v->child; x; x = x->next) {
        double number = 0;
        AT_TRY(read_number(x, name, most_ns, &number, err));
        out[i++] = (float)number;
    }
    return AT_OK;
}

static at_status read_tiles(const at_json *v, const char *name, float out[][AT_SPEED_ROWS],
                            int most, at_error *err) {
    int i = 0;
    if (!v || v->kind != AT_JSON_ARRAY || v->count > most)
        return at_fail(err, AT_E_INPUT, "%s: a list of at most %d lists is wanted", name, most);
    for (const at_json *row = v->child; row; row = row->next)
        AT_TRY(read_row(row, name, out[i++], AT_SPEED_ROWS, err));
    return AT_OK;
}

static at_status read_member(const at_json *set, const set_member *m, at_speeds *s, at_error *err) {
    const at_json *v = at_json_get(set, m->name);
    void *x = (char *)s + m->offset;
    double number = 0;
    if (!v && m->may_lack) return AT_OK;
    if (m->kind == TILES) return read_tiles(v, m->name, x, m->most, err);
    if (m->kind == ROW) return read_row(v, m->name, x, m->most, err);
    AT_TRY(read_number(v, m->name, most_gops, &number, err));
    *(float *)x = (float)number;
    return AT_OK;
}

static at_status read_set(const at_json *json, at_speeds *s, at_error *err) {
    AT_TRY(read_text(json, "isa", s->isa, sizeof s->isa, err));
    for (int k = 0; k < NUM_MEMBERS; k++) AT_TRY(read_member(json, &members[k], s, err));
    return AT_OK;
}

at_status at_speed_table_read(const at_json *json, at_speed_table *t, at_error *err) {
    memset(t, 0, sizeof *t);
    if (json->kind != AT_JSON_OBJECT) return wrong(err, "speeds", "an object is wanted");
    AT_TRY(read_text(json, "cpu", t->cpu, sizeof t->cpu, err));
    AT_TRY(read_text(json, "flags", t->flags, sizeof t->flags, err));
    AT_TRY(read_text(json, "version", t->version, sizeof t->version, err));
    AT_TRY(read_number(at_json_get(json, "measured"), "measured", 1e12, &t->measured_s, err));
    const at_json *bytes = at_json_get(json, "cache_bytes"), *sets = at_json_get(json, "sets");
    if (!bytes || bytes->kind != AT_JSON_OBJECT) return wrong(err, "cache_bytes", "is missing");
    for (int i = 0; i < 3; i++) {
        double n = 0;
        AT_TRY(read_number(at_json_get(bytes, caches[i]), caches[i], most_bytes, &n, err));
        t->cache_bytes[i] = (int64_t)n;
    }
    AT_TRY(read_row(at_json_get(json, "latency_ns"), "latency_ns", t->latency_ns, AT_SPEED_LEVELS,
                    err));
    if (!sets || sets->kind != AT_JSON_ARRAY || sets->count > AT_SPEED_SETS)
        return wrong(err, "sets", "a list of at most 4 objects is wanted");
    for (const at_json *x = sets->child; x; x = x->next) {
        if (x->kind != AT_JSON_OBJECT) return wrong(err, "sets", "a list of objects is wanted");
        AT_TRY(read_set(x, &t->sets[t->num_sets++], err));
    }
    return AT_OK;
}
