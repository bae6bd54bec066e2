/* view/table.c: texts in columns. */
#include "view/view.h"

#include <string.h>

void at_table_add(at_table *t, const char *cell) {
    *at_push(t->arena, &t->cells) = at_visible(t->arena, cell);
}

void at_table_print(at_text *out, const at_table *t) {
    int *width = AT_NEW_ARRAY(t->arena, int, t->columns);
    for (int i = 0; i < t->cells.len; i++) {
        int n = (int)strlen(t->cells.data[i]);
        if (n > width[i % t->columns]) width[i % t->columns] = n;
    }
    for (int i = 0; i < t->cells.len; i++) {
        int column = i % t->columns;
        if (column < t->columns - 1) {
            if (column) at_text_add(out, "  ");
            at_text_addf(out, "%*s", column ? width[column] : -width[0], t->cells.data[i]);
            continue;
        }
        if (*t->cells.data[i]) at_text_addf(out, "  %s", t->cells.data[i]);
        at_text_add(out, "\n");
    }
}
