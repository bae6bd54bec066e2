/* foreign/command_head.c: a command of the user's as a kernel. Its head is written here: knobs and
 * conditions are those of the command line, its words are what flags are elsewhere. */
#include <ctype.h>
#include <string.h>

#include "foreign/foreign_int.h"

enum { MOST_WORDS = 256 };

/* ---- words ----------------------------------------------------------------------------------- */

/* Up to the next blank that no quote holds; p ends behind it. false: a quote is open. */
static bool take_word(const char **p, at_text *out) {
    char quote = 0;
    for (; **p && (quote || !isspace((unsigned char)**p)); ++*p) {
        if (quote ? **p == quote : **p == '\'' || **p == '"') {
            quote = quote ? 0 : **p;
            continue;
        }
        if (**p == '\\' && quote != '\'' && (*p)[1]) ++*p;
        at_text_addn(out, *p, 1);
    }
    return !quote;
}

/* As a shell splits them: '...' and "..." keep blanks, a backslash keeps what follows; nothing else
 * means anything. */
static at_status split_words(at_head *h, const char *line, at_error *err) {
    AT_VEC(const char *) words = {0};
    for (const char *p = line + strspn(line, " \t\n"); *p; p += strspn(p, " \t\n")) {
        at_text word = {0};
        const bool is_whole = take_word(&p, &word);
        *at_push(h->arena, &words) = at_text_take(h->arena, &word);
        if (!is_whole) return at_fail(err, AT_E_USAGE, "--command %s: a quote is open", line);
        if (words.len > MOST_WORDS)
            return at_fail(err, AT_E_USAGE, "--command: more than %d words", MOST_WORDS);
    }
    if (!words.len || !*words.data[0])
        return at_fail(err, AT_E_USAGE, "--command: names no program");
    h->pub.flags = words.data;
    h->pub.num_flags = words.len;
    return AT_OK;
}

static bool has_knob(const at_head *h, const char *name, size_t n) {
    for (int i = 0; i < h->knobs.len; i++)
        if (strlen(h->knobs.data[i].name) == n && !strncmp(h->knobs.data[i].name, name, n))
            return true;
    return false;
}

/* {NAME} in a word where no knob has this name. */
static const char *unknown_in(const at_head *h, const char *word) {
    for (const char *p = strchr(word, '{'); p; p = strchr(p + 1, '{')) {
        const char *name = p + 1, *end = name;
        while (at_in_name(*end)) end++;
        if (end > name && *end == '}' && !isdigit((unsigned char)*name) &&
            !has_knob(h, name, (size_t)(end - name)))
            return at_strndup(h->arena, name, (size_t)(end - name));
    }
    return NULL;
}

/* ---- the head -------------------------------------------------------------------------------- */

static size_t digits(const char *p) { return strspn(p, "0123456789"); }

/* 8, -1, 0.5, 1..8; 08 is a text, since it would be 8. */
static bool is_number(const char *p) {
    p += *p == '-';
    size_t n = digits(p);
    if (!n || n > 15 || (n > 1 && *p == '0')) return false;
    p += n;
    if (!strncmp(p, "..", 2)) return p[2] && !p[2 + digits(p + 2)];
    if (*p == '.') p += 1 + digits(p + 1);
    return !*p;
}

/* The head is a comment. */
static at_status check_text(const char *option, const char *text, const char *bad, at_error *err) {
    for (const char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c) || strchr(bad, *c))
            return at_fail(err, AT_E_USAGE, "%s %s: may hold no %s", option, text,
                           iscntrl((unsigned char)*c) ? "control character" : "quote or backslash");
    if (strstr(text, "*/")) return at_fail(err, AT_E_USAGE, "%s %s: may hold no */", option, text);
    return AT_OK;
}

/* "TILE=8,16,32" or "OPT=-O2,-O3", with " if CONDITION" behind it. Values are numbers where all
 * are, else texts. */
static at_status add_knob(at_arena *a, const char *knob, at_text *out, at_error *err) {
    const char *equals = strchr(knob, '='), *condition = strstr(knob, " if ");
    AT_VEC(const char *) values = {0};
    bool numbers = true;
    if (!equals) return at_fail(err, AT_E_USAGE, "--knob %s: write NAME=8,16,32", knob);
    const char *name = at_strndup(a, knob, (size_t)(equals - knob)), *fault = at_c_name_fault(name);
    if (fault) return at_fail(err, AT_E_USAGE, "--knob %s: \"%s\" is %s", knob, name, fault);
    const char *end = condition ? condition : knob + strlen(knob);
    for (const char *p = equals + 1; p <= end; p++) {
        const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
        const char *value = at_strndup(a, p, (size_t)(stop - p));
        AT_TRY(check_text("--knob", value, "\"\\", err));
        if (!*value) return at_fail(err, AT_E_USAGE, "--knob %s: a value is empty", knob);
        numbers &= is_number(value);
        *at_push(a, &values) = value;
        p = stop;
    }
    at_text_addf(out, " * knob %s =", name);
    for (int i = 0; i < values.len; i++)
        at_text_addf(out, numbers ? " %s" : " \"%s\"", values.data[i]);
    if (condition) AT_TRY(check_text("--knob", condition, "", err));
    at_text_addf(out, "%s\n", condition ? condition : "");
    return AT_OK;
}

/* What is to be as large as possible, counts as so many times 10^9 operations a second. */
static at_status add_head(at_arena *a, const at_bench_command *c, at_text *out, at_error *err) {
    at_text_addf(out,
                 "/* autotune\n * at_figure[1] : output\n * operations %s\n * unchecked\n"
                 " * call void command(float *at_figure)\n",
                 c->higher ? "1000000000" : "1");
    for (int i = 0; i < c->num_knobs; i++) AT_TRY(add_knob(a, c->knobs[i], out, err));
    for (int i = 0; i < c->num_requires; i++) {
        AT_TRY(check_text("--require", c->requires[i], "", err));
        at_text_addf(out, " * require %s\n", c->requires[i]);
    }
    at_text_add(out, " */\n");
    return AT_OK;
}

/* Other commands are other tasks. */
static const char *name_of(const at_head *h) {
    at_hash hash;
    char hex[33];
    at_hash_init(&hash);
    for (int i = 0; i < h->pub.num_flags; i++) at_hash_add_str(&hash, h->pub.flags[i]);
    at_hash_add_str(&hash, h->pub.metric);
    at_hash_add_number(&hash, h->pub.higher);
    at_hash_hex(&hash, hex);
    return at_format(h->arena, "command_%.8s", hex);
}

at_status at_command_parse(at_arena *a, const at_bench_command *c, const at_template_row **out,
                           at_error *err) {
    at_head *h;
    at_text text = {0};
    at_status s = add_head(a, c, &text, err);
    if (s == AT_OK) s = at_head_make(a, "--command", at_text_str(&text), text.len, &h, err);
    at_text_free(&text);
    AT_TRY(s);
    AT_TRY(split_words(h, c->line, err));
    for (int i = 0; i < h->pub.num_flags && !h->pub.unknown; i++)
        h->pub.unknown = unknown_in(h, h->pub.flags[i]);
    h->pub.metric = at_strdup(a, c->metric);
    h->pub.higher = c->higher;
    h->row.name = name_of(h);
    h->row.help = "a command";
    at_head_hash(h);
    *out = &h->row;
    return AT_OK;
}
