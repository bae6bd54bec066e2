/* Random programs: interpreter of the expressions = interpreter of the tree = the program after
 * each pass = tile interpreter of every instruction set = compiled C, vector types and machine
 * code. In the environment: AT_SEED and AT_COUNT choose others and more, AT_EVERY=8 each eighth
 * seed (cycles are those of 7, 15, ...); AT_SHRINK: how many failing programs are made small and
 * printed (default 1); AT_DUMP: a pass whose result is printed with them, for AT_ISA where tiles
 * are meant; AT_CFLAGS: more options for the compiler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/codegen/phases.h"
#include "tests/setting.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 40, MAX_LISTED = 400 };

typedef struct failure {
    phase phase;
    char kind[40];
    outcome *out;
} failure;

/* What a fault is about, whatever names and numbers are in it. */
static void kind_of(const char *text, char kind[40]) {
    const char *error = strstr(text, "error: ");
    size_t n = 0;
    if (strstr(text, ", expected ")) text = "wrong value";
    if (error) text = error;
    for (; *text && *text != '\n' && n < 39; text++)
        if (strchr(" :", *text) || (*text >= 'a' && *text <= 'z')) kind[n++] = *text;
    kind[error && n > 16 ? 16 : n > 12 ? 12 : n] = 0;
}

static bool fails_alike(void *context, const random_program *p) {
    failure *f = context;
    built b;
    use u = build_open(&b, p);
    build_close(&b);
    if (u != USE_OK) return false;
    run_phases(&p, 1, f->phase, f->phase, f->out);
    char kind[40];
    kind_of(f->out->text, kind);
    return f->out->verdict == VERDICT_WRONG && !strcmp(kind, f->kind);
}

static void print_program(const random_program *p) {
    at_text text = {0};
    built b;
    build_open(&b, p);
    at_text_addf(&text, "seed %llu%s\n", (unsigned long long)p->seed,
                 p->pack_inline ? ", packing inline" : "");
    random_program_sizes(p, &text);
    at_text_addf(&text, "\n%s\n", p->compute);
    random_program_tree(p, &text);
    at_text_add(&text, "\nwith numbers:\n");
    at_program_print(&text, b.program, true);
    const char *pass = getenv("AT_DUMP");
    if (pass) {
        at_text_addf(&text, "\nafter %s:\n", pass);
        const char *target = getenv("AT_ISA");
        at_lower_options o = options_of(p, PHASE_TILES, "k");
        if (target) o.target = at_target_find(target), o.dialect = AT_DIALECT_TCC;
        o.dump = pass;
        o.dump_out = &text;
        at_low *l;
        if (at_lower_until(b.arena, b.program, &o, strcmp(pass, "tile") ? pass : "tiles", &l,
                           &b.err) != AT_OK)
            at_text_addf(&text, "%s\n", b.err.text);
    }
    fputs(at_text_str(&text), stderr);
    at_text_free(&text);
    build_close(&b);
}

static void report(const random_program *p, const outcome *o) {
    random_program *small = malloc(sizeof *p);
    failure f = {.phase = o->phase, .out = outcomes_new(1)};
    kind_of(o->text, f.kind);
    assert_non_null(small);
    *small = *p;
    fprintf(stderr, "making seed %llu small ...\n", (unsigned long long)p->seed);
    random_program_shrink(small, fails_alike, &f);
    if (fails_alike(&f, small)) fprintf(stderr, "%s: %s\n", phase_name(f.phase), f.out->text);
    print_program(small);
    outcomes_free(f.out, 1);
    free(small);
}

/* Seeds that showed faults: a long loop of a tile reads what others of it keep in registers; a
 * condition that hangs on a loop's variable is decided outside of it, where that is known. */
static const uint64_t known[] = {6081, 6552, 362, 6695, 10415};
enum { KNOWN = sizeof known / sizeof *known };

static void test_random(void **state) {
    (void)state;
    long seed = setting("AT_SEED", 1), count = how_many("AT_COUNT", 200) + KNOWN,
         every = setting("AT_EVERY", 1);
    long shrink = setting("AT_SHRINK", 1), used = 0, refused = 0, large = 0, wrong = 0;
    random_program *programs = calloc(BATCH, sizeof *programs);
    const random_program *list[BATCH];
    outcome *out = outcomes_new(BATCH);
    assert_non_null(programs);
    for (long done = 0; done < count;) {
        int n = 0;
        for (; done < count && n < BATCH; done++) {
            built b;
            random_program_make(done < KNOWN ? known[done]
                                             : (uint64_t)(seed + every * (done - KNOWN)),
                                &programs[n]);
            use u = build_open(&b, &programs[n]);
            build_close(&b);
            refused += u == USE_REFUSED;
            large += u == USE_TOO_LARGE;
            if (u != USE_OK) continue;
            list[n] = &programs[n];
            n++;
        }
        run_phases(list, n, PHASE_TREE, PHASE_COUNT - 1, out);
        used += n;
        for (int i = 0; i < n; i++) {
            if (out[i].verdict == VERDICT_RIGHT) continue;
            if (wrong++ < MAX_LISTED)
                fprintf(stderr, "seed %llu: %s: %.200s\n", (unsigned long long)list[i]->seed,
                        phase_name(out[i].phase), out[i].text);
            if (wrong <= shrink) report(list[i], &out[i]);
        }
    }
    print_message("%ld seeds: %ld programs run, %ld refused, %ld too large; %ld wrong\n", count,
                  used, refused, large, wrong);
    outcomes_free(out, BATCH);
    free(programs);
    assert_true(used > count / 3);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
