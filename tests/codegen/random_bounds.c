/* tests/codegen/random_bounds.c: random stages that read by bounded indices, as at the border of a
 * picture. */
#include "tests/codegen/random_make.h"

#include <string.h>

/* Of a dimension of @ elements, around place #, which may lie beyond either end. */
static const char *const forms[] = {"min(max(#, 0), @ - 1)",
                                    "max(0, min(@ - 1, #))",
                                    "max(min(# + 1, @ - 1), 0)",
                                    "min(max(# - 11, 0), @ - 1)",
                                    "min(max(# + @, 0), @ - 1)",
                                    "@ - 1 - min(max(#, 0), @ - 1)",
                                    "min(max(#/2, 0), @ - 1)",
                                    "min(max(max(#, -(#)), 0), @ - 1)",
                                    "(min(max(#, 0), @ - 1) + 1) % (@)"};

/* Some dimensions by places along an axis in steps, or in windows, each bounded. */
int bounds_stage(maker *m, int src) {
    at_text body = {0};
    int s = begin_stage(m, "edge"), rank = m->tensor[src].rank, classes[RANK], taps[RANK], num = 0;
    char index[RANK][RP_EXPR], extent[RP_EXPR], place[RP_EXPR], taken[RP_EXPR];
    char step[RP_NAME], before[RP_NAME];
    int sure = below(m, rank);
    for (int d = 0; d < rank; d++) {
        classes[d] = class_of_dim(m, s, src, d);
        if (d != sure && chance(m, 40)) {
            add_axis(m, s, classes[d], false);
            snprintf(index[d], RP_EXPR, "%s", axis_of(m, classes[d]));
            continue;
        }
        small_size(m, "S", 1 + chance(m, 30), step);
        small_size(m, "P", 1 + below(m, 3), before);
        const char *form = chance(m, 60) ? "@ + #" : chance(m, 80) ? "@" : "#";
        substitute(m, extent, form, m->tensor[src].extent[d], before);
        int c = new_class(m, "e", extent, NULL);
        add_axis(m, s, c, false);
        substitute(m, taken, "@*#", axis_of(m, c), step);
        substitute(m, place, "@ - #", taken, before);
        if (num < 2 && chance(m, 40)) {
            char width[RP_NAME];
            small_size(m, "K", 1 + below(m, 4), width);
            taps[num] = new_class(m, "k", width, NULL);
            memcpy(taken, place, sizeof taken);
            substitute(m, place, "@ + #", taken, axis_of(m, taps[num++]));
        }
        substitute(m, index[d], forms[below(m, (int)(sizeof forms / sizeof *forms))],
                   m->tensor[src].extent[d], place);
        classes[d] = -1;
    }
    for (int i = 0; i < num; i++) add_axis(m, s, taps[i], true);
    read_tensor(m, s, src, index, classes, &body);
    if (num && chance(m, 70)) {
        at_text_add(&body, "*");
        read_plain(m, s, add_operand(m, "w", 40, num, taps), taps, &body);
    } else if (!num && chance(m, 50)) { /* and once more */
        at_text_add(&body, " - 2*");
        read_tensor(m, s, src, index, classes, &body);
    }
    if (num) choose_reduction(m, s, 15);
    finish_stage(m, s, &body, NULL);
    return s;
}
