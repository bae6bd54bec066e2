/* base/c_text.c: text of others in C: names that C and C++ take for themselves, names made valid,
 * comments. What a file or the command line holds reaches emitted C through these only. */
#include "base/base.h"

#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

static const char keywords[] =
    /* C */
    " _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert "
    "_Thread_local auto break case char const continue default do double else enum extern float "
    "for goto if inline int long register restrict return short signed sizeof static struct "
    "switch typedef union unsigned void volatile while "
    /* C23 */
    "alignas alignof bool constexpr false nullptr static_assert thread_local true typeof "
    "typeof_unqual "
    /* C++ */
    "and and_eq asm bitand bitor catch char8_t char16_t char32_t class compl concept consteval "
    "constinit const_cast co_await co_return co_yield decltype delete dynamic_cast explicit "
    "export friend mutable namespace new noexcept not not_eq operator or or_eq private protected "
    "public reinterpret_cast requires static_cast template this throw try typeid typename using "
    "virtual wchar_t xor xor_eq "
    /* macros in small letters, of headers and compilers */
    "complex errno math_errhandling noreturn sa_handler sa_sigaction si_addr si_addr_lsb si_arch "
    "si_band si_call_addr si_fd si_int si_lower si_overrun si_pid si_pkey si_ptr si_status "
    "si_stime si_syscall si_timerid si_uid si_upper si_utime si_value sigev_notify_attributes "
    "sigev_notify_function stderr stdin stdout linux unix i386 ";

static const char macros[] =
#include "base/c_macros.def"
    ;

static const char library[] =
#include "base/c_library.def"
    ;

static bool holds(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *p = list; n && (p = strstr(p, name)); p += n)
        if (p[-1] == ' ' && p[n] == ' ') return true;
    return false;
}

static bool has_capital(const char *name) {
    for (; *name; name++)
        if (*name >= 'A' && *name <= 'Z') return true;
    return false;
}

bool at_c_is_reserved(const char *name) {
    return !strncmp(name, "at_", 3) || !strncmp(name, "AT_", 3) || !strncmp(name, "omp_", 4) ||
           *name == '_' || holds(keywords, name) || (has_capital(name) && holds(macros, name));
}

/* No function can have it. */
static bool is_taken(const char *name) {
    return at_c_is_reserved(name) || !strcmp(name, "main") || holds(library, name);
}

/* ASCII whatever the locale. */
static bool is_letter(unsigned char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
static bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

const char *at_c_name_fault(const char *name) {
    bool ok = is_letter((unsigned char)*name);
    for (const unsigned char *s = (const unsigned char *)name; *s; s++)
        ok &= is_letter(*s) || is_digit(*s) || *s == '_';
    if (!ok) return "not a name in C; write letters, digits and _, a letter first";
    if (strlen(name) > AT_C_NAME_MAX) return "too long for a name; at most 120 characters";
    if (strstr(name, "__")) return "C++ keeps names with __ for itself; write another";
    if (at_c_is_reserved(name))
        return "C, C++ or the file's own parts use this name; write another";
    if (is_taken(name)) return "the C library uses this name; write another";
    return NULL;
}

char *at_c_name(at_arena *a, const char *text) {
    at_text t = {0};
    if (!is_letter((unsigned char)*text)) at_text_add(&t, "k");
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        bool plain = is_letter(*s) || is_digit(*s);
        if (plain) at_text_addn(&t, (const char *)s, 1);
        else if (!t.len || t.data[t.len - 1] != '_') at_text_add(&t, "_");
    }
    while (t.len > 1 && t.data[t.len - 1] == '_') t.data[--t.len] = 0;
    if (t.len > AT_C_NAME_MAX - 10) {
        at_hash h;
        char hex[33];
        at_hash_init(&h);
        at_hash_add_str(&h, text);
        at_hash_hex(&h, hex);
        t.data[t.len = AT_C_NAME_MAX - 10] = 0;
        while (t.data[t.len - 1] == '_') t.data[--t.len] = 0;
        at_text_addf(&t, "_%s", hex + 24); /* the digits that the last bytes change too */
    }
    const char *first = is_taken(at_text_str(&t)) ? "k_" : "";
    char *name = at_format(a, "%s%s", first, at_text_str(&t));
    at_text_free(&t);
    return name;
}

/* ---- comments -------------------------------------------------------------------------------- */

static bool ends_line(const char *s) {
    while (*s == ' ' || *s == '\t') s++;
    return *s == 0 || *s == '\n';
}

void at_text_add_c_comment(at_text *out, const char *text) {
    for (const char *s = text, *end = s + strlen(s); s < end;) {
        const char *from = s;
        int32_t c = at_utf8_next(&s, end);
        char before = out->len ? out->data[out->len - 1] : 0;
        if (c < 0) at_text_addf(out, "<%02x>", (unsigned char)*from);
        else if (c == '\n') at_text_add(out, "\n");
        else if (c == '\t') at_text_add(out, " ");
        else if (at_is_unseen(c)) at_text_addf(out, c < 0x100 ? "<%02x>" : "<U+%04X>", (unsigned)c);
        else if (c == '\\' && ends_line(s)) at_text_add(out, "<5c>");
        else {
            /* neither a comment's beginning or end, nor half a trigraph */
            bool parts = (before == '*' && c == '/') || (before == '/' && c == '*') ||
                         (before == '?' && c == '?');
            if (parts) at_text_add(out, " ");
            at_text_addn(out, from, (size_t)(s - from));
        }
    }
}

/* ---- constants ------------------------------------------------------------------------------- */

/* Three digits: what follows cannot belong to them. */
void at_text_add_c_string(at_text *t, const char *text) {
    at_text_add(t, "\"");
    for (; *text; text++) {
        if (*text < ' ' || *text > '~' || strchr("\"\\?", *text))
            at_text_addf(t, "\\%03o", (unsigned)(unsigned char)*text);
        else at_text_addn(t, text, 1);
    }
    at_text_add(t, "\"");
}
