/* Pairs on a clock that stands still but for what the kernels and the watching of it take: blocks,
 * the run ahead of them that does not count, which of the two comes first, the pause between narrow
 * and wide code, brackets, when there are no more pairs, and what disturbs them. The kernels are
 * functions of this program that write down when they ran. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/inside.h"

#include <string.h>

enum { MOST = 20000 };

typedef struct fake { /* a kernel */
    int64_t ns;       /* of a run */
    int64_t first_ns; /* more, of one that comes after the other kernel */
} fake;

static int64_t reading_ns = 20; /* of the clock */
static int64_t now_ns, away_ns; /* away: of the wall's time, not the thread's */
static at_queue queue;
static int64_t preempted;
static const fake *ran[MOST]; /* in order */
static int64_t begun_ns[MOST], ended_ns[MOST];
static int num_ran;
static const fake *away_in; /* while it runs the thread is away */

/* What may happen in a run, each a bit. */
enum {
    SWITCHED = 1,  /* another thread of this machine has the core, which the system knows roughly */
    STOLEN = 2,    /* another machine has it */
    TOLD_LATE = 4, /* that is taken off the thread's clock later than it was */
    BACK = 8,      /* the clock goes back */
    PREEMPTED = 16, /* one of several threads loses its core */
    HAPPENINGS = 5
};
static unsigned happens; /* of these, one at random in each run */
static const fake
    *slow_in; /* of so many more runs each takes twice as long, which no clock tells */
static int slow_runs;
static at_rng luck;
static int64_t refill_ns; /* that a run takes longer once another thread had the core */
/* What probes are compared with from the n-th look on: so little that it is reached, or too much.
 */
static const at_reach reach_of[] = {
    [AT_STATE_ALONE] = {1e-9, 1e-9}, [AT_STATE_COMPANY] = {1e9, 1e9}};
static at_reach *reach_now;   /* of the job */
static const at_state *looks; /* in turn, again and again; NULL: none */
static int num_looks;
static int64_t alone_from_ns; /* probes see nobody from then on; 0: that hangs on looks */

static int64_t wall(void) {
    now_ns += reading_ns;
    if (alone_from_ns && now_ns >= alone_from_ns) *reach_now = reach_of[AT_STATE_ALONE];
    return now_ns;
}
static int64_t thread(void) { return now_ns - away_ns; }
static at_queue waited(void) { return queue; }
static int64_t preemptions(void) { return preempted; }
/* Every four milliseconds, late by one; what runs then takes longer. */
enum { STEP_NS = 4000000, LATE_NS = 1000000, INTERRUPT_NS = 13000 };
static bool interrupts;
static int64_t steps(void) { return (now_ns - LATE_NS) / STEP_NS; }
static int64_t coarse_every = 1; /* steps: the core that moves the coarse clock on sleeps between */
static int64_t coarse(void) { return steps() / coarse_every * coarse_every * STEP_NS; }
static int64_t coarse_step(void) { return STEP_NS; }
static const at_clock clock = {.now_ns = wall,
                               .thread_ns = thread,
                               .queue = waited,
                               .preempted = preemptions,
                               .coarse_ns = coarse,
                               .coarse_step_ns = coarse_step};

static void happen(int64_t run_ns) {
    unsigned what = happens & 1u << at_rng_below(&luck, HAPPENINGS);
    int64_t ns = 10000 + (int64_t)at_rng_below(&luck, 5000000);
    int64_t error_ns = (int64_t)at_rng_below(&luck, 12000) - 6000;
    if (what == SWITCHED) {
        now_ns += ns + refill_ns, away_ns += ns + error_ns;
        queue.waited_ns += ns + error_ns, queue.times++;
    }
    if (what == STOLEN) now_ns += ns, away_ns += ns;
    if (what == TOLD_LATE) away_ns += run_ns / 2;
    if (what == BACK) now_ns -= run_ns / 2, away_ns -= run_ns / 2;
    if (what == PREEMPTED) now_ns += ns, preempted++;
}

static int run(void *const buf[], void *workspace, at_par *par) {
    const fake *f = workspace;
    (void)buf, (void)par;
    assert_true(num_ran < MOST);
    bool is_first = num_ran && ran[num_ran - 1] != f; /* the check run was its own */
    ran[num_ran] = f;
    begun_ns[num_ran] = now_ns;
    int64_t before = steps();
    now_ns += f->ns + (is_first ? f->first_ns : 0);
    if (interrupts && steps() != before) now_ns += INTERRUPT_NS;
    if (away_in == f) now_ns += 10000000, away_ns += 10000000;
    if (slow_in == f && slow_runs-- > 0) now_ns += f->ns;
    if (happens) happen(f->ns);
    ended_ns[num_ran++] = now_ns;
    if (looks) *reach_now = reach_of[looks[num_ran / 2 % num_looks]];
    return 0;
}

static int run_too(void *const buf[], void *workspace, at_par *par) {
    return run(buf, workspace, par);
}

static at_outcome out;
static at_job anchor_job;
static at_anchor anchor;
static int64_t left_ns; /* until it is late; 0: it never is */

/* Pairs of a kernel of so many nanoseconds beside an anchor of so many. */
static void time_pairs(fake *kernel, fake *of_anchor, at_job job) {
    at_run r = {.clock = &clock, .entry = run, .workspace = kernel, .par.threads = 1};
    anchor = (at_anchor){.job = &anchor_job,
                         .beside = {.clock = &clock, .entry = run_too, .workspace = of_anchor},
                         .run_ns = (double)of_anchor->ns};
    r.par.threads = anchor.beside.par.threads = job.threads > 1 ? job.threads : 1;
    r.vector_set = anchor.beside.vector_set = job.vector_set;
    if (left_ns) r.late_ns = now_ns + left_ns;
    memset(&out, 0, sizeof out);
    num_ran = 0;
    reach_now = &job.reach;
    if (looks) job.reach = reach_of[looks[0]];
    at_run_time check = {.ns = kernel->ns + kernel->first_ns};
    assert_int_equal(at_time_pairs(&r, &anchor, &job, check, &out), 0);
}

static const at_job ten = {.pairs = 10, .to_the_end = true, .pair_seed = 3};

/* One run each, and no other; the time of each is its own. */
static void long_kernels(void **state) {
    (void)state;
    fake k = {.ns = 2000000}, a = {.ns = 1000000};
    time_pairs(&k, &a, ten);
    assert_int_equal(out.num_pairs, 10);
    assert_int_equal(num_ran, 20);
    for (int i = 0; i < 10; i++) {
        assert_ptr_not_equal(ran[2 * i], ran[2 * i + 1]);
        assert_float_equal(out.pairs[i].time_s, 2e-3, 1e-7);
        assert_float_equal(out.pairs[i].anchor_s, 1e-3, 1e-7);
    }
    assert_false(out.is_bracketed);
}

/* No pair is begun, and none repeated, that would end late; one there is. */
static void near_the_limit(void **state) {
    (void)state;
    const int64_t run_ns = 500000000;
    static const struct {
        int runs, pairs, disturbed, kept;
        bool away;
    } cases[] = {
        {1, 1, 0, 0, false},    {5, 2, 0, 0, false}, {7, 3, 0, 0, false},
        {100, 10, 0, 0, false}, {1, 1, 0, 1, true},  {7, 3, 0, 3, true},
    };
    fake k = {.ns = run_ns}, a = {.ns = run_ns};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        left_ns = cases[i].runs * run_ns;
        away_in = cases[i].away ? &k : NULL;
        time_pairs(&k, &a, ten);
        assert_int_equal(out.num_pairs, cases[i].pairs);
        assert_int_equal(out.disturbed, cases[i].disturbed);
        assert_int_equal(out.disturbed_kept, cases[i].kept);
    }
    left_ns = 0;
    away_in = NULL;
}

/* A clock that takes a microsecond to read is no part of a kernel that takes less. */
static void slow_clock(void **state) {
    (void)state;
    fake k = {.ns = 130, .first_ns = 1000}, a = {.ns = 200};
    reading_ns = 1000;
    time_pairs(&k, &a, ten);
    for (int i = 0; i < 10; i++) {
        assert_float_equal(out.pairs[i].time_s, 130e-9, 5e-9);
        assert_float_equal(out.pairs[i].anchor_s, 200e-9, 7e-9);
    }
    /* A run of it with the clock's reading takes three times the anchor, without it less. */
    time_pairs(&k, &a, (at_job){.pairs = 3});
    assert_false(out.at_least);
    assert_int_equal(out.num_pairs, 11); /* since it seems much faster */
    fake behind = {.ns = 900};
    time_pairs(&behind, &a, (at_job){.pairs = 3});
    assert_true(out.at_least);
    reading_ns = 20;
}

/* Blocks of 50 microseconds whose first run, which finds the other's caches, does not count. */
static void short_kernels(void **state) {
    (void)state;
    fake k = {.ns = 10000, .first_ns = 7000}, a = {.ns = 10000, .first_ns = 7000};
    time_pairs(&k, &a, ten);
    assert_int_equal(out.num_pairs, 10);
    for (int i = 0; i < 10; i++) {
        assert_float_equal(out.pairs[i].time_s, 10e-6, 0.1e-6);
        assert_float_equal(out.pairs[i].anchor_s, 10e-6, 0.1e-6);
    }
    /* Behind the one that tells how short it is each block: one run ahead, and runs that last as
     * long as a block. */
    int length = 0, blocks = 0;
    assert_ptr_equal(ran[0], &k);
    for (int i = 2; i <= num_ran; i++) {
        length++;
        if (i < num_ran && ran[i] == ran[i - 1]) continue;
        assert_true(length >= 6);
        length = 0;
        blocks++;
    }
    assert_true(blocks >= 11 &&
                blocks <= 21); /* of neighbours that are the same one they are one */
}

/* What is estimated to take a little more or less than a block is treated as the other is. */
static void on_the_border(void **state) {
    (void)state;
    fake k = {.ns = 50400, .first_ns = 3000}, a = {.ns = 49600, .first_ns = 3000};
    time_pairs(&k, &a, ten);
    for (int i = 0; i < 10; i++) {
        assert_float_equal(out.pairs[i].time_s, 50.4e-6, 0.1e-6);
        assert_float_equal(out.pairs[i].anchor_s, 49.6e-6, 0.1e-6);
    }
    int of_kernel = 0, of_anchor = 0;
    for (int i = 0; i < num_ran; i++) *(ran[i] == &k ? &of_kernel : &of_anchor) += 1;
    assert_int_equal(of_kernel, of_anchor);
}

/* Which comes first: of the seed, in about half of the pairs, and in no fixed turn. */
static void order_is_drawn(void **state) {
    (void)state;
    fake k = {.ns = 1000000}, a = {.ns = 1000000};
    at_job job = ten;
    bool first[2][200];
    job.pairs = 200;
    for (int again = 0; again < 2; again++) {
        time_pairs(&k, &a, job);
        assert_int_equal(num_ran, 400);
        for (int i = 0; i < 200; i++) first[again][i] = ran[2 * i] == &k;
    }
    assert_memory_equal(first[0], first[1], sizeof first[0]);
    int firsts = 0, changes = 0;
    for (int i = 0; i < 200; i++) {
        firsts += first[0][i];
        changes += i && first[0][i] != first[0][i - 1];
    }
    assert_in_range(firsts, 70, 130);
    assert_in_range(changes, 70, 130);
    job.pair_seed = 4;
    time_pairs(&k, &a, job);
    for (int i = 0; i < 200; i++) first[1][i] = ran[2 * i] == &k;
    assert_true(memcmp(first[0], first[1], sizeof first[0]) != 0);
}

/* Code of another vector set: 40 microseconds lie before each of the two. */
static void sets_are_kept_apart(void **state) {
    (void)state;
    fake k = {.ns = 60000}, a = {.ns = 60000};
    at_job job = ten;
    for (int other = 0; other < 2; other++) {
        anchor_job.vector_set = 0;
        job.vector_set = other;
        now_ns = 10 * STEP_NS; /* all are over before the next interrupt */
        time_pairs(&k, &a, job);
        assert_int_equal(num_ran, 20);
        for (int i = 1; i < num_ran; i++)
            assert_true((begun_ns[i] - ended_ns[i - 1] >= 40000) == (other == 1));
        assert_float_equal(out.pairs[3].time_s, 60e-6, 1e-7); /* the pause is in no time */
        assert_float_equal(out.pairs[3].anchor_s, 60e-6, 1e-7);
    }
}

/* Over 20 runs of the anchor: blocks of it before and after, and the result says so. */
static void slow_ones_are_bracketed(void **state) {
    (void)state;
    fake k = {.ns = 21000000}, a = {.ns = 1000000}, not_yet = {.ns = 19000000};
    time_pairs(&not_yet, &a, ten);
    assert_false(out.is_bracketed);
    time_pairs(&k, &a, ten);
    assert_true(out.is_bracketed);
    assert_int_equal(num_ran, 10 * 7);
    for (int i = 0; i < num_ran; i++) assert_true((ran[i] == &k) == (i % 7 == 3));
    for (int i = 0; i < 10; i++)
        assert_float_equal(out.pairs[i].time_s / out.pairs[i].anchor_s, 21, 1e-3);
}

/* A pair during which the thread was away is not counted, as often as that is bearable. Then it is
 * the kernel's loss, since only the system's own account tells an absence from work. */
static void absences_do_not_count(void **state) {
    (void)state;
    fake k = {.ns = 3000000}, a = {.ns = 3000000};
    away_in = &k;
    time_pairs(&k, &a, ten);
    assert_int_equal(out.num_pairs, 10);
    assert_true(out.disturbed >= 1 && out.disturbed_kept == 10);
    for (int i = 0; i < 10; i++) {
        assert_float_equal(out.pairs[i].time_s / out.pairs[i].anchor_s, 13.0 / 3, 1e-3);
        assert_float_equal(out.pairs[i].anchor_most_s, 3e-3, 1e-6);
    }
    away_in = &a;
    time_pairs(&k, &a, ten);
    away_in = NULL;
    for (int i = 0; i < 10; i++) {
        assert_float_equal(out.pairs[i].time_s / out.pairs[i].anchor_s, 1, 1e-3);
        /* A time of the anchor is no shorter than what the clock says of it. */
        assert_float_equal(out.pairs[i].anchor_most_s, 13e-3, 1e-6);
    }
}

/* Whatever happens, and whenever the system says so: no pair is faster than the kernel is. */
static void nothing_seems_faster_than_it_is(void **state) {
    (void)state;
    static const int64_t lengths_ns[] = {9000, 51000, 700000, 30000000};
    int kept = 0, clean = 0;
    at_rng_seed(&luck, 7, 0);
    for (unsigned what = 1; what < 1u << HAPPENINGS; what++) {
        for (int i = 0; i < 4 * 4; i++) {
            fake k = {.ns = lengths_ns[i % 4]}, a = {.ns = lengths_ns[i / 4]};
            at_job job = ten;
            happens = what;
            refill_ns = (what + (unsigned)i) % 2 ? 100000 : 0;
            if (what & PREEMPTED) job.threads = 2, happens = PREEMPTED; /* they have no clock */
            else if (what & BACK) happens = BACK; /* by itself: then the thread's is right */
            time_pairs(&k, &a, job);
            happens = 0;
            assert_int_equal(out.num_pairs, 10);
            double exact = (double)k.ns / (double)a.ns;
            for (int n = 0; n < 10; n++) {
                double ratio = out.pairs[n].time_s / out.pairs[n].anchor_s;
                if (ratio < exact * 0.99) fail_msg("%x: %g times as fast", what, exact / ratio);
                clean += ratio < exact * 1.02;
            }
            kept += out.disturbed_kept;
        }
    }
    refill_ns = 0;
    assert_true(kept > 1000 && clean > 1000);
}

/* The system tells how long a thread waited for its core, to some microseconds: of long runs, which
 * are hardly ever left alone, that is good enough. */
static void long_runs_on_a_shared_core(void **state) {
    (void)state;
    fake k = {.ns = 40000000}, a = {.ns = 40000000};
    at_rng_seed(&luck, 8, 0);
    happens = SWITCHED;
    time_pairs(&k, &a, ten);
    happens = 0;
    for (int i = 0; i < 10; i++)
        assert_float_equal(out.pairs[i].time_s / out.pairs[i].anchor_s, 1, 2e-3);
}

/* Of what takes 20 ms a run, one pair tells who is behind, and two who is ahead; and that another
 * thread had the core costs no pair. */
static void long_ones_have_few_pairs(void **state) {
    (void)state;
    static const struct {
        double ratio;
        int pairs;
    } cases[] = {{0.95, 2}, {1.05, 2}, {1.1, 1}, {1.4, 1}};
    const at_job trial = {.pairs = 3, .best_ratio = 0.5};
    fake a = {.ns = 100000000};
    at_rng_seed(&luck, 9, 0);
    for (int i = 0; i < 8; i++) {
        fake k = {.ns = (int64_t)(0.5 * cases[i % 4].ratio * (double)a.ns)};
        happens = i < 4 ? 0 : SWITCHED;
        time_pairs(&k, &a, trial);
        assert_int_equal(out.num_pairs, cases[i % 4].pairs);
        assert_int_equal(out.disturbed, 0);
    }
    happens = 0;
    /* Shorter than that: one is measured again, as a long one of several threads. */
    fake k = {.ns = 15000000}, same = {.ns = 15000000};
    for (int i = 0; i < 2; i++) {
        happens = i ? PREEMPTED : STOLEN;
        time_pairs(i ? &a : &k, i ? &a : &same, (at_job){.pairs = 3, .threads = i ? 2 : 1});
        assert_true(out.disturbed >= 1);
    }
    happens = 0;
    /* What is seen in another state than the one that counts is no reason to end. */
    fake slow = {.ns = 70000000};
    static const at_state company[] = {AT_STATE_COMPANY}, alone[] = {AT_STATE_ALONE};
    num_looks = 1;
    for (int i = 0; i < 2; i++) {
        looks = i ? alone : company;
        at_job wanted = trial;
        wanted.wanted = AT_STATE_ALONE;
        time_pairs(&slow, &a, wanted);
        if (i) assert_int_equal(out.num_pairs, 1);
        else assert_true(out.num_pairs > 1);
    }
    looks = NULL;
    /* More where it seems much better, until a quarter of a second has gone. */
    fake far_ahead = {.ns = 20000000};
    time_pairs(&far_ahead, &a, trial);
    assert_int_equal(out.num_pairs, 3);
    fake shorter = {.ns = 5500000}, anchor_of_it = {.ns = 10000000};
    time_pairs(&shorter, &anchor_of_it, trial);
    assert_int_equal(out.num_pairs, 2);
    /* The anchor itself. */
    at_run r = {.clock = &clock, .entry = run, .workspace = &a, .par.threads = 1};
    anchor = (at_anchor){.job = &anchor_job, .beside = r, .run_ns = (double)a.ns};
    memset(&out, 0, sizeof out);
    num_ran = 0;
    assert_int_equal(at_time_pairs(&r, &anchor, &trial, (at_run_time){.ns = a.ns}, &out), 0);
    assert_int_equal(out.num_pairs, 1);
}

/* Of pairs of this kernel with itself, how many blocks had an interrupt that nobody told of. */
static int interrupted(int64_t ns, at_job job) {
    fake k = {.ns = ns}, a = {.ns = ns};
    const double least_s = (double)(ns + INTERRUPT_NS / 2) * 1e-9;
    int hit = 0;
    time_pairs(&k, &a, job);
    for (int i = 0; i < out.num_pairs; i++)
        hit += (out.pairs[i].time_s > least_s) + (out.pairs[i].anchor_s > least_s);
    return hit;
}

/* The timer's interrupt is let pass between blocks, once it is known when it comes, also where the
 * coarse clock misses most of its steps. */
static void interrupts_are_let_pass(void **state) {
    (void)state;
    at_job job = ten;
    job.pairs = 400;
    interrupts = true;
    now_ns = 10 * STEP_NS;
    for (coarse_every = 1; coarse_every < 8; coarse_every += 3) {
        int64_t begin_ns = now_ns;
        assert_true(interrupted(45000, job) <= 2 * coarse_every);
        /* It costs two steps until one is seen, then half a block of each at most, and some
         * microseconds. */
        assert_true((double)(now_ns - begin_ns) < 2 * STEP_NS + 400 * 6 * 45500 * 1.04);
    }
    coarse_every = 1;
    interrupts = false;
}

/* Long blocks, too, as far as they fit between two interrupts: all where each pair is to say as
 * much as it can; in a trial those of which two fit, so that it costs half as much time again at
 * most. */
static void long_blocks_wait_as_well(void **state) {
    (void)state;
    at_job job = ten, trial = {.pairs = 10, .pair_seed = 3};
    interrupts = true;
    job.pairs = 40;
    now_ns = 10 * STEP_NS;
    assert_true(interrupted(1400000, job) <= 1);
    assert_true(interrupted(3900000, job) <= 1);
    assert_true(interrupted(3990000, job) > 40); /* too close to it */
    assert_true(interrupted(5000000, job) == 80);
    int64_t begin_ns = now_ns;
    assert_int_equal(interrupted(1400000, trial), 0);
    assert_int_equal(out.num_pairs, 2);
    assert_true(now_ns - begin_ns < 4 * STEP_NS); /* one of them until a step is seen */
    begin_ns = now_ns;
    interrupted(2500000, trial);
    assert_true(now_ns - begin_ns < STEP_NS + 2 * out.num_pairs * 2600000);
    interrupts = false;
}

/* What seems much faster than the anchor, which somebody has slowed down unseen, has more pairs. */
static void much_is_believed_late(void **state) {
    (void)state;
    fake k = {.ns = 1000000}, a = {.ns = 1000000}, fast = {.ns = 600000};
    const at_job trial = {.pairs = 3};
    slow_in = &a, slow_runs = 2;
    time_pairs(&k, &a, trial);
    slow_in = NULL;
    assert_int_equal(out.num_pairs, 11);
    double ratios[11];
    for (int i = 0; i < 11; i++) ratios[i] = out.pairs[i].time_s / out.pairs[i].anchor_s;
    at_sort_doubles(ratios, 11);
    assert_float_equal(ratios[1], 0.5, 1e-3);
    assert_float_equal(at_sorted_median(ratios, 11), 1, 1e-3);
    time_pairs(&fast, &a, trial);
    assert_int_equal(out.num_pairs, 11);
    time_pairs(&k, &a, trial);
    assert_int_equal(out.num_pairs, 2);
}

static int pairs_in(at_state s) {
    int n = 0;
    for (int i = 0; i < out.num_pairs; i++) n += out.pairs[i].state == s;
    return n;
}

/* A trial goes on until it has its pairs in the state that counts, or in any where that is not
 * asked for: what probes disagree about is in none. It does not go on for ever. */
static void pairs_that_count(void **state) {
    (void)state;
    static const at_state by_turns[] = {AT_STATE_ALONE, AT_STATE_ALONE, AT_STATE_COMPANY,
                                        AT_STATE_COMPANY};
    static const at_state never_the_same[] = {AT_STATE_ALONE, AT_STATE_COMPANY};
    fake k = {.ns = 2000000}, a = {.ns = 2000000};
    looks = by_turns, num_looks = 4; /* alone, mixed, company, mixed, alone */
    time_pairs(&k, &a, (at_job){.pairs = 3, .to_the_end = true});
    assert_int_equal(out.num_pairs, 5);
    assert_int_equal(pairs_in(AT_STATE_MIXED), 2);
    assert_int_equal(pairs_in(AT_STATE_ALONE), 2);
    time_pairs(&k, &a, (at_job){.pairs = 3}); /* two agree */
    assert_int_equal(out.num_pairs, 3);
    assert_int_equal(pairs_in(AT_STATE_MIXED), 1);
    time_pairs(&k, &a, (at_job){.pairs = 2, .wanted = AT_STATE_ALONE});
    assert_int_equal(out.num_pairs, 5);
    assert_int_equal(pairs_in(AT_STATE_ALONE), 2);
    time_pairs(&k, &a, (at_job){.pairs = 3, .wanted = AT_STATE_COMPANY, .to_the_end = true});
    assert_int_equal(out.num_pairs, 9);
    assert_int_equal(pairs_in(AT_STATE_COMPANY), 2);
    time_pairs(&k, &a, (at_job){.pairs = 3, .wanted = AT_STATE_COMPANY});
    assert_int_equal(out.num_pairs, 7);
    assert_int_equal(pairs_in(AT_STATE_COMPANY), 2);
    looks = never_the_same, num_looks = 2;
    time_pairs(&k, &a, (at_job){.pairs = 3});
    assert_int_equal(out.num_pairs, 9);
    assert_int_equal(pairs_in(AT_STATE_MIXED), 9);
    looks = NULL;
}

/* The state that counts is waited for, and the first pair behind that does not count. Where it does
 * not come in time, or nobody waits for one, there are as many pairs as are asked for. */
static void states_are_waited_for(void **state) {
    (void)state;
    fake k = {.ns = 2000000}, a = {.ns = 2000000};
    at_job job = {.pairs = 3,
                  .to_the_end = true,
                  .reach = reach_of[AT_STATE_COMPANY],
                  .wanted = AT_STATE_ALONE,
                  .wait_ns = 50000000};
    alone_from_ns = now_ns + 10000000;
    time_pairs(&k, &a, job);
    assert_int_equal(out.num_pairs, 3);
    assert_int_equal(pairs_in(AT_STATE_ALONE), 3);
    assert_int_equal(num_ran, 2 * 4);
    assert_true(out.waited_ns > 9000000 && out.waited_ns < 11000000);

    alone_from_ns = now_ns + 1000000000;
    time_pairs(&k, &a, job);
    assert_int_equal(out.num_pairs, 3);
    assert_int_equal(pairs_in(AT_STATE_COMPANY), 3);
    assert_true(out.waited_ns >= 50000000 && out.waited_ns < 51000000);

    left_ns = 20000000; /* a time limit */
    time_pairs(&k, &a, job);
    left_ns = 0;
    assert_true(out.num_pairs >= 1 && out.waited_ns < 20000000);

    job.wanted = AT_STATE_UNKNOWN;
    time_pairs(&k, &a, job);
    assert_int_equal(out.num_pairs, 3);
    assert_int_equal(out.waited_ns, 0);
    alone_from_ns = 0;
}

/* Who asks on which side of a border a kernel is has no more pairs than say it, of those that
 * count; and all where it is on neither. */
static void borders(void **state) {
    (void)state;
    static const at_state by_turns[] = {AT_STATE_ALONE, AT_STATE_ALONE, AT_STATE_COMPANY,
                                        AT_STATE_COMPANY};
    fake k = {.ns = 2000000}, a = {.ns = 2000000};
    at_job job = {.pairs = 200, .to_the_end = true, .border_level = 0.05, .border = 1};
    time_pairs(&k, &a, job);
    assert_int_equal(out.num_pairs, 200);
    for (int i = 0; i < 2; i++) {
        job.border = i ? 0.98 : 1.02;
        looks = NULL;
        job.reach = (at_reach){0};
        job.wanted = AT_STATE_UNKNOWN;
        time_pairs(&k, &a, job);
        assert_int_equal(out.num_pairs, 11);
        looks = by_turns, num_looks = 4;
        job.wanted = AT_STATE_COMPANY;
        time_pairs(&k, &a, job);
        assert_int_equal(pairs_in(AT_STATE_COMPANY), 11);
        assert_true(out.num_pairs < 60);
    }
    looks = NULL;
}

/* Cheap: three times the anchor is a bound, of a cold or disturbed run only where others say so;
 * above 1.5 ends after one pair, two that agree are enough; others have all of theirs. */
static void no_more_than_it_takes(void **state) {
    (void)state;
    fake a = {.ns = 2000000};
    fake far = {.ns = 6100000}, behind = {.ns = 3100000}, near = {.ns = 2900000};
    fake cold = {.ns = 10000, .first_ns = 40000}, fast = {.ns = 9000};
    const at_job trial = {.pairs = 3};
    time_pairs(&far, &a, trial);
    assert_true(out.at_least);
    assert_int_equal(num_ran, 0);
    assert_int_equal(out.num_pairs, 0);
    assert_float_equal(out.costs_s[0], 6.1e-3, 1e-9);
    time_pairs(&behind, &a, trial);
    assert_false(out.at_least);
    assert_int_equal(out.num_pairs, 1);
    time_pairs(&near, &a, trial);
    assert_int_equal(out.num_pairs, 2);
    slow_in = &a, slow_runs = 1;
    time_pairs(&near, &a, trial);
    assert_int_equal(out.num_pairs, 3);
    slow_in = NULL;
    time_pairs(&cold, &fast, trial); /* its first run took five times as long */
    assert_false(out.at_least);
    assert_int_equal(out.num_pairs, 2);
}

/* All of that goes by the best so far, where it is faster than the anchor. */
static void slow_anchors(void **state) {
    (void)state;
    fake a = {.ns = 2000000};
    fake far = {.ns = 3100000}, behind = {.ns = 1600000}, near = {.ns = 1400000};
    fake better = {.ns = 700000};
    const at_job trial = {.pairs = 3, .best_ratio = 0.5};
    time_pairs(&far, &a, trial);
    assert_true(out.at_least);
    time_pairs(&behind, &a, trial);
    assert_false(out.at_least);
    assert_int_equal(out.num_pairs, 1);
    time_pairs(&near, &a, trial); /* 0.7 of the anchor's time, and no surprise */
    assert_int_equal(out.num_pairs, 2);
    time_pairs(&better, &a, trial);
    assert_int_equal(out.num_pairs, 11);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_kernels),
        cmocka_unit_test(near_the_limit),
        cmocka_unit_test(slow_clock),
        cmocka_unit_test(short_kernels),
        cmocka_unit_test(on_the_border),
        cmocka_unit_test(order_is_drawn),
        cmocka_unit_test(sets_are_kept_apart),
        cmocka_unit_test(slow_ones_are_bracketed),
        cmocka_unit_test(absences_do_not_count),
        cmocka_unit_test(no_more_than_it_takes),
        cmocka_unit_test(slow_anchors),
        cmocka_unit_test(nothing_seems_faster_than_it_is),
        cmocka_unit_test(interrupts_are_let_pass),
        cmocka_unit_test(long_blocks_wait_as_well),
        cmocka_unit_test(long_runs_on_a_shared_core),
        cmocka_unit_test(long_ones_have_few_pairs),
        cmocka_unit_test(much_is_believed_late),
        cmocka_unit_test(pairs_that_count),
        cmocka_unit_test(states_are_waited_for),
        cmocka_unit_test(borders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
