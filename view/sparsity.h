/* view/sparsity.h: times of layers over the share of their weight that is pruned. */
#ifndef AT_VIEW_SPARSITY_H
#define AT_VIEW_SPARSITY_H

#include "view/view.h"

typedef struct at_sparse_point {
    double sparsity, time_s; /* of dense ones: sparsity -1 */
} at_sparse_point;
/* One way of computing a layer; a dense one has a single point. */
typedef struct at_sparse_line {
    const char *label; /* "16x1", or a template's name */
    bool is_dense;
    AT_VEC(at_sparse_point) points; /* ascending */
} at_sparse_line;
typedef struct at_sparse_panel {
    const char *title;
    AT_VEC(at_sparse_line) lines;
} at_sparse_panel;
typedef struct at_sparse_panels {
    AT_VEC(at_sparse_panel) of;
} at_sparse_panels;

/* A point of the line of that label, in the panel of that title; both are made where they are not
 * yet there. Of two points at one place the shorter time counts. */
void at_sparse_panels_add(at_arena *a, at_sparse_panels *p, const char *title, const char *label,
                          bool is_dense, at_sparse_point point);
/* The dense line of the least time; NULL: there is none. */
const at_sparse_line *at_sparse_panel_dense(const at_sparse_panel *p);
/* From which sparsity on the line's times are below time_s, by straight lines between its points;
 * below 0: at none of them. */
double at_sparse_line_below(const at_sparse_line *l, double time_s);

void at_sparsity_text(at_text *out, at_arena *a, const at_sparse_panels *p);
/* As at_plot_file. */
at_status at_sparsity_file(const at_sparse_panels *p, const char *path,
                           const at_output_rules *rules, at_error *err);

#endif
