/* tests/codegen/random_shrink.c: a failing program made smaller, one change at a time, as long as
 * it fails in the same way. */
#include "tests/codegen/random_program.h"

#include <stdlib.h>
#include <string.h>

typedef struct shrinker {
    random_program *p, *trial;
    bool (*fails)(void *context, const random_program *p);
    void *context;
    bool any; /* something became smaller in this round */
} shrinker;

/* Keeps the trial if it fails too. */
static bool keep(shrinker *s) {
    if (!s->fails(s->context, s->trial)) {
        *s->trial = *s->p;
        return false;
    }
    *s->p = *s->trial;
    s->any = true;
    return true;
}

static void drop_annotations(shrinker *s) {
    for (int i = 1; i < s->p->num_nodes; i++) {
        if (s->p->node[i].ann == AT_ANN_NONE) continue;
        s->trial->node[i].ann = AT_ANN_NONE;
        keep(s);
    }
}

/* Base sizes, extents of pieces among them: 1, or half, or one less. */
static void reduce_sizes(shrinker *s) {
    for (int i = 0; i < s->p->num_sizes; i++)
        for (int step = 0; step < 3; step++) {
            int64_t v = s->p->size[i].value;
            if (*s->p->size[i].expr || v < (step ? 3 : 1)) continue;
            s->trial->size[i].value = step == 0 ? v > 1 : step == 1 ? v / 2 : v - 1;
            while (keep(s) && step == 2 && s->p->size[i].value > 1) s->trial->size[i].value--;
        }
}

static void unfuse(shrinker *s) {
    for (int i = 1; i < s->p->num_nodes && s->p->num_nodes < RP_NODES; i++) {
        rp_node *n = &s->trial->node[i];
        if (n->is_leaf || n->num_pieces < 2) continue;
        int inner = s->trial->num_nodes++;
        rp_node *c = &s->trial->node[inner];
        *c = *n;
        c->num_pieces--;
        memmove(c->piece, c->piece + 1, sizeof c->piece[0] * (size_t)c->num_pieces);
        if (c->ann == AT_ANN_PARA) c->ann = AT_ANN_NONE;
        n->num_pieces = 1;
        c->next = -1;
        c->parent = i;
        n->child = inner;
        for (int k = c->child; k >= 0; k = s->trial->node[k].next) s->trial->node[k].parent = inner;
        keep(s);
    }
}

/* Ignored loops have no use. */
static void run_once(shrinker *s) {
    for (int i = 1; i < s->p->num_nodes; i++)
        if (s->p->node[i].fixed > 1) {
            s->trial->node[i].fixed = 1;
            keep(s);
        }
    if (s->p->pack_inline) {
        s->trial->pack_inline = false;
        keep(s);
    }
}

/* The last stage goes with its nests, and what it read becomes the output. */
static void drop_last_stage(shrinker *s) {
    char *line = s->trial->compute, *last = NULL, name[RP_NAME + 4], init[RP_NAME + 8];
    for (char *p = line; p && *p; p = strchr(p, '\n'), p += p != NULL) {
        const char *colon = strstr(p, "] :"), *end = strchr(p, '\n');
        if (*p != ' ' && !(colon && colon < end)) last = p;
    }
    if (!last || last == line) return;
    snprintf(name, sizeof name, "@%.*s ", (int)strcspn(last, "["), last);
    snprintf(init, sizeof init, "@%.*s.init", (int)strcspn(last, "["), last);
    *last = 0;
    for (int i = 1; i < s->trial->num_nodes; i++) {
        rp_node *n = s->trial->node;
        if (!n[i].is_leaf ||
            (strncmp(n[i].leaf, name, strlen(name)) && strncmp(n[i].leaf, init, strlen(init))))
            continue;
        int at = i;
        while (n[at].parent > 0 && n[n[at].parent].child == at && n[at].next < 0) at = n[at].parent;
        int *link = &n[n[at].parent].child;
        while (*link != at) link = &n[*link].next;
        *link = n[at].next;
    }
    keep(s);
}

/* Loops whose one piece has extent 1 say nothing; text only. */
void random_program_shrink(random_program *p, bool (*fails)(void *context, const random_program *p),
                           void *context) {
    shrinker s = {.p = p, .fails = fails, .context = context};
    s.trial = malloc(sizeof *p);
    AT_ASSERT(s.trial);
    *s.trial = *p;
    do {
        s.any = false;
        drop_last_stage(&s);
        reduce_sizes(&s);
        drop_annotations(&s);
        unfuse(&s);
        run_once(&s);
    } while (s.any);
    free(s.trial);
}
