/* records/target_text.c: target texts in the one form that logs and keys use.
 * Source of behaviour: TVM v0.12, src/target/target.cc and target_kind.cc. */
#include "records/records_int.h"

#include <string.h>

static const char blanks[] = " \t\r\n";

/* The keys a kind has where the user gave none. */
static const struct { const char *kind, *key; } default_keys[] = {{"llvm", "cpu"}, {"c", "cpu"}};

static const char *next_word(at_arena *a, const char **at) {
    *at += strspn(*at, blanks);
    size_t n = strcspn(*at, blanks);
    if (!n) return NULL;
    const char *word = at_strndup(a, *at, n);
    *at += n;
    return word;
}

static void add_key(at_arena *a, at_tvm_target *t, const char *key) {
    for (int i = 0; i < t->keys.len; i++)
        if (!strcmp(t->keys.data[i], key)) return;
    *at_push(a, &t->keys) = key;
}

static void add_keys(at_arena *a, at_tvm_target *t, const char *list) {
    while (*list) {
        size_t n = strcspn(list, ",");
        if (n) add_key(a, t, at_strndup(a, list, n));
        list += n + (list[n] == ',');
    }
}

/* Kept sorted by name; of two with one name the later counts. */
static void set_option(at_arena *a, at_tvm_target *t, const char *name, const char *value) {
    int i = 0;
    while (i < t->options.len && strcmp(t->options.data[i].name, name) < 0) i++;
    if (i == t->options.len || strcmp(t->options.data[i].name, name) != 0) {
        at_push(a, &t->options);
        memmove(t->options.data + i + 1, t->options.data + i,
                (size_t)(t->options.len - 1 - i) * sizeof *t->options.data);
    }
    t->options.data[i] = (at_tvm_target_option){name, value};
}

bool at_tvm_target_parse(at_arena *a, const char *text, at_tvm_target *out) {
    *out = (at_tvm_target){.model = "unknown"};
    const char *keys = NULL, *device = NULL;
    out->kind = next_word(a, &text);
    if (!out->kind || *out->kind == '-' || *out->kind == '{') return false;
    for (const char *name; (name = next_word(a, &text));) {
        if (*name != '-') return false;
        name += strspn(name, "-");
        const char *value = strchr(name, '=');
        if (value) {
            name = at_strndup(a, name, (size_t)(value - name));
            value++;
        } else { /* "-name value", or a flag */
            text += strspn(text, blanks);
            value = *text && *text != '-' ? next_word(a, &text) : "1";
        }
        if (!*name) return false;
        if (!strcmp(name, "keys")) {
            keys = value;
            continue;
        }
        /* Only TVM v0.8 and v0.9 know it; their logs are the same as others' otherwise. */
        if (!strcmp(name, "link-params")) continue;
        if (!strcmp(name, "device")) device = value;
        if (!strcmp(name, "model")) out->model = value;
        set_option(a, out, strcmp(name, "target") ? name : "mtriple", value);
    }
    if (keys) add_keys(a, out, keys);
    bool has_default = !out->keys.len;
    if (device) add_key(a, out, device);
    for (size_t i = 0; has_default && i < sizeof default_keys / sizeof *default_keys; i++)
        if (!strcmp(out->kind, default_keys[i].kind)) add_key(a, out, default_keys[i].key);
    return true;
}

void at_tvm_target_canonical(at_text *out, const char *target) {
    at_arena *a = at_arena_new();
    at_tvm_target t;
    if (at_tvm_target_parse(a, target, &t)) {
        at_text_add(out, t.kind);
        for (int i = 0; i < t.keys.len; i++) {
            at_text_add(out, i ? "," : " -keys=");
            at_text_add(out, t.keys.data[i]);
        }
        for (int i = 0; i < t.options.len; i++) {
            const at_tvm_target_option *o = &t.options.data[i];
            at_text_addf(out, " -%s=%s", o->name, o->value);
        }
    } else { /* no text of this form: at least the same blanks everywhere */
        const char *word = next_word(a, &target);
        for (bool first = true; word; word = next_word(a, &target), first = false)
            at_text_addf(out, "%s%s", first ? "" : " ", word);
    }
    at_arena_free(a);
}
