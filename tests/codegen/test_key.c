/* Keys of programs. Random computations and trees, each with one thing changed many times: where
 * two keys are equal, so is the code. All names changed, or how loops are divided into lines: the
 * same key. In the environment: AT_SEED and AT_COUNT choose others and more. */
#include "codegen/codegen.h"
#include "tests/codegen/random_program.h"
#include "tests/codegen/support.h"
#include "tests/setting.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { VARIANTS = 60 };

/* ---- lowered --------------------------------------------------------------------------------- */

typedef struct lowered {
    at_key key;
    char code[33]; /* its hash, whatever names are in it; "": it cannot be lowered */
} lowered;

static size_t length_of_word(const char *s) {
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_') n++;
    return n;
}

static const char *without_comment(const char *s) {
    while (!strncmp(s, "/*", 2)) s = strstr(s, "*/") + 2;
    return s;
}

enum { NAMES = 4000 };
typedef struct names {
    const char *at[NAMES];
    size_t length[NAMES];
    int n;
} names;

static int number_of(names *x, const char *name, size_t n) {
    for (int i = 0; i < x->n; i++)
        if (x->length[i] == n && !memcmp(x->at[i], name, n)) return i;
    assert_true(x->n < NAMES);
    x->at[x->n] = name;
    x->length[x->n] = n;
    return x->n++;
}

/* Of the text without comments, each name a number in the order of appearance; of tiles, parameters
 * and workspace. */
static void hash_code(const at_kernel *k, char out[33]) {
    at_hash h;
    names seen = {.n = 0};
    at_hash_init(&h);
    for (const char *s = k->source; *s;) {
        size_t n = length_of_word(s);
        if (!strncmp(s, "/*", 2)) s = without_comment(s);
        else if (n && !isdigit((unsigned char)*s)) {
            int number = number_of(&seen, s, n);
            at_hash_add(&h, &number, sizeof number);
            s += n;
        } else {
            at_hash_add(&h, s, n ? n : 1);
            s += n ? n : 1;
        }
    }
    for (int i = 0; i < k->num_tiles; i++)
        at_hash_add(&h, k->tiles[i].bytes, (size_t)k->tiles[i].size_bytes);
    for (int i = 0; i < k->num_params; i++) {
        at_hash_add(&h, &k->params[i].role, sizeof k->params[i].role);
        at_hash_add(&h, &k->params[i].elements, sizeof k->params[i].elements);
    }
    at_hash_add(&h, &k->workspace_bytes, sizeof k->workspace_bytes);
    at_hash_add(&h, &k->workspace_per_thread_bytes, sizeof k->workspace_per_thread_bytes);
    at_hash_hex(&h, out);
}

/* In turn all there are. */
static const at_target *target_of(uint64_t i) {
    int n = 0;
    while (at_target_at(n)) n++;
    return at_target_at((int)(i % (uint64_t)n));
}

static at_status lower(at_arena *a, const at_program *p, uint64_t seed, at_kernel **out) {
    at_lower_options o = {.dialect = seed % 3 ? AT_DIALECT_TCC : AT_DIALECT_C,
                          .target = target_of(seed),
                          .pack_inline = seed % 5 == 0,
                          .prefetch_above = seed % 4 == 0,
                          .prefetch_room = seed % 8 == 0 ? 1 << 20 : 0,
                          .name = "k"};
    return at_lower(a, p, &o, out, NULL);
}

static void lower_into(lowered *out, at_arena *a, const at_program *p, uint64_t seed) {
    at_kernel *k;
    *out = (lowered){.key = at_program_key(p)};
    if (lower(a, p, seed, &k) == AT_OK) hash_code(k, out->code);
}

typedef struct pairs {
    long equal_keys, equal_codes, all;
} pairs;

/* Every pair: of equal keys the code is equal. */
static void compare_all(const lowered *list, int n, uint64_t seed, pairs *count) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) {
            bool same_key = at_key_equal(list[i].key, list[k].key);
            bool same_code = !strcmp(list[i].code, list[k].code);
            if (same_key && !same_code)
                fail_msg("seed %llu: variants %d and %d have one key and two codes, %s and %s",
                         (unsigned long long)seed, i, k, list[i].code, list[k].code);
            count->all++;
            count->equal_keys += same_key;
            count->equal_codes += same_code && *list[i].code;
        }
}

/* ---- one thing changed ----------------------------------------------------------------------- */

static int below(at_rng *rng, int n) { return (int)at_rng_below(rng, (uint64_t)n); }

static void change_char(at_rng *rng, char *text) {
    static const char operators[] = "+-*/%";
    int n = (int)strlen(text);
    for (int tries = 0; n && tries < 100; tries++) {
        char *c = &text[below(rng, n)];
        bool in_name = c > text && (isalnum((unsigned char)c[-1]) || c[-1] == '_');
        if (isdigit((unsigned char)*c) && !in_name) *c = (char)('0' + below(rng, 10));
        else if (*c != 0 && strchr(operators, *c)) *c = operators[below(rng, 3)];
        else continue;
        return;
    }
}

static void change(at_rng *rng, random_program *p) {
    rp_node *n = &p->node[below(rng, p->num_nodes)];
    rp_size *s = &p->size[below(rng, p->num_sizes)];
    switch (below(rng, 6)) {
    case 0: change_char(rng, p->compute); break;
    case 1: n->own_line = !n->own_line; break;
    case 2: n->ann = (at_ann)below(rng, 4); break;
    case 3:
        if (!*s->expr) s->value = 1 + below(rng, 8);
        break;
    case 4: change_char(rng, n->leaf); break;
    default:
        if (n->num_pieces > 1) { /* a fused loop runs in another order */
            char first[RP_NAME];
            memcpy(first, n->piece[0], RP_NAME);
            memcpy(n->piece[0], n->piece[1], RP_NAME);
            memcpy(n->piece[1], first, RP_NAME);
        }
        break;
    }
}

static void equal_keys_equal_code(void **state) {
    (void)state;
    uint64_t seed = setting("AT_SEED", 1), end = seed + how_many("AT_COUNT", 60);
    random_program *p = malloc(2 * sizeof *p), *changed = p + 1;
    pairs count = {0};
    assert_non_null(p);
    for (; seed < end; seed++) {
        lowered list[VARIANTS];
        at_rng rng;
        built b;
        int n = 0;
        random_program_make(seed, p);
        at_rng_seed(&rng, seed, 1);
        for (int i = 0; i < VARIANTS; i++) {
            *changed = *p;
            for (int k = i ? below(&rng, 4) : 0; k >= 0 && i; k--) change(&rng, changed);
            if (build_open(&b, changed) == USE_OK) lower_into(&list[n++], b.arena, b.program, seed);
            build_close(&b);
            if (!n) break;
        }
        compare_all(list, n, seed, &count);
    }
    print_message("%ld pairs: %ld of equal keys, %ld of equal code\n", count.all, count.equal_keys,
                  count.equal_codes);
    assert_true(count.equal_keys > count.all / 20);
    assert_true(count.equal_keys < count.all / 2);
    free(p);
}

/* ---- other names ----------------------------------------------------------------------------- */

static bool is_word(const char *name, size_t n) {
    static const char *const words[] = {"input", "weight",   "index",    "sum",  "where", "min",
                                        "max",   "para",     "vec",      "dyn",  "ann",   "unroll",
                                        "order", "init",     "prefetch", "prod", "inf",   "dense",
                                        "pad",   "pointers", NULL};
    for (int f = 0; f < AT_FUNCTION_COUNT; f++) {
        const char *function = at_function_name((at_function)f);
        if (strlen(function) == n && !strncmp(function, name, n)) return true;
    }
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == n && !strncmp(words[i], name, n)) return true;
    return false;
}

#define PREFIX "zz_"

/* Puts the prefix before every name. */
static char *rename_all(at_arena *a, const char *from) {
    at_text out = {0};
    while (*from) {
        size_t n = length_of_word(from);
        if (n && !isdigit((unsigned char)*from) && !is_word(from, n)) at_text_add(&out, PREFIX);
        at_text_addn(&out, from, n ? n : 1);
        from += n ? n : 1;
    }
    return at_text_take(a, &out);
}

static char *sizes_of(at_arena *a, const built *b) {
    at_text out = {0};
    for (int i = 0; i < b->symbols.names.len; i++)
        at_text_addf(&out, "%s%s=%lld", i ? " " : "", b->symbols.names.data[i],
                     (long long)b->values[i]);
    return at_text_take(a, &out);
}

/* One name of y's source always stands where the same name stands in x's, and all else is the same.
 * Not the other way round: in x some names may be those of temporaries, or words of C. */
static bool same_but_for_names(const char *x, const char *y) {
    names of_y = {.n = 0};
    const char *name_x[NAMES];
    size_t length_x[NAMES];
    for (; *x && *y; x = without_comment(x), y = without_comment(y)) {
        size_t n = length_of_word(x), m = length_of_word(y);
        if (!n || !m || isdigit((unsigned char)*x)) {
            if (*x++ != *y++) return false;
            continue;
        }
        int before = of_y.n, i = number_of(&of_y, y, m);
        if (i == before) name_x[i] = x, length_x[i] = n;
        if (length_x[i] != n || memcmp(name_x[i], x, n) != 0) return false;
        x += n;
        y += m;
    }
    return !*x && !*y;
}

static void compare_kernels(const at_kernel *x, const at_kernel *y, uint64_t seed) {
    if (!same_but_for_names(x->source, y->source))
        fail_msg("seed %llu: with other names the code is another", (unsigned long long)seed);
    assert_int_equal(x->num_tiles, y->num_tiles);
    assert_int_equal(x->num_params, y->num_params);
    assert_int_equal(x->workspace_bytes, y->workspace_bytes);
    assert_int_equal(x->workspace_per_thread_bytes, y->workspace_per_thread_bytes);
    for (int i = 0; i < x->num_params; i++)
        assert_int_equal(x->params[i].elements, y->params[i].elements);
    for (int i = 0; i < x->num_tiles; i++) {
        const at_tile_code *u = &x->tiles[i], *v = &y->tiles[i];
        assert_int_equal(u->size_bytes, v->size_bytes);
        assert_memory_equal(u->bytes, v->bytes, (size_t)u->size_bytes);
    }
}

static void names_do_not_matter(void **state) {
    (void)state;
    uint64_t seed = setting("AT_SEED", 1), end = seed + setting("AT_COUNT", 100);
    random_program *p = malloc(sizeof *p);
    long compared = 0;
    assert_non_null(p);
    for (; seed < end; seed++) {
        built b;
        at_text tree = {0};
        random_program_make(seed, p);
        bool used = build_open(&b, p) == USE_OK;
        if (used) {
            at_kernel *k, *renamed;
            random_program_tree(p, &tree);
            at_program *q = program_of(
                b.arena,
                &(program){"renamed", rename_all(b.arena, sizes_of(b.arena, &b)),
                           rename_all(b.arena, p->compute), rename_all(b.arena, tree.data)});
            assert_true(at_key_equal(at_program_key(b.program), at_program_key(q)));
            at_status status = lower(b.arena, b.program, seed, &k);
            assert_int_equal(lower(b.arena, q, seed, &renamed), status);
            if (status == AT_OK) compare_kernels(k, renamed, seed);
            compared += status == AT_OK;
        }
        at_text_free(&tree);
        build_close(&b);
    }
    free(p);
    assert_true(compared > 20);
}

/* ---- what counts, one by one ----------------------------------------------------------------- */

#define PAIR_COMPUTE                                                                               \
    "a[N, M] : input\n"                                                                            \
    "s[i:N, j:M] = a[i, j] * 2.0\n"                                                                \
    "o[i:N, j:M] = s[i, j] + 1.0\n"
#define PAIR_TREE "i =>\n    j =>\n        @s = i, j\n    j =>\n        @o = i, j\n"

static at_key key_of(at_arena *a, const char *sizes, const char *compute, const char *tree) {
    return at_program_key(program_of(a, &(program){"key", sizes, compute, tree}));
}

static void what_counts(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    static const struct {
        const char *sizes, *compute, *tree;
        bool same;
    } cases[] = {
        {"N=4 M=6", PAIR_COMPUTE, PAIR_TREE, true},
        /* loops that run once, lines, the name of a size */
        {"N=4 M=6 j=6 one=1", PAIR_COMPUTE,
         "i =>\n    j =>\n        @s = i, j\n    j, one:vec =>\n        @o = i, {j, one}/j\n",
         true},
        {"N=4 M=6", PAIR_COMPUTE, "i =>\n    j => @s = i, j\n    j => @o = i, j\n", true},
        {"rows=4 M=6",
         "a[rows, M] : input\ns[i:rows, j:M] = a[i, j] * 2.0\no[i:rows, j:M] = s[i, j] + 1.0\n",
         PAIR_TREE, true},
        {"N=4 M=6 one=1", PAIR_COMPUTE,
         "i =>\n    j =>\n        @s = i, j\n    {one, j} =>\n        @o = i, j\n", true},
        {"N=4 M=6 one=1", PAIR_COMPUTE,
         "i =>\n    j =>\n        @s = i, j\n    {j, one} =>\n        @o = i, j\n", true},
        /* numbers, extents, roles, operators, annotations */
        {"N=4 M=6", "a[N, M] : input\ns[i:N, j:M] = a[i, j] * 3.0\no[i:N, j:M] = s[i, j] + 1.0\n",
         PAIR_TREE, false},
        {"N=4 M=7", PAIR_COMPUTE, PAIR_TREE, false},
        {"N=4 M=6", "a[N, M] : weight\ns[i:N, j:M] = a[i, j] * 2.0\no[i:N, j:M] = s[i, j] + 1.0\n",
         PAIR_TREE, false},
        {"N=4 M=6", "a[N, M] : input\ns[i:N, j:M] = a[i, j] + 2.0\no[i:N, j:M] = s[i, j] + 1.0\n",
         PAIR_TREE, false},
        {"N=4 M=6", PAIR_COMPUTE,
         "i =>\n    j:vec =>\n        @s = i, j\n    j =>\n        @o = i, j\n", false},
        {"N=4 M=6", PAIR_COMPUTE,
         "i:para =>\n    j =>\n        @s = i, j\n    j =>\n        @o = i, j\n", false},
        /* order of loops; where a stage is computed; a dissolved one; digits */
        {"N=4 M=6", PAIR_COMPUTE, "i, j =>\n    @s = i, j\ni, j =>\n    @o = i, j\n", false},
        {"N=4 M=6", PAIR_COMPUTE, "j, i =>\n    @o = i, j\n", false},
        {"N=4 M=6", PAIR_COMPUTE, "i, j =>\n    @o = i, j\n", false},
        {"N=4 M=6 j1=2 j2=3", PAIR_COMPUTE, "i, j1, j2 =>\n    @o = i, {j1, j2}/j\n", false},
        {"N=4 M=6 j1=2 j2=3", PAIR_COMPUTE, "i, j1, j2 =>\n    @o = i, {j2, j1}/j\n", false},
        /* what is asked for ahead, and whether the tree says so */
        {"N=4 M=6", PAIR_COMPUTE,
         "i =>\n    j =>\n        @s[prefetch a 0] = i, j\n    j =>\n        @o = i, j\n", false},
        {"N=4 M=6", PAIR_COMPUTE,
         "i =>\n    j =>\n        @s[prefetch a 64] = i, j\n    j =>\n        @o = i, j\n", false},
        {"N=4 M=6", PAIR_COMPUTE,
         "i =>\n    j =>\n        @s[prefetch a 128] = i, j\n    j =>\n        @o = i, j\n", false},
        /* how it lies */
        {"N=4 M=6", PAIR_COMPUTE,
         "i =>\n    j =>\n        @s[dense] = i, j\n    j =>\n        @o = i, j\n", false},
        {"N=4 M=6", PAIR_COMPUTE,
         "i =>\n    j =>\n        @s[pad 1] = i, j\n    j =>\n        @o = i, j\n", false},
        {"N=4 M=6", PAIR_COMPUTE,
         "i =>\n    j =>\n        @s[pad 2] = i, j\n    j =>\n        @o = i, j\n", false},
        {"N=4 M=6", PAIR_COMPUTE,
         "i =>\n    j =>\n        @s[order j i] = i, j\n    j =>\n        @o = i, j\n", false},
        /* a name in common is one piece */
        {"N=4 M=6 k=6", PAIR_COMPUTE,
         "i =>\n    j =>\n        @s = i, j\n    k =>\n        @o = i, k\n", false},
        /* what is read */
        {"N=4 M=6",
         "a[N, M] : input\ns[i:N, j:M] = a[i, M - 1 - j] * 2.0\no[i:N, j:M] = s[i, j] + 1.0\n",
         PAIR_TREE, false},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    at_key keys[CASES];
    for (int i = 0; i < CASES; i++) {
        keys[i] = key_of(a, cases[i].sizes, cases[i].compute, cases[i].tree);
        for (int k = 0; k < i; k++)
            if (at_key_equal(keys[i], keys[k]) != (cases[i].same && cases[k].same))
                fail_msg("cases %d and %d", k, i);
    }
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_keys_equal_code),
                                       cmocka_unit_test(names_do_not_matter),
                                       cmocka_unit_test(what_counts)};
    return cmocka_run_group_tests_name("codegen/key", tests, NULL, NULL);
}
