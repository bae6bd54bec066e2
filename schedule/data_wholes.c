/* schedule/data_wholes.c: which integers data are (data.h): all values of a type, its least and
 * largest among them, or fewer of them about a number. */
#include <math.h>

#include "schedule/data.h"

/* Of what 32 bits hold in an input: most are small, so that they do not hide the sum beside them;
 * the extremes are those that ranges are proved with. */
enum { USUAL_S32 = 1 << 12 };
/* Steps of coarse integers: sums of products of bytes are multiples of 256, as are those of 32 bits
 * that are added to them, of which neighbours shall differ. */
enum { COARSE_BYTE = 1 << 4, COARSE_OTHER = 1 << 8, COARSE_S32 = 1 << 15 };

/* The end, so many times as far from the centre; one step from it at least. */
static int64_t nearer(double centre, int64_t end, double times) {
    const double by = ((double)end - centre) * times;
    return (int64_t)(centre + (by > 0 ? fmax(1, floor(by)) : by < 0 ? fmin(-1, ceil(by)) : 0));
}

at_wholes at_data_wholes(at_type type, bool is_coarse, const at_fill *f) {
    const at_type_facts *x = at_type_of(type);
    const int64_t most = (int64_t)AT_MOST_GIVEN, lo = (int64_t)x->least, hi = (int64_t)x->most;
    at_wholes w = {.lo = lo, .hi = hi, .least = lo, .most = hi, .step = 1};
    const int64_t usual = is_coarse ? COARSE_S32 : USUAL_S32;
    if (type == AT_S32) w = (at_wholes){-usual, usual, .least = -most, .most = most, .step = 1};
    if (f->unit < 1 && type != AT_BOOL) {
        w.lo = w.least = nearer(f->centre, lo < -usual ? -usual : lo, f->unit);
        w.hi = w.most = nearer(f->centre, hi > usual ? usual : hi, f->unit);
        return w;
    }
    if (!is_coarse || type == AT_BOOL) return w;
    w.step = at_type_bytes(type) == 1 ? COARSE_BYTE : COARSE_OTHER;
    w.hi -= w.hi % w.step, w.most -= w.most % w.step, w.least -= w.least % w.step;
    return w;
}

at_wholes at_data_wholes_of(const at_tensor *t, const at_index_range *r, bool is_coarse,
                            const at_fill *f) {
    if (t->role != AT_ROLE_INDEX) return at_data_wholes(t->type, is_coarse, f);
    return (at_wholes){.lo = r->lo, .hi = r->hi, .least = r->lo, .most = r->hi, .step = 1};
}
