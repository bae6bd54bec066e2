/* knobs/reorder.c: the permutations of a reorder knob. Source: AutoTVM, ReorderSpace. */
#include "knobs/knobs_int.h"

#include <string.h>

typedef AT_VEC(int64_t) positions;

/* All orders of values[from..to) in lexicographic order, the rest of the row as it is. */
static void permute(at_arena *a, positions *out, int64_t *row, int n, int from, int to) {
    if (from >= to) {
        for (int i = 0; i < n; i++) *at_push(a, out) = row[i];
        return;
    }
    for (int i = from; i < to; i++) {
        /* Value i comes to the front and those before it move up: the rest stays ascending. */
        int64_t chosen = row[i];
        memmove(row + from + 1, row + from, (size_t)(i - from) * sizeof *row);
        row[from] = chosen;
        permute(a, out, row, n, from + 1, to);
        memmove(row + from, row + from + 1, (size_t)(i - from) * sizeof *row);
        row[i] = chosen;
    }
}

typedef struct chain {
    const int *item;
    int len;
} chain;

/* Again and again the next item of the chain that has most left; of equals, the earlier one's. */
static void merge(at_arena *a, positions *out, chain *chains, int n) {
    for (;;) {
        chain *longest = NULL;
        for (int i = 0; i < n; i++)
            if (chains[i].len > (longest ? longest->len : 0)) longest = &chains[i];
        if (!longest) return;
        *at_push(a, out) = *longest->item++;
        longest->len--;
    }
}

static int chain_length(const int row[8]) {
    int n = 0;
    while (n < 8 && row[n] >= 0) n++;
    return n;
}

static void interleave(at_arena *a, positions *out, const at_reorder_options *o, bool cuda) {
    int ns = o->num_spatial, nr = o->num_reduce;
    chain *heads = AT_NEW_ARRAY(a, chain, ns), *rest = AT_NEW_ARRAY(a, chain, ns + nr);
    for (int i = 0; i < ns; i++) {
        int n = chain_length(o->spatial[i]);
        heads[i] = (chain){o->spatial[i], n ? n - 1 : 0};
        rest[i] = (chain){o->spatial[i] + (n ? n - 1 : 0), n ? 1 : 0};
    }
    for (int i = 0; i < nr; i++) rest[ns + i] = (chain){o->reduce[i], chain_length(o->reduce[i])};
    merge(a, out, heads, ns);
    if (cuda) {
        merge(a, out, rest + ns, nr);
        merge(a, out, rest, ns);
    } else {
        merge(a, out, rest, ns + nr);
    }
}

/* Rows from outside must name each axis once. */
static at_status check_rows(const char *name, const positions *p, int num_axes, at_error *err) {
    for (int row = 0; row < p->len; row += num_axes)
        for (int i = 0; i < num_axes; i++) {
            int64_t v = p->data[row + i];
            bool again = false;
            for (int j = 0; j < i; j++) again |= p->data[row + j] == v;
            if (v < 0 || v >= num_axes || again)
                return at_fail(err, AT_E_INPUT,
                               "knob %s: position %lld %s; an order names each of 0 to %d once",
                               name, (long long)v, again ? "occurs twice" : "is no axis",
                               num_axes - 1);
        }
    return AT_OK;
}

static at_status too_large(const char *name, int n, at_error *err) {
    int64_t count = 1;
    for (int i = 2; i <= n; i++)
        if ((count *= i) > AT_MAX_ENTITIES) return at_knob_too_many(name, err);
    return AT_OK;
}

at_status at_space_reorder(at_space *s, const char *name, int num_axes, const at_reorder_options *o,
                           at_error *err) {
    const char *policy = o->policy;
    if (num_axes < 1)
        return at_fail(err, AT_E_INPUT, "knob %s: %d axes to reorder; at least 1 is needed", name,
                       num_axes);
    bool all = !strcmp(policy, "all"), interval = !strcmp(policy, "interval_all");
    bool identity = !strcmp(policy, "identity"), cuda = !strcmp(policy, "interleave_cuda");
    positions p = {0};
    if (all || interval || identity) {
        int begin = interval ? o->begin : 0, end = interval ? o->end : all ? num_axes : 0;
        if (begin < 0 || begin > end || end > num_axes)
            return at_fail(err, AT_E_INPUT, "knob %s: interval %d to %d; it must lie in 0 to %d",
                           name, begin, end, num_axes);
        AT_TRY(too_large(name, end - begin, err));
        int64_t *row = AT_NEW_ARRAY(s->arena, int64_t, num_axes);
        for (int i = 0; i < num_axes; i++) row[i] = i;
        permute(s->arena, &p, row, num_axes, begin, end);
    } else if (!strcmp(policy, "candidate")) {
        if (num_axes > AT_REORDER_AXES)
            return at_fail(err, AT_E_INPUT, "knob %s: %d axes; candidate orders have at most %d",
                           name, num_axes, AT_REORDER_AXES);
        for (int i = 0; i < o->num_candidates; i++)
            for (int j = 0; j < num_axes; j++) *at_push(s->arena, &p) = o->candidate[i][j];
    } else if (cuda || !strcmp(policy, "interleave")) {
        interleave(s->arena, &p, o, cuda);
        if (p.len != num_axes)
            return at_fail(err, AT_E_INPUT,
                           "knob %s: the chains hold %d positions; %d axes are to be ordered", name,
                           p.len, num_axes);
    } else {
        return at_fail(
            err, AT_E_INPUT,
            "knob %s: unknown reorder policy \"%s\"; there are identity, all, interval_all, "
            "candidate, interleave, interleave_cuda",
            name, policy);
    }
    AT_TRY(check_rows(name, &p, num_axes, err));
    if (!p.len) return at_fail(err, AT_E_INPUT, "knob %s: no candidates given", name);
    at_knob *k = at_knob_new(s, AT_KNOB_REORDER, name, policy, num_axes);
    k->axes = num_axes;
    k->count = p.len / num_axes;
    k->values = p.data;
    return at_space_put(s, k, err);
}
