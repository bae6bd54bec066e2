/* view/html.h: pieces of the report's page. */
#ifndef AT_VIEW_HTML_H
#define AT_VIEW_HTML_H

#include "view/curve.h"

/* Any text, for between tags and within quoted attributes; what a page would obey is made visible.
 */
void at_html_add(at_text *out, const char *text);
void at_html_addf(at_text *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Everything up to the body's content: title, style sheet for light, dark and print. */
void at_html_head(at_text *out, const char *title);
void at_html_end(at_text *out);

/* Best so far over all trials as points, failures marked below, as an SVG element that takes its
 * colours from the style sheet. */
void at_svg_curve(at_text *out, const at_panel *p, bool seconds);
/* The axis below an area: pixels from `left` to `right` at the height `bottom`, which stand for
 * numbers from 0 to `to`; a mark and its number every `step`, and what they count. */
typedef struct at_svg_axis {
    int left, right, bottom;
    double to, step;
    const char *unit;
} at_svg_axis;
void at_svg_add_axis(at_text *out, const at_svg_axis *x);
/* Rows of samples on one axis, each with its median. */
typedef struct at_sample_row {
    const char *name;
    const double *times_s;
    int n;
    double median_s;
} at_sample_row;
void at_svg_samples(at_text *out, const at_sample_row *rows, int num_rows);

#endif
