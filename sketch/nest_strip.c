/* sketch/nest_strip.c: what is padded for a sum whose channels have nothing in common, as those of
 * a depthwise convolution, is made channel by channel right before the tiles that read it, so that
 * it stays in the nearest cache: one more sketch.
 *
 *     c, y, z => @pad = c, y, z              c:para =>
 *     c, h, v, r, q => @s = c, h, v // ..        y, z0, z1:vec => @pad = c, y, {z0, z1}/z
 *     c, h, v => @out = c, h, v        ->        h0, v0 =>
 *                                                    r, q, h1:unroll, v1:vec => @s = ..
 *                                                    h1:unroll, v1:vec => @out = ..  */
#include "sketch/nests.h"

/* The axis of the innermost loop around all tiles of a channel; -1: there is one channel. */
static int channel_of(const sketch_state *s, int stage, const nest_choice *tile) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    int found = -1;
    for (int shared = 0; shared < 2; shared++)
        for (int k = 0; k < t->num_axes; k++)
            if (k != tile->vec && k != tile->row && s->facts->of[stage].extent[k] > 1 &&
                tile_reuses(s, stage, tile->vec, k) == shared)
                found = k;
    return found;
}

/* Is each channel of the strip read by the same one of the sum alone, and near while it is? */
static bool goes_by_channels(const sketch_state *s, int stage, const nest_choice *tile, int strip) {
    const at_facts *f = s->facts;
    nest_members m;
    double elements = sketch_elements(s, strip);
    nest_open_members(&m, (sketch_state *)s, stage);
    if (!nest_is_read_within(&m, strip) || !nest_may_join(s, strip)) return false;
    for (int k = 0; k < f->compute->tensors[stage].num_axes; k++) {
        if (k == tile->vec || k == tile->row || f->of[stage].extent[k] == 1) continue;
        if (m.axis_of[strip][k] < 0) return false;
        elements /= (double)f->of[stage].extent[k];
    }
    return elements <= FAR_ELEMENTS;
}

static bool is_padded(const at_stage_facts *f) {
    for (int i = 0; i < f->num_accesses; i++)
        if (f->access[i].is_guarded) return true;
    return false;
}

void nest_find_strip(const sketch_state *s, int stage, nest_choices *out) {
    const at_facts *f = s->facts;
    nest_choices tiles = {.num = 0};
    nest_find_tile(s, stage, &tiles);
    const nest_choice *tile = &tiles.of[0];
    if (!tiles.num || tile->row < 0 || tile->second >= 0 || tile->rows_first || tile->groups ||
        nest_copies(tile) || channel_of(s, stage, tile) < 0)
        return;
    for (int t = 0; t < stage; t++) {
        const at_tensor *x = &f->compute->tensors[t];
        if (!at_facts_has_leaf(f, t) || x->num_reduce || x->is_packing || x->is_output ||
            !is_padded(&f->of[t]) || f->of[t].num_readers != 1 || f->of[t].reader != stage ||
            !goes_by_channels(s, stage, tile, t))
            continue;
        nest_choice *c = nest_add_axis(out, s, stage, tile->vec);
        const char *of = c->of;
        *c = *tile;
        c->of = of;
        c->rows_first = c->by_rows = true;
        c->with[c->num_with++] = t;
        return;
    }
}

/* The tiles, channel by channel; before them the strip, in vectors along its last axis. */
at_status nest_make_strip(sketch_state *s, int stage, const nest_choice *c) {
    const at_tensor *all = s->facts->compute->tensors, *strip = &all[c->with[0]];
    const int last = strip->num_axes - 1;
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = strip->name};
    nest_members m;
    nest_choice tile = *c;
    const char *parts[2];
    int n = 0;
    nest_open_members(&m, s, stage);
    if (!nest_is_read_within(&m, c->with[0])) return AT_E_INPUT;
    const int channel = channel_of(s, stage, c);
    tile.num_with = 0;
    AT_TRY(nest_make_tile(s, stage, &tile));
    AT_TRY(sketch_put(s, AT_EDIT_NEST, strip->name, true, s->tiles.data[s->tiles.len - 1].leaf,
                      all[stage].axes[channel].name));
    AT_TRY(sketch_split_lanes(s, strip->name, strip->axes[last].name, parts));
    for (int k = 0; k < last; k++) {
        bool is_outside = false;
        for (int j = 0; j < all[stage].num_axes; j++) is_outside |= m.axis_of[c->with[0]][j] == k;
        if (!is_outside) order.names[n++] = strip->axes[k].name;
    }
    order.names[n++] = parts[0];
    order.names[n++] = parts[1];
    AT_TRY(sketch_step(s, &order));
    return sketch_mark(s, strip->name, parts[1], AT_ANN_VEC);
}
