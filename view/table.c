/* view/table.c: texts in columns, and in lines. */
#include "view/view.h"

#include <string.h>

void at_table_add(at_table *t, const char *cell) {
    *at_push(t->arena, &t->cells) = at_visible(t->arena, cell);
}

/* Of each column; the first has what the others leave, and a label that is longer stands in a line
 * of its own. */
static int *widths(const at_table *t) {
    enum { MOST = 100, LEAST_LABEL = 16, LAST = 8 /* which is not filled up */ };
    int *width = AT_NEW_ARRAY(t->arena, int, t->columns), others = 0;
    for (int i = 0; i < t->cells.len; i++) {
        int n = (int)strlen(t->cells.data[i]);
        if (n > width[i % t->columns]) width[i % t->columns] = n;
    }
    for (int i = 1; i < t->columns; i++)
        others += 2 + (i == t->columns - 1 && width[i] > LAST ? LAST : width[i]);
    const int left = MOST - others > LEAST_LABEL ? MOST - others : LEAST_LABEL;
    if (width[0] <= left) return width;
    width[0] = 0;
    for (int i = 0; i < t->cells.len; i += t->columns) {
        int n = (int)strlen(t->cells.data[i]);
        if (n > width[0] && n <= left) width[0] = n;
    }
    return width;
}

void at_table_print(at_text *out, const at_table *t) {
    const int *width = widths(t);
    for (int i = 0; i < t->cells.len; i++) {
        int column = i % t->columns;
        const char *cell = t->cells.data[i];
        if (!column && (int)strlen(cell) > width[0]) {
            at_text_addf(out, "%s\n", cell);
            cell = "";
        }
        if (column < t->columns - 1) {
            if (column) at_text_add(out, "  ");
            at_text_addf(out, "%*s", column ? width[column] : -width[0], cell);
            continue;
        }
        if (*t->cells.data[i]) at_text_addf(out, "  %s", t->cells.data[i]);
        at_text_add(out, "\n");
    }
}

void at_text_add_words(at_text *out, int column, const char *words) {
    enum { WIDTH = 96 };
    int at = column;
    while (*words) {
        int n = (int)strcspn(words, " ");
        if (at > column && at + 1 + n > WIDTH) at_text_addf(out, "\n%*s", column, ""), at = column;
        at_text_addf(out, "%s%.*s", at > column ? " " : "", n, words);
        at += n + (at > column);
        words += n + strspn(words + n, " ");
    }
    at_text_add(out, "\n");
}
