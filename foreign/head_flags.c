/* foreign/head_flags.c: flags of the compiler: words, as they stand, that no shell sees. What names
 * a file beside the kernel is looked for there, wherever the compiler runs. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "foreign/foreign_int.h"

enum { MOST_FLAGS = 60 };

static bool is_there(const char *folder, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return !access(path, F_OK);
}

/* -Iinclude, -Llib, helper.c: relative to the kernel's folder. */
static const char *absolute(at_arena *a, const char *folder, const char *word) {
    if ((!strncmp(word, "-I", 2) || !strncmp(word, "-L", 2)) && word[2] && word[2] != '/')
        return at_format(a, "%.2s%s/%s", word, folder, word + 2);
    if (*word != '-' && *word != '/' && is_there(folder, word))
        return at_format(a, "%s/%s", folder, word);
    return word;
}

at_status at_head_flags_item(at_head *h, const at_head_item *x, at_error *err) {
    AT_VEC(const char *) words = {0};
    for (int i = 0; i < h->pub.num_flags; i++) *at_push(h->arena, &words) = h->pub.flags[i];
    for (const char *p = x->text + strspn(x->text, " \t\r\n"); *p; p += strspn(p, " \t\r\n")) {
        size_t n = strcspn(p, " \t\r\n");
        *at_push(h->arena, &words) = absolute(h->arena, h->pub.folder, at_strndup(h->arena, p, n));
        p += n;
    }
    if (words.len > MOST_FLAGS)
        return at_fail(err, AT_E_INPUT, "%s:%d: more than %d flags", h->pub.path, x->line,
                       MOST_FLAGS);
    h->pub.flags = words.data;
    h->pub.num_flags = words.len;
    return AT_OK;
}
