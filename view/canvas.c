/* view/canvas.c: dots in characters. */
#include "view/canvas.h"

void at_canvas_init(at_canvas *c, at_arena *a, int columns, int rows, bool braille) {
    *c = (at_canvas){.columns = columns,
                     .rows = rows,
                     .width = braille ? 2 * columns : columns,
                     .height = braille ? 4 * rows : rows,
                     .braille = braille,
                     .cells = AT_NEW_ARRAY(a, at_cell, columns * rows)};
}

void at_canvas_dot(at_canvas *c, int x, int y, char letter, at_style style) {
    /* Bits of a braille character, from its upper left dot. */
    static const uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x < 0 || x >= c->width || y < 0 || y >= c->height) return;
    int down = c->height - 1 - y, dots_x = c->width / c->columns, dots_y = c->height / c->rows;
    at_cell *cell = &c->cells[down / dots_y * c->columns + x / dots_x];
    if (c->braille) cell->dots |= bits[down % 4][x % 2];
    cell->letter = letter;
    cell->style = style;
}

void at_canvas_line(at_canvas *c, int x0, int y0, int x1, int y1, char letter, at_style style) {
    int dx = (x1 > x0) - (x1 < x0), dy = (y1 > y0) - (y1 < y0);
    at_canvas_dot(c, x0, y0, letter, style);
    while (x0 != x1 || y0 != y1) {
        x0 += dx;
        y0 += dy;
        at_canvas_dot(c, x0, y0, letter, style);
    }
}

static void add_cell(at_text *out, const at_canvas *c, const at_cell *cell) {
    if (!cell->letter) at_text_add(out, " ");
    else if (c->braille)
        at_text_addf(out, "\xe2%c%c", 0xa0 | cell->dots >> 6, 0x80 | (cell->dots & 0x3f));
    else at_text_addn(out, &cell->letter, 1);
}

void at_canvas_print_row(at_text *out, const at_canvas *c, int row) {
    const at_cell *cells = c->cells + row * c->columns;
    int n = c->columns;
    at_style style = AT_STYLE_NONE;
    while (n > 0 && !cells[n - 1].letter) n--;
    for (int i = 0; i < n; i++) {
        if (cells[i].letter && cells[i].style != style) {
            if (style != AT_STYLE_NONE) at_text_add_style(out, AT_STYLE_NONE);
            at_text_add_style(out, style = cells[i].style);
        }
        add_cell(out, c, &cells[i]);
    }
    if (style != AT_STYLE_NONE) at_text_add_style(out, AT_STYLE_NONE);
}
