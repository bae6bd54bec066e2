/* knobs/listed.c: spaces whose valid points are a list. */
#include "knobs/knobs_int.h"

#include <stdlib.h>

void at_space_only(at_space *s, const int64_t *indices, int64_t n) {
    int64_t *only = at_copy(s->arena, indices, sizeof *only * (size_t)n), kept = 0;
    qsort(only, (size_t)n, sizeof *only, at_compare_ints);
    AT_ASSERT(n > 0 && only[0] >= 0 && only[n - 1] < s->range);
    for (int64_t i = 0; i < n; i++)
        if (!kept || only[kept - 1] != only[i]) only[kept++] = only[i];
    s->only = only;
    s->num_only = s->len = kept;
}

/* ---- asking --------------------------------------------------------------------------------- */

int64_t at_space_num_places(const at_space *s) { return s->only ? s->num_only : s->range; }

int64_t at_space_place(const at_space *s, int64_t index) {
    if (!s->only) return index;
    int64_t low = 0, high = s->num_only;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (s->only[middle] < index) low = middle + 1;
        else high = middle;
    }
    return low;
}

int64_t at_space_at_place(const at_space *s, int64_t place) {
    AT_ASSERT(place >= 0 && place < at_space_num_places(s));
    return s->only ? s->only[place] : at_space_mend(s, place);
}

bool at_only_holds(const at_space *s, int64_t index) {
    int64_t place = at_space_place(s, index);
    return place < s->num_only && s->only[place] == index;
}

/* As at_space_next. */
int64_t at_only_next(const at_space *s, int64_t index, int64_t n, int64_t begin, int64_t end) {
    int64_t place = at_space_place(s, index), to;
    if (n > 0 && !at_only_holds(s, index)) place--; /* it is before this place */
    if (__builtin_add_overflow(place, n, &to) || to < 0 || to >= s->num_only) return -1;
    return s->only[to] >= begin && s->only[to] < end ? s->only[to] : -1;
}
