/* templates/softmax.c: exponentials of each row's elements, below its largest, as shares of their
 * sum. While a row is worked on, the next one comes from beyond the caches near the core, and the
 * lines that it goes to. */
#include "templates/template.h"

static const char compute[] = "x[Y, X] : input\n"
                              "most[y:Y]     = max(k:X) x[y, k]\n"
                              "e[y:Y, k:X]   = exp(x[y, k] - most[y])\n"
                              "total[y:Y]    = sum(k:X) e[y, k]\n"
                              "share[y:Y]    = 1.0/total[y]\n"
                              "out[y:Y, k:X] = e[y, k]*share[y]\n";

static const char schedule[] = "y:para =>\n"
                               "    m1, mv:vec =>\n"
                               "        @most = y  // {m1, mv}/k\n"
                               "    e1 =>\n"
                               "        ev:vec =>\n"
                               "            @e [prefetch x ahead] = y, {e1, ev}/k\n"
                               "        ev:vec =>\n"
                               "            @total = y  // {e1, ev}/k\n"
                               "    @share = y\n"
                               "    o1, ov:vec =>\n"
                               "        @out [prefetch out there] = y, {o1, ov}/k\n";

/* Rows that are shorter than registers are left to rules, which put rows beside each other. */
static void define(at_template *t) {
    if (at_evaluate(t, "X <= 16 && Y >= 32")) {
        at_compute(t, compute);
        return;
    }
    at_split(t, "tile_max", "X", "m1 mv", .policy = AT_POWER2);
    at_split(t, "tile_exp", "X", "e1 ev", .policy = AT_POWER2);
    at_split(t, "tile_out", "X", "o1 ov", .policy = AT_POWER2);
    /* The next row, 1: and the lines that it goes to, which memory has to give. */
    at_option(t, "prefetch", "[0, 1, 2]",
              (int)at_evaluate(t, "Y*X <= 65536 ? 0 : Y*X <= 2097152 ? 2 : 1"));
    at_sizes(t, "ahead = (prefetch > 0)*4*X, there = (prefetch == 1)*4*X");
    at_compute(t, compute);
    at_schedule(t, schedule);
}

static void defaults(at_template *t, int lanes) {
    long long x = at_evaluate(t, "X"), part = 1;
    (void)lanes;
    while (part < 128 && 2 * part <= x) part *= 2;
    at_default(t, "tile_max", &part);
    at_default(t, "tile_exp", &part);
    at_default(t, "tile_out", &part);
}

const at_template_row at_softmax = {
    .name = "softmax",
    .help = "exponentials of each row's elements as shares of their sum",
    .args = "Y=128, X=1024",
    .sizes = "{Y}x{X}",
    .title = "softmax {Y} of {X}",
    .record_args = "[Y, X, \"float32\"]",
    .define = define,
    .defaults = defaults,
};
