/* codegen/aarch64/asm.c: instructions by the table of forms. */
#include "codegen/aarch64/asm.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const struct {
    uint32_t word;
    const char *text;
} forms[] = {
#define A64(name, word, text) {word, text},
#include "codegen/aarch64/forms.def"
#undef A64
};
_Static_assert(sizeof forms / sizeof *forms == AT_A64_COUNT, "one row per form");

/* Where the bits of an operand lie: `bits` of them at `at`, the lowest, and what is above them at
 * `more_at`. What is written there is (from + sign * x) >> scale. */
typedef struct field {
    char letter;
    int8_t at, bits, more_at, more_bits, scale;
    bool is_signed;
    int8_t from, sign;
} field;

static const field fields[] = {
    {'d', 0, 5, 0, 0, 0, false, 0, 1}, /* registers */
    {'n', 5, 5, 0, 0, 0, false, 0, 1},    {'m', 16, 5, 0, 0, 0, false, 0, 1},
    {'a', 10, 5, 0, 0, 0, false, 0, 1},   {'h', 5, 16, 0, 0, 0, false, 0, 1}, /* numbers */
    {'c', 10, 12, 0, 0, 0, false, 0, 1},  {'w', 16, 6, 0, 0, 0, false, 0, 1},
    {'y', 10, 6, 0, 0, 0, false, -1, 1},  {'l', 16, 5, 0, 0, 0, false, 0, 1},
    {'r', 16, 5, 0, 0, 0, false, 32, -1}, {'f', 5, 5, 16, 3, 0, false, 0, 1},
    {'Q', 10, 12, 0, 0, 4, false, 0, 1}, /* bytes from a register */
    {'X', 10, 12, 0, 0, 3, false, 0, 1},  {'S', 10, 12, 0, 0, 2, false, 0, 1},
    {'H', 10, 12, 0, 0, 1, false, 0, 1},  {'B', 10, 12, 0, 0, 0, false, 0, 1},
    {'u', 12, 9, 0, 0, 0, true, 0, 1},    {'b', 5, 19, 0, 0, 2, true, 0, 1},   /* from here */
    {'A', 29, 2, 5, 19, 0, true, 0, 1},   {'e', 21, 1, 11, 1, 0, false, 0, 1}, /* lanes */
    {'i', 19, 2, 0, 0, 0, false, 0, 1},   {'j', 13, 2, 0, 0, 0, false, 0, 1},
    {'I', 20, 1, 0, 0, 0, false, 0, 1},   {'J', 14, 1, 0, 0, 0, false, 0, 1},
    {'k', 12, 1, 30, 1, 0, false, 0, 1},  {'g', 11, 2, 30, 1, 0, false, 0, 1},
    {'t', 10, 3, 30, 1, 0, false, 0, 1},  {'o', 16, 4, 0, 0, 0, false, 0, 1},
    {'p', 20, 2, 11, 1, 0, false, 0, 1},  {'q', 18, 3, 0, 0, 0, false, 0, 1},
};

static const field *field_of(char letter) {
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].letter == letter) return &fields[i];
    AT_BUG("no operand of A64 is %c", letter);
}

static bool place(const field *f, int64_t x, uint32_t *word) {
    const int bits = f->bits + f->more_bits;
    x = f->from + f->sign * x;
    if (x & ((1 << f->scale) - 1)) return false;
    x >>= f->scale; /* of a negative number, too, as every compiler here has it */
    const int64_t least = f->is_signed ? -((int64_t)1 << (bits - 1)) : 0;
    if (x < least || x >= least + ((int64_t)1 << bits)) return false;
    const uint32_t low = (1u << f->bits) - 1, high = (1u << f->more_bits) - 1;
    *word &= ~(low << f->at | high << f->more_at);
    *word |= ((uint32_t)x & low) << f->at | ((uint32_t)(x >> f->bits) & high) << f->more_at;
    return true;
}

static int64_t placed(const field *f, uint32_t word) {
    const int bits = f->bits + f->more_bits;
    int64_t x = word >> f->at & ((1u << f->bits) - 1);
    x |= (int64_t)(word >> f->more_at & ((1u << f->more_bits) - 1)) << f->bits;
    if (f->is_signed && x >> (bits - 1)) x -= (int64_t)1 << bits;
    return (x * ((int64_t)1 << f->scale) - f->from) * f->sign;
}

/* The next operand's letter in a text, which is moved behind it; 0: there is none. */
static char next_letter(const char **text) {
    while (**text && **text != '%') ++*text;
    if (!**text) return 0;
    *text += (*text)[1] == '+' ? 3 : 2;
    return (*text)[-1];
}

static bool word_of(at_a64_form form, const int64_t *operands, uint32_t *word) {
    const char *text = forms[form].text;
    bool fits = true;
    *word = forms[form].word;
    for (char c; (c = next_letter(&text));) fits &= place(field_of(c), *operands++, word);
    return fits;
}

void at_a64_emit(at_a64_code *a, at_a64_form form, const int64_t *operands) {
    uint32_t word;
    if (!word_of(form, operands, &word)) a->bad = true;
    *at_push(a->arena, &a->words) = word;
}

/* ---- back ------------------------------------------------------------------------------------ */

static uint32_t operand_bits(const char *text) {
    uint32_t bits = 0;
    for (char c; (c = next_letter(&text));) {
        const field *f = field_of(c);
        bits |= ((1u << f->bits) - 1) << f->at | ((1u << f->more_bits) - 1) << f->more_at;
    }
    return bits;
}

static int find_form(uint32_t word) {
    for (int i = 0; i < AT_A64_COUNT; i++)
        if ((word & ~operand_bits(forms[i].text)) == forms[i].word) return i;
    return -1;
}

void at_a64_aim(at_a64_code *a, int at, int64_t bytes) {
    uint32_t *word = &a->words.data[at];
    const char *text = forms[find_form(*word)].text;
    char last = 0;
    for (char c; (c = next_letter(&text));) last = c;
    if (!place(field_of(last), bytes, word)) a->bad = true;
}

/* fmov's numbers: a sign, an exponent of 3 bits around 1, four bits behind the point. */
static double short_float(int64_t bits) {
    const int exponent = (int)(bits >> 4 & 7), power = (exponent ^ 4) - 3;
    return ldexp((bits >> 7 ? -1.0 : 1.0) * (16 + (double)(bits & 15)) / 16, power);
}

bool at_a64_short_float(double x, int64_t *bits) {
    int power;
    const double part = 32 * frexp(fabs(x), &power); /* from 16 to below 32 */
    if (!isfinite(x) || x == 0 || part != floor(part) || power < -2 || power > 5) return false;
    *bits = (int64_t)(x < 0) << 7 | ((power + 2) ^ 4) << 4 | ((int64_t)part & 15);
    return true;
}

int at_a64_disassemble(const uint8_t *code, int len, char *out, size_t out_size) {
    uint32_t word;
    size_t n = 0;
    if (len < (int)sizeof word) return 0;
    memcpy(&word, code, sizeof word);
    const int form = find_form(word);
    if (form < 0) return 0;
    for (const char *s = forms[form].text; *s && n + 1 < out_size;) {
        if (*s != '%') {
            out[n++] = *s++;
            continue;
        }
        const bool plus = s[1] == '+';
        const char letter = next_letter(&s);
        const int64_t x = placed(field_of(letter), word);
        if (x == AT_A64_SP && n && out[n - 1] == 'x') { /* zero is never asked for */
            n += (size_t)snprintf(out + n - 1, out_size - n + 1, "sp") - 1;
            continue;
        }
        const int wrote = letter == 'f' ? snprintf(out + n, out_size - n, "%.9g", short_float(x))
                          : plus        ? snprintf(out + n, out_size - n, "%+lld", (long long)x)
                                        : snprintf(out + n, out_size - n, "%lld", (long long)x);
        n += wrote > 0 ? (size_t)wrote : 0;
    }
    out[n < out_size ? n : out_size - 1] = 0;
    return sizeof word;
}
