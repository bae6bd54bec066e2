/* schedule/data/data_wholes.c: which integers data are (data.h): all values of a type, its least
 * and largest among them, or fewer of them about a number. */
#include <math.h>

#include "schedule/data/data.h"

/* Of what 32 bits hold in an input: most are small, so that they do not hide the sum beside them;
 * the extremes are those that ranges are proved with. */
enum { USUAL_S32 = 1 << 12 };
enum { COARSE_S32 = 1 << 15 }; /* of which neighbours shall differ, too */

/* The end, so many times as far from the centre; one step from it at least. */
static int64_t nearer(double centre, int64_t end, double times) {
    const double by = ((double)end - centre) * times;
    return (int64_t)(centre + (by > 0 ? fmax(1, floor(by)) : by < 0 ? fmin(-1, ceil(by)) : 0));
}

/* The numbers from lo to hi that are the centre and so many steps less or more. */
static void take_steps(at_wholes *w, int64_t centre, int64_t step, int64_t least) {
    int64_t less = (centre - w->lo) / step, more = (w->hi - centre) / step;
    if (less < least && centre - step * least >= w->least) less = least;
    if (more < least && centre + step * least <= w->most) more = least;
    w->least = centre - (centre - w->least) / step * step;
    w->most = centre + (w->most - centre) / step * step;
    w->lo = centre - less * step, w->hi = centre + more * step;
    w->step = step;
}

at_wholes at_data_wholes(at_type type, const at_fill *f) {
    const at_type_facts *x = at_type_of(type);
    const int64_t most = (int64_t)AT_MOST_GIVEN, lo = (int64_t)x->least, hi = (int64_t)x->most;
    at_wholes w = {.lo = lo, .hi = hi, .least = lo, .most = hi, .step = 1};
    const int64_t usual = f->coarse ? COARSE_S32 : USUAL_S32, centre = (int64_t)f->centre;
    if (type == AT_BOOL) return w;
    if (type == AT_S32) w = (at_wholes){-usual, usual, .least = -most, .most = most, .step = 1};
    const bool is_near = f->unit < 1 || f->step > 0;
    if (f->step > 0) w.lo = w.hi = centre;
    else if (f->unit < 1) {
        w.lo = nearer(f->centre, w.lo, f->unit);
        w.hi = nearer(f->centre, w.hi, f->unit);
    }
    w.has_less = f->coarse && type == AT_S32; /* some sums are just below a half then */
    take_steps(&w, centre, f->step > 0 ? f->step : (int64_t)1 << f->coarse, is_near);
    if (is_near) w.least = w.lo, w.most = w.hi;
    return w;
}

at_wholes at_data_wholes_of(const at_tensor *t, const at_index_range *r, const at_fill *f) {
    if (t->role != AT_ROLE_INDEX) return at_data_wholes(t->type, f);
    return (at_wholes){.lo = r->lo, .hi = r->hi, .least = r->lo, .most = r->hi, .step = 1};
}
