/* Every form of A64 instructions, with operands at the ends of their ranges and between: the words
 * are those that GNU as makes of the texts, and read back they are these texts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/aarch64/asm.h"
#include "tests/codegen/support.h"
#include "tests/whole_file.h"

static const struct {
    const char *name, *text;
} forms[] = {
#define A64(name, word, text) {#name, text},
#include "codegen/aarch64/forms.def"
#undef A64
};

/* What an operand may be: so many from the first on, so far apart. */
static const struct {
    char letter;
    int64_t first, step, num;
} ranges[] = {
    {'d', 0, 1, 31},
    {'n', 0, 1, 31},
    {'m', 0, 1, 31},
    {'a', 0, 1, 31},
    {'h', 0, 1, 65536},
    {'c', 0, 1, 4096},
    {'w', 1, 1, 63},
    {'y', 1, 1, 63},
    {'l', 0, 1, 32},
    {'r', 1, 1, 32},
    {'f', 0, 1, 256},
    {'Q', 0, 16, 4096},
    {'X', 0, 8, 4096},
    {'S', 0, 4, 4096},
    {'H', 0, 2, 4096},
    {'B', 0, 1, 4096},
    {'u', -256, 1, 512},
    {'b', -1048576, 4, 524288},
    {'A', -1048576, 1, 2097152},
    {'e', 0, 1, 4},
    {'i', 0, 1, 4},
    {'j', 0, 1, 4},
    {'I', 0, 1, 2},
    {'J', 0, 1, 2},
    {'k', 0, 1, 4},
    {'g', 0, 1, 8},
    {'t', 0, 1, 16},
    {'o', 0, 1, 16},
    {'p', 0, 1, 8},
    {'q', 0, 1, 8},
};
enum { NUM_FORMS = sizeof forms / sizeof *forms, NUM_RANGES = sizeof ranges / sizeof *ranges };
enum { TURNS = 40, MOST_OPERANDS = 5 };

/* The first, the last, or any. */
static int64_t operand(char letter, int turn, at_rng *rng) {
    for (int i = 0; i < NUM_RANGES; i++) {
        if (ranges[i].letter != letter) continue;
        const int64_t last = ranges[i].num - 1;
        const int64_t k = turn == 0   ? 0
                          : turn == 1 ? last
                                      : (int64_t)at_rng_below(rng, (uint64_t)ranges[i].num);
        return ranges[i].first + ranges[i].step * k;
    }
    fail_msg("no range for %c", letter);
    return 0;
}

static int operands_of(const char *text, int turn, at_rng *rng, int64_t *out) {
    int n = 0;
    for (const char *s = text; (s = strchr(s, '%')); s++) {
        s += 1 + (s[1] == '+');
        assert_true(n < MOST_OPERANDS);
        out[n++] = operand(*s, turn, rng);
    }
    return n;
}

/* What as makes of the lines of a text; NULL: it is not there. */
static const uint32_t *assemble(at_arena *a, const char *text, size_t *num_words) {
    char *bytes, *said;
    size_t n;
    FILE *f = fopen(at_format(a, "%s/forms.s", folder), "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    const char *command =
        at_format(a,
                  "cd %s && { command -v aarch64-linux-gnu-as || exit 9; } >messages && "
                  "aarch64-linux-gnu-as -march=armv8.2-a+dotprod+i8mm+fp16fml forms.s -o forms.o "
                  ">messages 2>&1 "
                  "&& aarch64-linux-gnu-objcopy -O binary -j .text forms.o forms.bin",
                  folder);
    const int status = system(command);
    if (status == 9 << 8) return NULL;
    CALL(read_whole(a, at_format(a, "%s/messages", folder), &said, &n, &err));
    if (status) fail_msg("%s", said);
    CALL(read_whole(a, at_format(a, "%s/forms.bin", folder), &bytes, &n, &err));
    *num_words = n / 4;
    return (const uint32_t *)(const void *)bytes;
}

/* TURNS instructions of each form, and their texts, a line each. */
static at_a64_code make_all(at_arena *a, at_text *text) {
    at_a64_code code = {.arena = a};
    at_rng rng;
    at_rng_seed(&rng, 58, 1);
    for (int i = 0; i < NUM_FORMS * TURNS; i++) {
        int64_t operands[MOST_OPERANDS];
        char line[100];
        const int form = i / TURNS;
        operands_of(forms[form].text, i % TURNS, &rng, operands);
        at_a64_emit(&code, (at_a64_form)form, operands);
        if (code.bad) fail_msg("%s: an operand does not fit", forms[form].name);
        const uint8_t *word = (const uint8_t *)&code.words.data[i];
        if (at_a64_disassemble(word, 4, line, sizeof line) != 4)
            fail_msg("%s cannot be read back", forms[form].name);
        at_text_addf(text, "%s\n", line);
    }
    return code;
}

static void every_form(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text text = {0};
    size_t num_words = 0;
    const at_a64_code code = make_all(a, &text);
    const uint32_t *made = assemble(a, at_text_str(&text), &num_words);
    if (!made) {
        print_message("aarch64-linux-gnu-as is not installed\n");
        skip();
    }
    assert_int_equal(num_words, NUM_FORMS * TURNS);
    for (int i = 0; i < NUM_FORMS * TURNS; i++) {
        char line[100];
        at_a64_disassemble((const uint8_t *)&code.words.data[i], 4, line, sizeof line);
        if (made[i] != code.words.data[i])
            fail_msg("%s, %s: %08x, as makes %08x", forms[i / TURNS].name, line,
                     (unsigned)code.words.data[i], (unsigned)made[i]);
    }
    print_message("%d forms, %d instructions\n", NUM_FORMS, NUM_FORMS * TURNS);
    at_text_free(&text);
    at_arena_free(a);
}

/* What Capstone reads of all words, a line each behind that of its version; NULL: it is not there.
 */
static char *decode(at_arena *a, const at_a64_code *code) {
    const char *named = getenv("AUTOTUNE_PYTHON"), *python = named ? named : "python3";
    char *said;
    size_t n;
    FILE *f = fopen(at_format(a, "%s/words", folder), "w");
    assert_non_null(f);
    for (int i = 0; i < code->words.len; i++) fprintf(f, "%08x\n", (unsigned)code->words.data[i]);
    assert_int_equal(fclose(f), 0);
    const int status =
        system(at_format(a,
                         "{ %s tests/codegen/read_a64.py || /usr/bin/python3 "
                         "tests/codegen/read_a64.py; } <%s/words >%s/read 2>/dev/null",
                         python, folder, folder));
    if (status) return NULL;
    CALL(read_whole(a, at_format(a, "%s/read", folder), &said, &n, &err));
    return said;
}

/* Another decoder: as makes the words again of what it reads. Forms that it does not know are told.
 */
static void read_by_capstone(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text text = {0}, texts = {0}, unknown = {0};
    size_t num_words = 0;
    int *of = AT_NEW_ARRAY(a, int, NUM_FORMS *TURNS), n = 0, i = 0, last = -1;
    const at_a64_code code = make_all(a, &text);
    char *line = decode(a, &code);
    if (!line) {
        print_message("no Python with capstone (package python3-capstone) is installed\n");
        skip();
    }
    print_message("Capstone %.*s\n", (int)strcspn(line, "\n"), line);
    for (line = strchr(line, '\n') + 1; *line; line = strchr(line, '\n') + 1, i++) {
        if (*line != '?') {
            at_text_addn(&texts, line, strcspn(line, "\n") + 1);
            of[n++] = i;
        } else if (i / TURNS != last) at_text_addf(&unknown, " %s", forms[last = i / TURNS].name);
    }
    assert_int_equal(i, NUM_FORMS * TURNS);
    const uint32_t *made = assemble(a, at_text_str(&texts), &num_words);
    if (!made) skip();
    assert_int_equal(num_words, n);
    for (int k = 0; k < n; k++)
        if (made[k] != code.words.data[of[k]])
            fail_msg("%s: %08x, as Capstone reads it %08x", forms[of[k] / TURNS].name,
                     (unsigned)code.words.data[of[k]], (unsigned)made[k]);
    print_message("%d of %d instructions; not known to it:%s\n", n, i, at_text_str(&unknown));
    assert_true(n > i / 2);
    at_text_free(&unknown);
    at_text_free(&texts);
    at_text_free(&text);
    at_arena_free(a);
}

/* One beyond either end of a range is refused. */
static void what_does_not_fit(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    for (int form = 0; form < NUM_FORMS; form++) {
        int64_t operands[MOST_OPERANDS];
        at_rng rng;
        at_rng_seed(&rng, 1, 1);
        const int n = operands_of(forms[form].text, 0, &rng, operands);
        const char *s = forms[form].text;
        for (int k = 0; k < n; k++) {
            s = strchr(s, '%') + 1;
            s += *s == '+';
            for (int i = 0; i < NUM_RANGES; i++) {
                const int64_t kept = operands[k];
                const bool is_register = strchr("dnma", *s) != NULL;
                if (ranges[i].letter != *s) continue;
                at_a64_code code = {.arena = a};
                operands[k] = ranges[i].first + ranges[i].step * ranges[i].num + is_register;
                at_a64_emit(&code, (at_a64_form)form, operands);
                if (!code.bad && *s != 'w' && *s != 'y' && *s != 'r')
                    fail_msg("%s takes %lld", forms[form].name, (long long)operands[k]);
                code.bad = false;
                operands[k] = ranges[i].first - ranges[i].step;
                at_a64_emit(&code, (at_a64_form)form, operands);
                if (!code.bad && *s != 'w' && *s != 'y' && *s != 'r')
                    fail_msg("%s takes %lld", forms[form].name, (long long)operands[k]);
                operands[k] = kept;
            }
        }
    }
    at_arena_free(a);
}

/* fmov's numbers are those with four bits behind the point and an exponent from -3 to 4. */
static void short_floats(void **state) {
    (void)state;
    int found = 0;
    for (int exponent = -12; exponent <= 12; exponent++)
        for (int part = 32; part < 64; part++) {
            int64_t bits;
            const double x = ldexp(part, exponent - 5);
            const bool wanted = part % 2 == 0 && exponent >= -3 && exponent <= 4;
            assert_int_equal(at_a64_short_float(x, &bits), wanted);
            found += wanted;
            if (wanted) assert_true(at_a64_short_float(-x, &bits) && bits >> 7 == 1);
        }
    assert_int_equal(found, 128);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form), cmocka_unit_test(read_by_capstone),
        cmocka_unit_test(what_does_not_fit), cmocka_unit_test(short_floats)};
    return cmocka_run_group_tests_name("codegen/a64", tests, make_folder, remove_folder);
}
