/* sketch/rule_inline.c: what costs little is computed where it is read. */
#include "sketch/sketch_int.h"

static rule_verdict applies(const sketch_state *s, int stage) {
    return s->facts->of[stage].is_dissolved ? RULE_APPLY_ALONE : RULE_SKIP;
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    sketch_state *b = sketch_branch(s, "");
    at_edit e = {.kind = AT_EDIT_DISSOLVE, .stage = s->facts->compute->tensors[stage].name};
    if (sketch_step(b, &e, err) == AT_OK) *at_push(s->arena, out) = b;
}

const sketch_rule at_rule_inline = {applies, apply};
