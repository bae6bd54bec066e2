/* tests/codegen/random_tensors.c: names, sizes, axes and tensors of a computation being made. */
#include "tests/codegen/random_make.h"

#include <string.h>

int below(maker *m, int n) { return (int)at_rng_below(&m->rng, (uint64_t)n); }
bool chance(maker *m, int percent) { return below(m, 100) < percent; }

/* ---- names and sizes ----------------------------------------------------------------------- */

static bool name_taken(const maker *m, const char *name) {
    for (int i = 0; i < m->p->num_sizes; i++)
        if (!strcmp(m->p->size[i].name, name)) return true;
    for (int i = 0; i < m->num_tensors; i++)
        if (!strcmp(m->tensor[i].name, name)) return true;
    for (int i = 0; i < m->num_classes; i++) {
        if (!strcmp(m->cls[i].name, name)) return true;
        for (int k = 0; k < m->cls[i].num_pieces; k++)
            if (!strcmp(m->cls[i].piece[k], name)) return true;
    }
    return false;
}

/* What emitted C uses itself, and words of C: none may clash. */
static const char *const nasty[] = {
    "buf",  "workspace", "par", "context", "thread", "local",  "c",     "i",    "q0", "q1",
    "p0",   "n0",        "r0",  "int",     "for",    "long",   "main",  "body", "v",  "i1",
    "char", "k_0",       "y_1", "x_0",     "at_par", "k_part", "buf_1", "k_1"};

void fresh_name(maker *m, const char *stem, char out[RP_NAME]) {
    if (m->nasty && chance(m, 50)) stem = nasty[below(m, (int)(sizeof nasty / sizeof nasty[0]))];
    snprintf(out, RP_NAME, "%.12s", stem);
    for (int i = 1; name_taken(m, out); i++) snprintf(out, RP_NAME, "%.12s%d", stem, i % 1000);
}

void add_size(maker *m, const char *name, int64_t value, const char *expr) {
    if (m->p->num_sizes == RP_SIZES || strlen(expr) >= RP_EXPR) {
        m->p->full = true;
        return;
    }
    rp_size *s = &m->p->size[m->p->num_sizes++];
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(s->expr, sizeof s->expr, "%s", expr);
    s->value = value;
}

void small_size(maker *m, const char *stem, int value, char out[RP_NAME]) {
    bool plain = m->nasty;
    m->nasty = false;
    fresh_name(m, stem, out);
    m->nasty = plain;
    add_size(m, out, value, "");
}

void random_extent(maker *m, int most, char out[RP_NAME]) {
    static const int large[] = {2, 7, 14, 17, 28, 33, 49, 64};
    static const int values[] = {1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9, 11, 13, 16, 17, 19, 24, 33};
    int n = sizeof values / sizeof values[0];
    while (values[n - 1] > most) n--;
    small_size(m, "N", m->big ? large[below(m, 8)] : values[below(m, n)], out);
}

void substitute(maker *m, char out[RP_EXPR], const char *fmt, const char *a, const char *b) {
    size_t n = 0;
    for (; *fmt && n < RP_EXPR; fmt++) {
        const char *s = *fmt == '@' ? a : *fmt == '#' ? b : NULL;
        if (s) n += (size_t)snprintf(out + n, RP_EXPR - n, "%s", s);
        else out[n++] = *fmt;
    }
    if (n >= RP_EXPR) {
        m->p->full = true;
        n = 0;
    }
    out[n] = 0;
}

/* ---- axes ---------------------------------------------------------------------------------- */

static void cut_class(maker *m, rp_class *c, const char *last) {
    static const int large[] = {8, 14, 16, 17, 28, 32, 33, 49};
    static const int parts[] = {1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8, 16, 17};
    char inner[RP_EXPR] = "1", expr[RP_EXPR], piece[3][RP_NAME];
    int n = last ? 2 + chance(m, 40) : 1 + below(m, 3);
    for (int i = 0; i < n; i++) {
        char stem[RP_NAME];
        snprintf(stem, sizeof stem, m->nasty ? "%.9s_%d" : "%.9s%d", c->name, i);
        fresh_name(m, stem, piece[i]);
        memcpy(c->piece[i], piece[i], RP_NAME);
        c->num_pieces = i + 1;
    }
    for (int i = n - 1; i > 0; i--) {
        if (last && i == n - 1) add_size(m, piece[i], 0, last);
        else if (m->big && i == n - 1) add_size(m, piece[i], large[below(m, 8)], "");
        else add_size(m, piece[i], parts[below(m, (int)(sizeof parts / sizeof parts[0]))], "");
        if (i == n - 1) snprintf(inner, sizeof inner, "%s", piece[i]);
        else substitute(m, inner, "@*#", piece[i], piece[i + 1]);
    }
    substitute(m, expr, "(@ + # - 1)/(#)", c->extent, inner);
    if (n == 1) snprintf(expr, sizeof expr, "%s", c->extent);
    if (n == 1 && chance(m, 50)) {
        c->whole = true;
        memcpy(c->piece[0], c->name, RP_NAME);
    } else add_size(m, piece[0], 0, expr);
}

static rp_class *push_class(maker *m, const char *stem, const char *extent) {
    if (m->num_classes == CLASSES) {
        m->p->full = true;
        m->num_classes--;
    }
    rp_class c = {.num_pieces = 0};
    fresh_name(m, stem, c.name);
    snprintf(c.extent, sizeof c.extent, "%s", extent);
    m->cls[m->num_classes] = c;
    return &m->cls[m->num_classes++];
}

int new_class(maker *m, const char *stem, const char *extent, const char *last) {
    rp_class *c = push_class(m, stem, extent);
    cut_class(m, c, last);
    return m->num_classes - 1;
}

int clone_class(maker *m, int c) {
    rp_class *n = push_class(m, m->cls[c].name, m->cls[c].extent);
    if (m->cls[c].dynamic) {
        n->dynamic = true;
        n->num_pieces = 1;
        memcpy(n->piece[0], n->name, RP_NAME);
        return m->num_classes - 1;
    }
    cut_class(m, n, NULL);
    if (n->whole) { /* the axis has another name */
        n->whole = false;
        add_size(m, n->piece[0], 0, n->extent);
    }
    return m->num_classes - 1;
}

int part_class(maker *m, const char *stem, const char *extent, int of, bool last) {
    rp_class *c = push_class(m, stem, extent);
    const rp_class *x = &m->cls[of];
    if (last) memcpy(c->piece[c->num_pieces++], x->piece[x->num_pieces - 1], RP_NAME);
    else
        for (int i = 0; i < x->num_pieces - 1; i++)
            memcpy(c->piece[c->num_pieces++], x->piece[i], RP_NAME);
    return m->num_classes - 1;
}

int dynamic_class(maker *m, const char *stem) {
    rp_class *c = push_class(m, stem, "");
    c->dynamic = true;
    c->num_pieces = 1;
    memcpy(c->piece[0], c->name, RP_NAME);
    return m->num_classes - 1;
}

const char *axis_of(const maker *m, int c) { return m->cls[c].name; }
const char *extent_of(const maker *m, int c) { return m->cls[c].extent; }

/* ---- tensors ------------------------------------------------------------------------------- */

static rp_tensor *push_tensor(maker *m, const char *stem) {
    if (m->num_tensors == TENSORS) {
        m->p->full = true;
        m->num_tensors--;
    }
    rp_tensor t = {.rank = 0};
    fresh_name(m, stem, t.name);
    for (int i = 0; i < 2 * RANK; i++) t.axis[i] = -1;
    m->tensor[m->num_tensors] = t;
    return &m->tensor[m->num_tensors++];
}

int add_input(maker *m, const char *stem, const char *role, int rank, const char *const *extents) {
    rp_tensor *t = push_tensor(m, stem);
    t->rank = rank;
    at_text_addf(&m->text, "%s[", t->name);
    for (int i = 0; i < rank; i++) {
        snprintf(t->extent[i], RP_EXPR, "%s", extents[i]);
        at_text_addf(&m->text, "%s%s", i ? ", " : "", extents[i]);
    }
    at_text_addf(&m->text, "] : %s\n", role);
    return m->num_tensors - 1;
}

int add_operand(maker *m, const char *stem, int weight, int rank, const int *classes) {
    const char *extents[RANK] = {NULL};
    for (int i = 0; i < rank; i++) extents[i] = extent_of(m, classes[i]);
    int t = add_input(m, stem, chance(m, weight) ? "weight" : "input", rank, extents);
    for (int i = 0; i < rank; i++) m->tensor[t].axis[i] = classes[i];
    return t;
}

void fill_input(maker *m, int t, bool pointers, const char *limit) {
    rp_index *x = &m->p->index[m->p->num_indices];
    if (m->p->num_indices + 1 < RP_INDICES) m->p->num_indices++;
    else m->p->full = true;
    snprintf(x->tensor, sizeof x->tensor, "%s", m->tensor[t].name);
    snprintf(x->limit, sizeof x->limit, "%s", limit);
    x->pointers = pointers;
}

int begin_stage(maker *m, const char *stem) {
    push_tensor(m, stem)->is_stage = true;
    return m->num_tensors - 1;
}

void add_axis(maker *m, int stage, int c, bool reduction) {
    rp_tensor *t = &m->tensor[stage];
    int at = t->rank + t->num_reduce;
    if (at == 2 * RANK || t->rank == RANK) {
        m->p->full = true;
        return;
    }
    t->axis[at] = c;
    memcpy(t->axis_name[at], m->cls[c].name, RP_NAME);
    if (reduction) t->num_reduce++;
    else memcpy(t->extent[t->rank++], m->cls[c].extent, RP_EXPR);
}

bool has_axis(const maker *m, int stage, int c) {
    const rp_tensor *t = &m->tensor[stage];
    for (int i = 0; i < t->rank + t->num_reduce; i++)
        if (t->axis[i] == c) return true;
    return false;
}

int class_of_dim(maker *m, int stage, int tensor, int d) {
    rp_tensor *t = &m->tensor[tensor];
    if (t->axis[d] >= 0 && !has_axis(m, stage, t->axis[d])) return t->axis[d];
    static const char *const stems[] = {"y", "x", "n", "h", "w", "u", "i", "j", "z", "g"};
    int c = new_class(m, stems[below(m, 10)], t->extent[d], NULL);
    if (m->tensor[tensor].axis[d] < 0) m->tensor[tensor].axis[d] = c;
    return c;
}

void read_tensor(maker *m, int stage, int tensor, char index[][RP_EXPR], const int *classes,
                 at_text *out) {
    rp_tensor *s = &m->tensor[stage], *t = &m->tensor[tensor];
    at_text_addf(out, "%s[", t->name);
    for (int d = 0; d < t->rank; d++) at_text_addf(out, "%s%s", d ? ", " : "", index[d]);
    at_text_add(out, "]");
    t->is_read = true;
    if (s->num_reads == READS) {
        m->p->full = true;
        return;
    }
    rp_read *r = &s->read[s->num_reads++];
    r->tensor = tensor;
    for (int d = 0; d < t->rank; d++) r->axis[d] = classes[d];
}

void read_plain(maker *m, int stage, int tensor, const int *classes, at_text *out) {
    char index[RANK][RP_EXPR];
    for (int d = 0; d < m->tensor[tensor].rank; d++)
        snprintf(index[d], RP_EXPR, "%s", axis_of(m, classes[d]));
    read_tensor(m, stage, tensor, index, classes, out);
}

void finish_stage(maker *m, int stage, at_text *body, const char *bounds) {
    const rp_tensor *t = &m->tensor[stage];
    at_text_addf(&m->text, "%s[", t->name);
    for (int i = 0; i < t->rank; i++)
        at_text_addf(&m->text, "%s%s:%s", i ? ", " : "", t->axis_name[i], t->extent[i]);
    at_text_add(&m->text, "] = ");
    if (t->num_reduce) at_text_addf(&m->text, "%s(", t->reduction ? t->reduction : "sum");
    for (int i = t->rank; i < t->rank + t->num_reduce; i++) {
        const rp_class *c = &m->cls[t->axis[i]];
        at_text_addf(&m->text, "%s%s:%s", i > t->rank ? ", " : "", t->axis_name[i],
                     c->dynamic ? bounds : c->extent);
    }
    at_text_addf(&m->text, "%s%s\n", t->num_reduce ? ") " : "", at_text_str(body));
    at_text_free(body);
}
