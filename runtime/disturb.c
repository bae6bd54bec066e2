/* runtime/disturb.c: was a sample disturbed? Seen are: other threads that got the core, time that
 * the hypervisor has stolen, and a clock that changed meanwhile. */
#include "runtime/arch.h"
#include "runtime/inside.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* The same spin varies by 0.3 % on a quiet core; a core that changes its clock does so by steps of
 * 100 MHz, 2.5 to 5 %. */
#define DRIFT 0.02
#define FRESH_NS 30000
/* Of the sample's duration: what may pass without the thread running (interrupts are counted as
 * its own time by most kernels), be stolen, or be spent on filling the caches again after another
 * thread had the core. */
#define AWAY 0.01
/* A sample as long as that loses more than 1 % to whatever else runs on most machines, each time
 * anew; and its clock has settled, whatever it was before. */
#define LONG_NS 100000000
#define AWAY_LONG 0.05
#define AWAY_NS 3000      /* two readings of the clocks */
#define REFILL_NS 100000  /* a second-level cache of 1 MB at 10 GB/s */
#define SWITCH_NS 10000   /* how far off the system is when it says how long a thread waited */
#define TICK_NS 10000000  /* of /proc/stat */
#define DEAR_STEAL 50000  /* ns; a machine where reading /proc/stat takes longer goes without */
#define STAT_BYTES 262144 /* 4,096 CPUs */

static struct {
    int fd; /* of /proc/stat, -1: not used */
    char label[16];
    char *text;
} steal = {.fd = -1};

static int queue_fd = -1; /* of the worker's /proc/thread-self/schedstat, -1: not used */

static int64_t spin_ns(int vector_set) {
    const at_spin *spin = &at_arch_sets[vector_set].spin;
    int64_t start = at_now_ns();
    spin->chain(spin->chain_steps);
    return at_now_ns() - start;
}

static struct {
    int vector_set;
    int64_t clock_ns, at_ns;
} last;

/* Interrupts, cold code and the change to another clock lengthen a spin: the fastest of three. */
static int64_t clock_ns(int vector_set) {
    int64_t ns = INT64_MAX;
    for (int i = 0; i < 3; i++) {
        int64_t again = spin_ns(vector_set);
        if (again < ns) ns = again;
    }
    last.vector_set = vector_set;
    last.clock_ns = ns;
    last.at_ns = at_now_ns();
    return ns;
}

static int64_t thread_time_ns(void) {
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t)) return 0;
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static long times_preempted(int threads) {
    struct rusage u;
    return getrusage(threads > 1 ? RUSAGE_SELF : RUSAGE_THREAD, &u) ? 0 : u.ru_nivcsw;
}

/* Ticks (10 ms each) that the hypervisor gave to others while this CPU had work: the eighth number
 * of its line. */
static long stolen_ticks(void) {
    if (steal.fd < 0) return 0;
    ssize_t n = pread(steal.fd, steal.text, STAT_BYTES - 1, 0);
    if (n <= 0) return 0;
    steal.text[n] = 0;
    char *p = strstr(steal.text, steal.label);
    if (!p) return 0;
    p += strlen(steal.label);
    long value = 0;
    for (int i = 0; i < 8; i++) value = strtol(p, &p, 10);
    return value;
}

static at_queue thread_queue(void) {
    char text[64], *p = text;
    ssize_t n = queue_fd < 0 ? -1 : pread(queue_fd, text, sizeof text - 1, 0);
    if (n <= 0) return (at_queue){0};
    text[n] = 0;
    strtoll(p, &p, 10); /* the time on its core, which lacks what the hypervisor has taken */
    int64_t waited_ns = strtoll(p, &p, 10);
    return (at_queue){waited_ns, strtoll(p, &p, 10)};
}

void at_watch_init(int cpu) {
    queue_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    snprintf(steal.label, sizeof steal.label, "cpu%d ", cpu);
    steal.text = malloc(STAT_BYTES);
    steal.fd = steal.text ? open("/proc/stat", O_RDONLY | O_CLOEXEC) : -1;
    stolen_ticks();
    int64_t start = at_now_ns();
    stolen_ticks();
    if (at_now_ns() - start < DEAR_STEAL || steal.fd < 0) return;
    close(steal.fd);
    steal.fd = -1;
}

static int64_t process_preempted(void) { return times_preempted(2); }

const at_clock at_machine_clock = {at_now_ns,         thread_time_ns, thread_queue,
                                   process_preempted, at_coarse_ns,   at_coarse_step_ns};

at_absence at_absence_begin(const at_clock *clock, int threads, bool closely) {
    at_absence a = {.clock = clock, .threads = threads, .closely = closely && threads == 1};
    if (a.closely) a.queue = clock->queue();
    if (threads > 1) a.preempted = clock->preempted();
    else a.thread_ns = clock->thread_ns();
    a.begin_ns = clock->now_ns();
    return a;
}

static void look_closely(const at_absence *a, at_queue now, at_passed *p) {
    int64_t there_ns = p->ns - (now.waited_ns - a->queue.waited_ns);
    int64_t error_ns = SWITCH_NS * (now.times - a->queue.times);
    if (there_ns >= p->ns || there_ns <= 0 || error_ns <= 0) return;
    p->least_ns = there_ns - error_ns;
    if (there_ns + error_ns < p->ns) p->most_ns = there_ns + error_ns;
}

/* All that is missing on the thread's clock is what it waited for its core, which is known well
 * enough, and filling the caches again took no longer than that matters. */
static bool is_accounted_for(const at_absence *a, at_queue now, int64_t thread_ns,
                             const at_passed *p) {
    const double little_ns = AWAY * (double)p->most_ns;
    return p->most_ns < p->ns && REFILL_NS * (double)(now.times - a->queue.times) < little_ns &&
           fabs((double)(p->most_ns - thread_ns)) < little_ns;
}

at_passed at_absence_end(const at_absence *a) {
    int64_t ns = a->clock->now_ns() - a->begin_ns;
    at_passed p = {.ns = ns, .least_ns = ns, .most_ns = ns};
    if (a->threads > 1) {
        p.disturbed = ns <= 0 || a->clock->preempted() != a->preempted;
        return p;
    }
    /* They disagree, whichever is ahead; or a clock has gone back. */
    int64_t thread_ns = a->clock->thread_ns() - a->thread_ns;
    int64_t away_ns = ns > thread_ns ? ns - thread_ns : thread_ns - ns;
    p.disturbed = ns <= 0 || (away_ns > AWAY_NS && (double)away_ns > AWAY * (double)ns);
    if (p.disturbed && a->closely) {
        const at_queue now = a->clock->queue();
        look_closely(a, now, &p);
        p.disturbed = !is_accounted_for(a, now, thread_ns, &p);
        if (!p.disturbed) p.ns = p.most_ns;
    }
    if (thread_ns > p.most_ns) p.most_ns = thread_ns;
    return p;
}

void at_watch_begin(at_watch *w, int vector_set, int threads) {
    *w = (at_watch){.vector_set = vector_set, .threads = threads};
    w->stolen = stolen_ticks();
    w->preempted = times_preempted(threads);
    /* The end of one sample is the beginning of the next. */
    bool fresh =
        last.vector_set == vector_set && last.clock_ns > 0 && at_now_ns() - last.at_ns < FRESH_NS;
    w->clock_ns = fresh ? last.clock_ns : clock_ns(vector_set);
    w->thread_ns = thread_time_ns();
}

bool at_watch_end(const at_watch *w, int64_t ns) {
    /* A thread that waits for others at the end of a loop may sleep. */
    int64_t away_ns = w->threads > 1 ? 0 : ns - (thread_time_ns() - w->thread_ns);
    int64_t refill_ns = REFILL_NS * (times_preempted(w->threads) - w->preempted);
    int64_t stolen_ns = TICK_NS * (stolen_ticks() - w->stolen);
    int64_t now_ns = clock_ns(w->vector_set), before_ns = w->clock_ns;
    int64_t change_ns = now_ns > before_ns ? now_ns - before_ns : before_ns - now_ns;
    bool is_long = ns >= LONG_NS;
    double most_ns = (is_long ? AWAY_LONG : AWAY) * (double)ns;
    return (double)refill_ns > most_ns || (double)stolen_ns > most_ns ||
           (away_ns > AWAY_NS && (double)away_ns > most_ns) ||
           (!is_long && (double)change_ns > DRIFT * (double)before_ns);
}

bool at_was_stolen(void) {
    static long before;
    long now = stolen_ticks();
    bool was = now != before;
    before = now;
    return was;
}
