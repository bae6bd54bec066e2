/* tuners/genetic.c: a genetic algorithm whose genes are the digits of an index. Source of
 * behaviour: TVM v0.4 to v0.10, python/tvm/autotvm/tuner/ga_tuner.py. Differences: a generation
 * is measured once and whole, however it is batched; children that are invalid or were there before
 * are changed until they are new, and where that takes long a random point takes their place; what
 * is only known to be slower than something has no place among the others but the last. */
#include "tuners/tuners_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How often a child is changed before it is given up. */
enum { MOST_CHANGES = 100 };

typedef struct genetic {
    at_book book;
    int population, most_elites;
    double mutation;
    double pressure; /* a parent's weight is its score to this power */
    bool *pooled;    /* [room] proposals that were parents, or too old for it */
    int room;
    int *elites; /* proposal numbers; they are parents, and not measured again */
    int num_elites;
    double least; /* of the scores in the pool */
    int *pool;    /* the parents: this generation and the elites before it */
    double *weight;
    int64_t *first, *second; /* digits of two parents */
    int *genes;              /* which of them are a child's */
} genetic;

enum { POPULATION, NUM_OPTIONS };
static const at_tuner_option options[NUM_OPTIONS] = {
    [POPULATION] = {.name = "population",
                    .argument = "N",
                    .help = "configurations of a generation",
                    .min = 2,
                    .max = 10000,
                    .initial = 16,
                    .autotvm = 100}};

static void *create(at_space *space, const at_tuner_options *o) {
    genetic *g = calloc(1, sizeof *g);
    AT_NEED(g);
    at_book_init(&g->book, space, o, AT_STREAM_GA);
    g->population = (int)at_tuner_value(o, &options[POPULATION]);
    g->most_elites = o->autotvm ? 3 : (g->population + 1) / 2;
    if (g->most_elites > g->population) g->most_elites = g->population;
    g->mutation = 0.1;
    g->pressure = o->autotvm ? 1 : 8;
    int most = g->population + g->most_elites, knobs = at_space_num_knobs(space);
    g->elites = calloc((size_t)most, sizeof *g->elites);
    g->pool = calloc((size_t)most, sizeof *g->pool);
    g->weight = calloc((size_t)most, sizeof *g->weight);
    g->first = calloc((size_t)knobs + 1, sizeof *g->first);
    g->second = calloc((size_t)knobs + 1, sizeof *g->second);
    g->genes = calloc((size_t)knobs + 1, sizeof *g->genes);
    AT_NEED(g->elites && g->pool && g->weight && g->first && g->second && g->genes);
    return g;
}

static void destroy(void *self) {
    genetic *g = self;
    at_book_free(&g->book);
    free(g->pooled);
    free(g->elites);
    free(g->pool);
    free(g->weight);
    free(g->first);
    free(g->second);
    free(g->genes);
    free(g);
}

/* The results that came since the last generation was made, in the order of proposals: that
 * generation, unless proposals do not wait for results; then at most as many, the newest. */
static int gather_results(genetic *g) {
    const at_book *b = &g->book;
    int n = 0, len = b->entered.len;
    if (g->room < b->cap) {
        g->pooled = realloc(g->pooled, (size_t)b->cap * sizeof *g->pooled);
        AT_NEED(g->pooled);
        memset(g->pooled + g->room, 0, (size_t)(b->cap - g->room) * sizeof *g->pooled);
        g->room = b->cap;
    }
    for (int i = len - 1; i >= 0; i--) {
        if (!b->known[i] || g->pooled[i]) continue;
        g->pooled[i] = true;
        if (n < g->population) g->pool[n++] = i;
    }
    for (int i = 0; i < n / 2; i++) {
        int other = g->pool[i];
        g->pool[i] = g->pool[n - 1 - i];
        g->pool[n - 1 - i] = other;
    }
    return n;
}

/* Bounds tell nothing of one another, and are behind all that was timed: the lowest score of the
 * pool is theirs. */
static void find_least(genetic *g, int n) {
    g->least = INFINITY;
    for (int i = 0; i < n; i++) {
        double score = g->book.score[g->pool[i]];
        if (score > 0 && score < g->least) g->least = score;
    }
}

static double score_of(const genetic *g, int number) {
    const at_book *b = &g->book;
    return b->is_bound[number] ? fmin(g->least, b->score[number]) : b->score[number];
}

/* The pool, with the elites of the generation that now ends. */
static int gather_pool(genetic *g) {
    int n = gather_results(g);
    for (int i = 0; i < g->num_elites; i++) g->pool[n++] = g->elites[i];
    g->num_elites = 0;
    find_least(g, n);
    for (int i = 0; i < n; i++) {
        double score = score_of(g, g->pool[i]);
        int at = g->num_elites;
        while (at > 0 && score_of(g, g->elites[at - 1]) < score) at--;
        if (at == g->most_elites) continue;
        if (g->num_elites < g->most_elites) g->num_elites++;
        for (int k = g->num_elites - 1; k > at; k--) g->elites[k] = g->elites[k - 1];
        g->elites[at] = g->pool[i];
    }
    return n;
}

/* A place of the pool, by weight; not `except`, which is -1 or a place. */
static int draw(genetic *g, int n, int except) {
    double total = 0;
    for (int i = 0; i < n; i++)
        if (i != except) total += g->weight[i];
    double at = at_rng_unit(&g->book.rng) * total;
    int last = 0;
    for (int i = 0; i < n; i++) {
        if (i == except) continue;
        last = i;
        at -= g->weight[i];
        if (at < 0) break;
    }
    return last;
}

static void mutate(at_book *b, int64_t *digits, int knob) {
    int64_t value = (int64_t)at_rng_below(&b->rng, (uint64_t)at_space_knob_len(b->space, knob));
    if (at_space_digit_counts(b->space, digits, knob))
        at_space_set_digit(b->space, digits, knob, value);
}

/* The knobs that say anything of the point in g->first; of a sum those of its part, and last the
 * one that says which, so that another part takes the values that came of the others. */
static int gather_genes(genetic *g) {
    const at_space *s = g->book.space;
    bool is_sum = at_space_num_parts(s) > 0;
    int n = 0;
    for (int k = is_sum; k < at_space_num_knobs(s); k++)
        if (at_space_digit_counts(s, g->first, k)) g->genes[n++] = k;
    if (is_sum) g->genes[n++] = 0;
    return n;
}

static int64_t crossed(genetic *g, int first, int second) {
    at_book *b = &g->book;
    at_space_digits(b->space, b->entered.indices[g->pool[first]], g->first);
    at_space_digits(b->space, b->entered.indices[g->pool[second]], g->second);
    int n = gather_genes(g), point = (int)at_rng_below(&b->rng, (uint64_t)n);
    /* Of a sum, points of different parts have nothing in common. */
    bool alike = at_space_num_parts(b->space) == 0 || g->first[0] == g->second[0];
    for (int i = 0; i < n; i++) {
        int k = g->genes[i];
        if (i >= point && alike) g->first[k] = g->second[k];
        if (at_rng_unit(&b->rng) < g->mutation) mutate(b, g->first, k);
    }
    return at_space_mend(b->space, at_space_index(b->space, g->first));
}

static void enter_child(genetic *g, int n) {
    at_book *b = &g->book;
    int first = draw(g, n, -1), second = n > 1 ? draw(g, n, first) : first;
    int64_t child = crossed(g, first, second);
    for (int i = 0; i < MOST_CHANGES; i++) {
        if (at_book_allows(b, child)) {
            at_book_enter(b, child, "child");
            return;
        }
        at_space_digits(b->space, child, g->first);
        int genes = gather_genes(g);
        mutate(b, g->first, g->genes[at_rng_below(&b->rng, (uint64_t)genes)]);
        child = at_space_mend(b->space, at_space_index(b->space, g->first));
    }
    at_book_enter_random(b, 1);
}

static void make_generation(void *self) {
    genetic *g = self;
    at_book *b = &g->book;
    if (b->order.remaining == 0) return;
    if (!b->entered.len || !at_space_num_knobs(b->space)) {
        at_book_enter_random(b, g->population);
        return;
    }
    int n = gather_pool(g);
    if (!n) {
        at_book_enter_random(b, g->population);
        return;
    }
    for (int i = 0; i < n; i++)
        g->weight[i] = b->best > 0 ? pow(score_of(g, g->pool[i]) / b->best, g->pressure) + 1e-8 : 1;
    for (int i = 0; i < g->population; i++) enter_child(g, n);
}

static int next(void *self, int64_t *indices, int n) {
    return at_book_next(&((genetic *)self)->book, make_generation, self, indices, n);
}

static const char *part(void *self, int64_t index) {
    return at_book_part(&((genetic *)self)->book, index);
}

static void update(void *self, const at_trial *trials, int n) {
    at_book_update(&((genetic *)self)->book, trials, n);
}

const at_tuner_class at_ga_tuner = {
    .name = "ga",
    .help = "a genetic algorithm over the values of the knobs",
    .options = options,
    .num_options = NUM_OPTIONS,
    .rank = 1, /* where there is no cost model */
    .create = create,
    .next = next,
    .update = update,
    .part = part,
    .destroy = destroy,
};
