/* sketch/nests.c: the kinds of nests, a row each, and how they are chosen: stage by stage from the
 * last to the first, as Ansor visits them, every row in its order. The name of a sketch, how many
 * there are and which way a stage goes that is like another one follow from the choices here. */
#include "sketch/nests.h"

#include <string.h>

/* ---- the rows -------------------------------------------------------------------------------- */

/* What already stands in the loops of another stage, or was given a tile by its reader, and what
 * costs little and is computed where it is read. */
static void find_joined(const sketch_state *s, int stage, nest_choices *out) {
    bool stands = sketch_is_joined(s, stage);
    for (int i = 0; i < s->tiles.len; i++) stands |= s->tiles.data[i].stage == stage;
    if (stands) nest_add(out, NULL, -1);
}

static at_status make_joined(sketch_state *s, int stage, const nest_choice *c) {
    (void)s, (void)stage, (void)c;
    return AT_OK;
}

static void find_dissolved(const sketch_state *s, int stage, nest_choices *out) {
    if (s->facts->of[stage].is_dissolved) nest_add(out, NULL, -1);
}

static at_status dissolve(sketch_state *s, int stage, const nest_choice *c) {
    (void)c;
    return sketch_step_of(s, AT_EDIT_DISSOLVE, s->facts->compute->tensors[stage].name);
}

/* clang-format off */
static const nest_row nests[] = {
    /* word      in_cycles is_only find                  make */
    {NULL,       true,     true,   find_joined,          make_joined},
    {NULL,       true,     true,   nest_find_written,    nest_make_written},
    {NULL,       true,     true,   find_dissolved,       dissolve},
    {"scatter",  false,    true,   nest_find_scatter,    nest_make_scatter},
    {"running",  false,    true,   nest_find_running,    nest_make_running},
    {"step",     false,    false,  nest_find_step,       nest_make_step},
    {"flat",     false,    false,  nest_find_flat,       nest_make_flat},
    {"points",   false,    false,  nest_find_points,     nest_make_points},
    {"columns",  false,    false,  nest_find_columns,    nest_make_columns},
    {"both",     false,    false,  nest_find_both,       nest_make_both},
    {"dots",     false,    false,  nest_find_narrower,   nest_make_tile},
    {"dots",     false,    false,  nest_find_few,        nest_make_tile},
    {"tile",     true,     false,  nest_find_tile,       nest_make_tile},
    {"dots",     false,    false,  nest_find_narrow,     nest_make_tile},
    {"parts",    false,    false,  nest_find_parts,      nest_make_parts},
    {"through",  false,    false,  nest_find_through,    nest_make_through},
    {"tile",     false,    false,  nest_find_strip,      nest_make_strip},
    {"tile",     false,    false,  nest_find_tile_with,  nest_make_tile},
    {"lanes",    false,    false,  nest_find_lanes_with, nest_make_lanes},
    {"tile",     false,    false,  nest_find_pointers,   nest_make_tile},
    {"tile",     false,    false,  nest_find_near,       nest_make_tile},
    {"tile",     false,    false,  nest_find_windows,    nest_make_tile},
    {"tile",     true,     false,  nest_find_late,       nest_make_tile},
    {"dots",     true,     true,   nest_find_dots,       nest_make_tile},
    {"list",     true,     true,   nest_find_list,       nest_make_list},
    {"lanes",    true,     true,   nest_find_lanes,      nest_make_lanes},
    {"blocks",   false,    true,   nest_find_blocks,     nest_make_blocks},
    {"groups",   true,     false,  nest_find_groups,     nest_make_groups},
    {NULL,       true,     false,  nest_find_plain,      nest_make_plain},
    {"through",  false,    false,  nest_find_through_rows, nest_make_through},
};
/* clang-format on */
enum { NUM_NESTS = sizeof nests / sizeof *nests };

/* ---- names ----------------------------------------------------------------------------------- */

/* Is a word a part of the name already? */
static bool is_named(const char *name, const char *word) {
    const size_t length = strlen(word);
    for (const char *p = name; (p = strstr(p, word)); p++)
        if ((p == name || p[-1] == '+') && (!p[length] || p[length] == '+')) return true;
    return false;
}

/* The first tile along h is `tile_h`, tiles of other stages are `tile_STAGE_h`. */
static const char *word_of(const sketch_state *s, int stage, const nest_row *row,
                           const nest_choice *c) {
    const char *word = at_format(s->arena, "%s_%s", row->word, c->of);
    if (row->make != nest_make_tile || !is_named(s->name, word)) return word;
    return at_format(s->arena, "%s_%s_%s", row->word, s->facts->compute->tensors[stage].name,
                     c->of);
}

/* What a choice adds to the name of a sketch: "tile_j+near_B"; "": nothing. */
static const char *name_of(const sketch_state *s, int stage, const nest_row *row,
                           const nest_choice *c) {
    static const char *const reads[] = {
        [READ_NEAR] = "near", [READ_WINDOWS] = "im2col", [READ_POINTERS] = "pointers"};
    const at_tensor *tensors = s->facts->compute->tensors, *t = &tensors[stage];
    at_text name = {0};
    if (!row->word || !c->of) return "";
    at_text_add(&name, word_of(s, stage, row, c));
    if (c->all) at_text_add(&name, "+unroll");
    else if (c->unrolled >= 0) at_text_addf(&name, "+unroll_%s", t->axes[c->unrolled].name);
    if (c->rows_first) at_text_add(&name, "+rows_first");
    if (c->groups) at_text_add(&name, "+groups");
    if (c->beside >= 0) at_text_addf(&name, "+flat_%s", t->axes[c->beside].name);
    if (c->blocked >= 0)
        at_text_addf(&name, "+%s_%s",
                     c->panels       ? "panels"
                     : c->shared_out ? "factor"
                                     : "block",
                     t->axes[c->blocked].name);
    for (int i = 0; i < c->num_reads; i++)
        if (c->read[i].how != READ_PANEL && c->read[i].how != READ_TURNED)
            at_text_addf(&name, "+%s_%s", reads[c->read[i].how],
                         tensors[s->facts->of[stage].access[c->read[i].access].tensor].name);
    if (c->late) at_text_add(&name, "+late");
    for (int i = c->num_with - 1; i >= 0; i--)
        at_text_addf(&name, "+with_%s", tensors[c->with[i]].name);
    return at_text_take(s->arena, &name);
}

/* ---- visits ---------------------------------------------------------------------------------- */

/* What one stage makes of a state, which says that it is visited. */
static void visit(const sketch_state *s, int stage, sketch_states *out) {
    const int before = out->len;
    const at_tensor *t = &s->facts->compute->tensors[stage];
    if (t->is_packing && t->num_reduce) return; /* sums of weights, once */
    for (const nest_row *row = nests; row < nests + NUM_NESTS; row++) {
        nest_choices choices = {.num = 0};
        if (s->facts->of[stage].steps && !row->in_cycles) continue;
        row->find(s, stage, &choices);
        for (int i = 0; i < choices.num; i++) {
            const nest_choice *c = &choices.of[i];
            sketch_state *b = sketch_branch(s, name_of(s, stage, row, c));
            b->row = (int)(row - nests), b->choice = i;
            if (row->make(b, stage, c) == AT_OK) *at_push(s->arena, out) = b;
            else sketch_leave(b);
        }
        if (row->is_only && choices.num && out->len > before) return;
    }
}

/* Which way a stage goes that is like another one, and which row and choice that is: all ways are
 * made and counted in an arena of their own, and what they leave is freed. false: the other stage
 * has not chosen, or among other ways. */
static bool find_way(const sketch_state *s, int stage, int *row, int *choice) {
    if (s->like[stage] == stage) return false;
    const at_symbols names = *s->symbols;
    sketch_state tried = *s;
    sketch_states ways = {0};
    tried.arena = s->trials;
    tried.tree_users = NULL; /* what is tried goes with its arena, and is not counted */
    visit(&tried, stage, &ways);
    const int way = sketch_twin_choice(s, stage, SKETCH_ASK_RULES, ways.len);
    if (way >= 0) *row = ways.data[way]->row, *choice = ways.data[way]->choice;
    *s->symbols = names;
    at_arena_reset(s->trials);
    return way >= 0;
}

/* The stage goes the way of one like it, whose name says all that this one's would. false: there is
 * no such way. */
static bool follow(const sketch_state *s, int stage, sketch_states *out) {
    nest_choices choices = {.num = 0};
    int row, choice;
    if (!find_way(s, stage, &row, &choice)) return false;
    nests[row].find(s, stage, &choices);
    sketch_state *b = sketch_branch(s, "");
    if (nests[row].make(b, stage, &choices.of[choice]) != AT_OK) {
        sketch_leave(b);
        return false;
    }
    *at_push(s->arena, out) = b;
    return true;
}

/* All ways that a stage may go; of one that others may be like, which is which is recorded. */
static void go_all_ways(const sketch_state *s, int stage, sketch_states *out) {
    const int before = out->len;
    visit(s, stage, out);
    for (int i = before; i < out->len; i++)
        sketch_record_choice(out->data[i], stage, SKETCH_ASK_RULES, out->len - before, i - before);
}

/* The first `choosing` states go on with every choice of the stage, the others with the first. */
static sketch_states visit_each(const sketch_states *states, int stage, int choosing) {
    sketch_states next = {0};
    for (int i = 0; i < states->len; i++) {
        int before = next.len;
        sketch_state *s = states->data[i];
        s->visited = stage;
        if (!follow(s, stage, &next)) go_all_ways(s, stage, &next);
        /* As it stands: in loops of its own. */
        if (next.len == before) {
            *at_push(s->arena, &next) = s;
            sketch_record_choice(s, stage, SKETCH_ASK_RULES, 1, 0);
        }
        for (; i >= choosing && next.len > before + 1; next.len--)
            sketch_leave(next.data[next.len - 1]);
    }
    for (int i = 0; i < next.len; i++) next.data[i]->visited = -1;
    return next;
}

static void leave_but(const sketch_states *all, const sketch_states *kept) {
    for (int i = 0; i < all->len; i++) {
        bool is_kept = false;
        for (int k = 0; k < kept->len && !is_kept; k++) is_kept = kept->data[k] == all->data[i];
        if (!is_kept) sketch_leave(all->data[i]);
    }
}

/* Where all choices of all stages are too many, those of one more stage are tried with the first
 * choices of the others. */
void sketch_visit(int stage, sketch_states *states) {
    const int most = sketch_most(states->data[0]);
    sketch_states next = visit_each(states, stage, states->len);
    if (next.len > most) {
        leave_but(&next, states);
        next = visit_each(states, stage, 1);
    }
    if (next.len > most) next.len = most;
    leave_but(states, &next);
    *states = next;
}
