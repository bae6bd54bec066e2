/* foreign/fortran_call.c: does the call fit the subroutine? Of a Fortran file no compiler sees
 * both: the call is C, and passes addresses alone. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "foreign/foreign_int.h"

enum { MOST_DUMMIES = 256 };

/* Behind a comment and what is blank; lines of the preprocessor stay. */
static const char *skip_blanks(const char *p) {
    for (;;) {
        while (isspace((unsigned char)*p) || *p == '&') p++;
        if (*p != '!') return p;
        p += strcspn(p, "\n");
    }
}

/* Behind the word and its function's name, where a subroutine of that name begins at p; or NULL. */
static const char *subroutine_at(const char *p, const char *function) {
    static const char word[] = "subroutine";
    const size_t n = strlen(function);
    if (strncasecmp(p, word, sizeof word - 1) || !isspace((unsigned char)p[sizeof word - 1]))
        return NULL;
    p = skip_blanks(p + sizeof word - 1);
    return !strncasecmp(p, function, n) && !at_in_name(p[n]) ? p + n : NULL;
}

/* Is what stands before p on its line nothing but `end` or a comment? Then it begins nothing. */
static bool begins_nothing(const char *text, const char *p) {
    const char *line = p;
    while (line > text && line[-1] != '\n') line--;
    if (memchr(line, '!', (size_t)(p - line))) return true;
    line += strspn(line, " \t");
    return !strncasecmp(line, "end", 3);
}

/* Where its parameters begin; NULL: the file has no such subroutine. */
static const char *find_params(const char *text, const char *function) {
    for (const char *p = text; *p; p++) {
        if (p > text && at_in_name(p[-1])) continue;
        const char *behind = subroutine_at(p, function);
        if (behind && !begins_nothing(text, p)) return skip_blanks(behind);
    }
    return NULL;
}

/* The names in parentheses; -1: they are not plain names, as where the preprocessor decides. */
static int list_params(at_arena *a, const char *p, const char *names[MOST_DUMMIES]) {
    int n = 0;
    if (*p != '(') return 0;
    p = skip_blanks(p + 1);
    while (*p != ')') {
        const char *begin = p;
        while (at_in_name(*p)) p++;
        if (p == begin || n == MOST_DUMMIES) return -1;
        names[n++] = at_strndup(a, begin, (size_t)(p - begin));
        p = skip_blanks(p);
        if (*p == ',') p = skip_blanks(p + 1);
        else if (*p != ')') return -1;
    }
    return n;
}

static int place_of(const char *const *names, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (!strcasecmp(names[i], name)) return i;
    return -1;
}

static at_status fail_number(const at_head *h, const char *function, const char *const *names,
                             int n, at_error *err) {
    at_text list = {0};
    for (int i = 0; i < n; i++) at_text_addf(&list, "%s%s", i ? ", " : "", names[i]);
    at_status s =
        at_fail(err, AT_E_INPUT, "%s:%d: the call has %d parameters, and subroutine %s has %d: %s",
                h->pub.path, h->call.line, h->call.params.len, function, n,
                n ? at_text_str(&list) : "none");
    at_text_free(&list);
    return s;
}

/* The same names in another order are a mistake; other names are the subroutine's own. */
static at_status check_order(const at_head *h, const char *function, const char *const *names,
                             int n, at_error *err) {
    int moved = -1;
    for (int i = n - 1; i >= 0; i--) {
        const int at = place_of(names, n, h->call.params.data[i].name);
        if (at < 0) return AT_OK;
        if (at != i) moved = i;
    }
    if (moved < 0) return AT_OK;
    return at_fail(err, AT_E_INPUT,
                   "%s:%d: parameter %d of the call is \"%s\", and that of subroutine %s \"%s\"",
                   h->pub.path, h->call.line, moved + 1, h->call.params.data[moved].name, function,
                   names[moved]);
}

static at_status check(const at_head *h, const char *function, at_error *err) {
    const char *names[MOST_DUMMIES];
    const char *params = find_params(h->pub.text, function);
    const int n = params ? list_params(h->arena, params, names) : -1;
    if (n < 0) return AT_OK;
    if (n != h->call.params.len) return fail_number(h, function, names, n, err);
    return check_order(h, function, names, n, err);
}

at_status at_head_check_fortran(const at_head *h, at_error *err) {
    if (h->pub.language != AT_LANGUAGE_FORTRAN) return AT_OK;
    AT_TRY(check(h, h->call.function, err));
    return h->pub.reference ? check(h, h->pub.reference, err) : AT_OK;
}
