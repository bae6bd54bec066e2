/* knobs/annotate.c: the marks of an annotate knob. Source: AutoTVM, AnnotateSpace. */
#include "knobs/knobs_int.h"

#include <string.h>

/* In the order of the one-hot code. */
static const char *const marks[] = {"none",        "vec",        "unroll",      "blockIdx.x",
                                    "blockIdx.y",  "blockIdx.z", "threadIdx.x", "threadIdx.y",
                                    "threadIdx.z", "vthread",    "fuse"};
_Static_assert(sizeof marks / sizeof *marks == AT_NUM_MARKS, "one position per mark");
enum { NONE, VEC, UNROLL, BLOCK_X, BLOCK_Y, BLOCK_Z, THREAD_X, THREAD_Y, THREAD_Z, VTHREAD, FUSE };

int at_mark_number(const char *mark) {
    for (int i = 0; i < AT_NUM_MARKS; i++)
        if (!strcmp(marks[i], mark)) return i;
    return -1;
}

/* ---- words joined by '_'
 * ------------------------------------------------------------------------- */

enum { MAX_WORDS = 16, MAX_AXES = 64 };

typedef struct walk {
    at_knob *knob;
    int word[MAX_WORDS], num_words;
    int chosen[MAX_AXES];
    const char **into; /* NULL: only count */
    int64_t count;
} walk;

static at_status parse_words(walk *w, const char *name, const char *policy, at_error *err) {
    for (const char *p = policy;; p++) {
        size_t n = strcspn(p, "_");
        static const struct {
            const char *word;
            int mark;
        } known[] = {{"try", NONE}, {"none", NONE}, {"unroll", UNROLL}, {"vec", VEC}};
        int mark = -1;
        for (int i = 0; i < 4; i++)
            if (strlen(known[i].word) == n && !memcmp(known[i].word, p, n)) mark = known[i].mark;
        if (mark < 0 || w->num_words == MAX_WORDS)
            return at_fail(
                err, AT_E_INPUT,
                "knob %s: unknown annotate policy \"%s\"; it is words of try, none, unroll, "
                "vec joined by '_', or locate_cache, bind_gpu, bind_gpu_virtual",
                name, policy);
        w->word[w->num_words++] = mark;
        p += n;
        if (!*p) return AT_OK;
    }
}

/* First axis slowest; at most one vec. */
static at_status choose(walk *w, int axis, bool has_vec, at_error *err) {
    int n = w->knob->parts;
    if (axis == n) {
        if (w->into)
            for (int i = 0; i < n; i++) w->into[w->count * n + i] = marks[w->chosen[i]];
        return ++w->count > AT_MAX_ENTITIES ? at_knob_too_many(w->knob->name, err) : AT_OK;
    }
    for (int i = 0; i < w->num_words; i++) {
        bool vec = w->word[i] == VEC;
        if (vec && has_vec) continue;
        w->chosen[axis] = w->word[i];
        AT_TRY(choose(w, axis + 1, has_vec || vec, err));
    }
    return AT_OK;
}

static at_status combine(at_space *s, at_knob *k, at_error *err) {
    walk w = {.knob = k};
    AT_TRY(parse_words(&w, k->name, k->policy, err));
    AT_TRY(choose(&w, 0, false, err));
    if (!w.count)
        return at_fail(err, AT_E_INPUT,
                       "knob %s: policy \"%s\" leaves nothing for %d axes, as only one may be vec",
                       k->name, k->policy, k->parts);
    k->count = w.count;
    k->marks = w.into = AT_NEW_ARRAY(s->arena, const char *, w.count * k->parts);
    w.count = 0;
    return choose(&w, 0, false, err);
}

/* ---- the others
 * ------------------------------------------------------------------------------------ */

static at_status locate_cache(at_space *s, at_knob *k, at_error *err) {
    if (k->parts < 1 || k->parts > k->axes)
        return at_fail(err, AT_E_INPUT, "knob %s: %d anchors; 1 to %d are possible", k->name,
                       k->parts, k->axes);
    AT_VEC(int64_t) v = {0};
    int64_t at[MAX_AXES];
    int n = k->parts, i;
    for (i = 0; i < n; i++) at[i] = i;
    do {
        if (k->count == AT_MAX_ENTITIES) return at_knob_too_many(k->name, err);
        for (i = 0; i < n; i++) *at_push(s->arena, &v) = at[i];
        k->count++;
        /* Next subset: the last position that can move does, those behind it follow closely. */
        for (i = n - 1; i >= 0 && at[i] == k->axes - n + i;) i--;
        if (i >= 0)
            for (at[i]++, i++; i < n; i++) at[i] = at[i - 1] + 1;
    } while (i >= 0);
    k->values = v.data;
    return AT_OK;
}

/* The innermost axes are bound, the others fused. */
static at_status bind(at_space *s, at_knob *k, bool virtual_threads, at_error *err) {
    int n = k->parts, per_dim = virtual_threads ? 3 : 2;
    int dims = n >= 3 * per_dim ? 3 : n >= 2 * per_dim ? 2 : n >= per_dim ? 1 : 0;
    if (!dims)
        return at_fail(err, AT_E_INPUT, "knob %s: %d axes; policy %s needs at least %d", k->name, n,
                       k->policy, per_dim);
    const char **m = AT_NEW_ARRAY(s->arena, const char *, n);
    int i = 0;
    while (i < n - dims * per_dim) m[i++] = marks[FUSE];
    for (int d = dims - 1; d >= 0; d--) m[i++] = marks[BLOCK_X + d];
    for (int d = 0; virtual_threads && d < dims; d++) m[i++] = marks[VTHREAD];
    for (int d = dims - 1; d >= 0; d--) m[i++] = marks[THREAD_X + d];
    k->marks = m;
    k->count = 1;
    return AT_OK;
}

at_status at_space_annotate(at_space *s, const char *name, int num_axes, const char *policy,
                            int num_anchor, at_error *err) {
    if (num_axes < 1 || num_axes > MAX_AXES)
        return at_fail(err, AT_E_INPUT, "knob %s: %d axes to annotate; 1 to %d are possible", name,
                       num_axes, MAX_AXES);
    bool anchors = !strcmp(policy, "locate_cache");
    at_knob *k = at_knob_new(s, AT_KNOB_ANNOTATE, name, policy, anchors ? num_anchor : num_axes);
    k->axes = num_axes;
    if (anchors) AT_TRY(locate_cache(s, k, err));
    else if (!strcmp(policy, "bind_gpu")) AT_TRY(bind(s, k, false, err));
    else if (!strcmp(policy, "bind_gpu_virtual")) AT_TRY(bind(s, k, true, err));
    else AT_TRY(combine(s, k, err));
    return at_space_put(s, k, err);
}
