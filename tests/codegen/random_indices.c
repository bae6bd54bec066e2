/* tests/codegen/random_indices.c: random stages that depend on data: block-sparse products,
 * segments, rows chosen by an index tensor. */
#include "tests/codegen/random_make.h"

#include <string.h>

/* Stored blocks of R rows and C columns: indptr per block row, indices per block. */
int sparse_stage(maker *m) {
    char Y[RP_NAME], NB[RP_NAME], C[RP_NAME], R[RP_NAME], XR[RP_NAME], E[RP_NAME], expr[RP_EXPR];
    random_extent(m, 9, Y);
    small_size(m, "L", 1 + below(m, 4), NB);
    small_size(m, "C", 1 + below(m, 4), C);
    small_size(m, "R", 1 + below(m, 6), R);
    small_size(m, "G", 1 + below(m, 6), XR);
    small_size(m, "E", 1 + below(m, 8), E);
    snprintf(expr, sizeof expr, "%s*%s", NB, C);
    bool digits = chance(m, 40); /* a column is a number of two digits */
    char D[RP_NAME], columns[RP_EXPR];
    snprintf(columns, sizeof columns, "%s", NB);
    if (digits) {
        small_size(m, "D", 1 + below(m, 4), D);
        snprintf(columns, sizeof columns, "%s*%s", D, NB);
    }
    const char *src_extents[] = {Y, digits ? D : expr, expr}, *block_extents[] = {E, R, C};
    int src = add_input(m, "a", "input", digits ? 3 : 2, src_extents);
    int mapped = !digits && chance(m, 30) ? map_stage(m, src) : src;
    if (!strcmp(m->tensor[mapped].extent[0], Y)) src = mapped; /* else it is transposed */
    int blocks = add_input(m, "blocks", "weight", 3, block_extents);
    snprintf(expr, sizeof expr, "%s + 1", XR);
    const char *ptr_extents[] = {expr}, *index_extents[] = {E};
    int ptr = add_input(m, "indptr", "index", 1, ptr_extents);
    int indices = add_input(m, "indices", "index", 1, index_extents);
    fill_input(m, ptr, true, E);
    fill_input(m, indices, false, columns);
    snprintf(expr, sizeof expr, "%s*%s", XR, R);
    int x = new_class(m, "x", expr, R), y = -1;
    int xr = part_class(m, "xr", XR, x, false), r = part_class(m, "r", R, x, true);
    int c = new_class(m, "c", C, NULL), e = dynamic_class(m, "e"), s = begin_stage(m, "cc");
    at_text body = {0}, read = {0};
    y = class_of_dim(m, s, src, 0);
    add_axis(m, s, y, false);
    add_axis(m, s, xr, false);
    add_axis(m, s, r, false);
    add_axis(m, s, c, false);
    add_axis(m, s, e, true);
    char index[3][RP_EXPR], column[RP_EXPR];
    int classes[4] = {y, -1, -1};
    snprintf(index[0], RP_EXPR, "%s", axis_of(m, y));
    snprintf(column, RP_EXPR, "%s[%s]*%s + %s", m->tensor[indices].name, axis_of(m, e), C,
             axis_of(m, c));
    snprintf(expr, sizeof expr, "%s*%s", NB, C);
    if (digits) {
        substitute(m, index[1], "(@)/(#)", column, expr);
        substitute(m, index[2], "(@) % (#)", column, expr);
    } else snprintf(index[1], RP_EXPR, "%s", column);
    read_tensor(m, s, src, index, classes, &body);
    int of[3] = {e, r, c};
    read_plain(m, s, blocks, of, &read);
    at_text_addf(&body, "*%s", read.data);
    snprintf(expr, sizeof expr, "%s[%s] .. %s[%s + 1]", m->tensor[ptr].name, axis_of(m, xr),
             m->tensor[ptr].name, axis_of(m, xr));
    memcpy(m->tensor[s].dyn, axis_of(m, xr), RP_NAME);
    finish_stage(m, s, &body, expr);
    at_text_free(&read);
    if (chance(m, 25)) return s;
    int out = begin_stage(m, "bs");
    body = (at_text){0};
    add_axis(m, out, y, false);
    add_axis(m, out, x, false);
    add_axis(m, out, c, true);
    char four[4][RP_EXPR];
    int all[4] = {y, xr, r, c};
    snprintf(four[0], RP_EXPR, "%s", axis_of(m, y));
    substitute(m, four[1], "@/#", axis_of(m, x), R);
    substitute(m, four[2], "@ % #", axis_of(m, x), R);
    snprintf(four[3], RP_EXPR, "%s", axis_of(m, c));
    read_tensor(m, out, s, four, all, &body);
    finish_stage(m, out, &body, NULL);
    return out;
}

/* Sums of a run of rows: bounds from data, or a triangle. */
int segment_stage(maker *m, int src) {
    at_text body = {0};
    int rank = m->tensor[src].rank, classes[RANK];
    char G[RP_NAME], bounds[RP_EXPR], index[RANK][RP_EXPR];
    const char *E = m->tensor[src].extent[0];
    random_extent(m, 7, G);
    bool triangle = chance(m, 35);
    int g = new_class(m, "g", triangle ? E : G, NULL), e = dynamic_class(m, "e");
    if (triangle)
        snprintf(bounds, sizeof bounds, chance(m, 70) ? "0 .. %s + 1" : "0 .. %s", axis_of(m, g));
    else {
        char expr[RP_EXPR];
        snprintf(expr, sizeof expr, "%s + 1", G);
        const char *extents[] = {expr};
        int ptr = add_input(m, "ptr", "index", 1, extents);
        fill_input(m, ptr, true, m->tensor[src].extent[0]);
        snprintf(bounds, sizeof bounds, "%s[%s] .. %s[%s + 1]", m->tensor[ptr].name, axis_of(m, g),
                 m->tensor[ptr].name, axis_of(m, g));
    }
    int s = begin_stage(m, "seg");
    add_axis(m, s, g, false);
    for (int d = 1; d < rank; d++) {
        classes[d] = class_of_dim(m, s, src, d);
        add_axis(m, s, classes[d], false);
        snprintf(index[d], RP_EXPR, "%s", axis_of(m, classes[d]));
    }
    add_axis(m, s, e, true);
    classes[0] = -1;
    snprintf(index[0], RP_EXPR, "%s", axis_of(m, e));
    memcpy(m->tensor[s].dyn, axis_of(m, g), RP_NAME);
    read_tensor(m, s, src, index, classes, &body);
    m->tensor[s].runs = triangle && chance(m, 50);
    if (!m->tensor[s].runs && chance(m, 80)) {
        int some[2] = {g, classes[rank - 1]}, n = rank > 1 ? 2 : 1;
        at_text_add(&body, "*");
        read_plain(m, s, add_operand(m, "b", 40, n, some), some, &body);
    }
    finish_stage(m, s, &body, bounds);
    return s;
}

int gather_stage(maker *m, int src) {
    at_text body = {0};
    int rank = m->tensor[src].rank, classes[RANK];
    char Y[RP_NAME], index[RANK][RP_EXPR];
    random_extent(m, 9, Y);
    const char *extents[] = {Y};
    int rows = add_input(m, "rows", "index", 1, extents);
    int digits = rank > 1 && chance(m, 40) ? 2 : 1; /* of a row's number */
    char limit[RP_EXPR];
    if (digits == 1) snprintf(limit, sizeof limit, "%s", m->tensor[src].extent[0]);
    else substitute(m, limit, "(@)*(#)", m->tensor[src].extent[0], m->tensor[src].extent[1]);
    fill_input(m, rows, false, limit);
    int y = new_class(m, "y", Y, NULL), s = begin_stage(m, "pick");
    bool sum = rank > digits && chance(m, 30);
    add_axis(m, s, y, false);
    for (int d = digits; d < rank; d++) {
        classes[d] = class_of_dim(m, s, src, d);
        add_axis(m, s, classes[d], sum && d == rank - 1);
        snprintf(index[d], RP_EXPR, "%s", axis_of(m, classes[d]));
    }
    classes[0] = classes[1] = -1;
    snprintf(limit, RP_EXPR, "%s[%s]", m->tensor[rows].name, axis_of(m, y));
    if (digits == 2) {
        substitute(m, index[0], "(@)/(#)", limit, m->tensor[src].extent[1]);
        substitute(m, index[1], "(@) % (#)", limit, m->tensor[src].extent[1]);
    } else snprintf(index[0], RP_EXPR, "%s", limit);
    read_tensor(m, s, src, index, classes, &body);
    finish_stage(m, s, &body, NULL);
    return s;
}
