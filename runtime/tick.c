/* runtime/tick.c: the timer's interrupt. Some hundred times a second it takes a core for 3 to 25
 * microseconds, a third of a short block, and what it puts out of the caches costs as much again.
 * The system counts that as the thread's own time. When it comes is known: the coarse clock goes on
 * by steps with it. That clock is one core's, which may sleep, and then misses steps; this core's
 * interrupts come all the same. */
#include "runtime/inside.h"

#include <time.h>

#define MARGIN_NS 10000  /* what lasts until then is too close to it */
#define OVER_NS 20000    /* behind a step; what takes longer delays the waiting itself */
#define FORGET_NS 10     /* the clocks drift */
enum { MOST_STEPS = 2 }; /* the longest wait for a step: a sleeping core misses some */

int64_t at_coarse_ns(void) {
    struct timespec t;
    return clock_gettime(CLOCK_MONOTONIC_COARSE, &t) ? 0 : t.tv_sec * NS_PER_S + t.tv_nsec;
}

int64_t at_coarse_step_ns(void) {
    struct timespec t;
    return clock_getres(CLOCK_MONOTONIC_COARSE, &t) ? 0 : t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int64_t age_ns(const at_clock *c) { return c->now_ns() - c->coarse_ns(); }

void at_stay(const at_clock *c, int64_t ns) {
    int64_t end_ns = c->now_ns() + ns;
    while (c->now_ns() < end_ns) {
    }
}

/* Waits for a step: who asks behind long blocks only may never do so right behind one. */
static at_tick look_for(const at_clock *c) {
    at_tick t = {.step_ns = c->coarse_step_ns()};
    const int64_t begun_ns = c->now_ns(), before = c->coarse_ns();
    t.least_age_ns = age_ns(c);
    while (c->coarse_ns() == before && c->now_ns() - begun_ns < MOST_STEPS * t.step_ns) {
    }
    const int64_t age = age_ns(c);
    if (age < t.least_age_ns) t.least_age_ns = age;
    return t;
}

void at_tick_avoid(const at_clock *c, at_tick *t, double ns, int fits) {
    if (!c->coarse_ns) return;
    if (!t->step_ns) *t = look_for(c);
    if (fits * ns + MARGIN_NS + OVER_NS > (double)t->step_ns) return;
    /* Right behind a step the coarse clock is late by what it is always late by. */
    int64_t age = age_ns(c), step = t->step_ns;
    t->least_age_ns += FORGET_NS;
    if (age < t->least_age_ns) t->least_age_ns = age;
    int64_t since = (age - t->least_age_ns) % step;
    if ((double)(since + MARGIN_NS) + ns > (double)step) at_stay(c, step - since + OVER_NS);
}
