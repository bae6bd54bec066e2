/* view/canvas.h: points and lines in characters of a terminal: braille dots, 2 x 4 to a character,
 * or ASCII, one to a character. */
#ifndef AT_VIEW_CANVAS_H
#define AT_VIEW_CANVAS_H

#include "view/view.h"

typedef struct at_cell {
    uint8_t dots; /* braille: bits of U+2800 */
    char letter;  /* ASCII */
    at_style style;
} at_cell;

typedef struct at_canvas {
    int columns, rows; /* in characters */
    int width, height; /* in dots; dot 0, 0 is at the lower left */
    bool braille;
    at_cell *cells; /* [rows][columns], the first row on top */
} at_canvas;

void at_canvas_init(at_canvas *c, at_arena *a, int columns, int rows, bool braille);
/* What lies outside is not drawn. letter: what stands for the dot in ASCII. */
void at_canvas_dot(at_canvas *c, int x, int y, char letter, at_style style);
/* Horizontal or vertical. */
void at_canvas_line(at_canvas *c, int x0, int y0, int x1, int y1, char letter, at_style style);
/* One row of characters without blanks at its end, with its colours. */
void at_canvas_print_row(at_text *out, const at_canvas *c, int row);

#endif
