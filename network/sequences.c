/* network/sequences.c: sequences, which are lists of values that are known when the file is read,
 * and optional values; no elements are moved. */
#include "network/graph_int.h"

#include <string.h>

enum { MOST_PIECES = 1 << 16 }; /* of one tensor */

/* ---- what is read ---------------------------------------------------------------------------- */

static at_status take_sequence(net_builder *b, const net_raw_node *n, int input,
                               const net_sequence **out) {
    *out = input >= 0 ? b->facts.data[input].sequence : NULL;
    return *out ? AT_OK : net_fail(b, n, "its first input is no sequence");
}

/* A place in a sequence of so many values, which may count from its end, up to the last one that is
 * accepted. *known: false: it depends on data, which is noted. */
static at_status take_place(net_builder *b, const net_raw_node *n, int input, int len, int last,
                            int *out, bool *known) {
    const at_net_value *v = &b->net->values.data[input];
    *known = v->is_constant && v->elements == 1;
    if (!*known)
        return net_note_missing(b, at_format(b->arena, "%s: its position depends on data", n->op),
                                n->name),
               AT_OK;
    const int64_t at = at_net_element_int(v->type, v->data, 0);
    if (at < -len || at > last)
        return net_fail(
            b, n,
            at_format(b->arena, "position %lld; %d to %d are accepted", (long long)at, -len, last));
    *out = (int)(at < 0 ? at + len : at);
    return AT_OK;
}

static int64_t int_of(const net_raw_node *n, const char *name, int64_t otherwise) {
    const at_net_attribute *a = net_raw_attribute(n, name, AT_NET_ATTR_INT);
    return a ? a->i : otherwise;
}

/* ---- what is made ---------------------------------------------------------------------------- */

at_status net_give_sequence(net_builder *b, net_scope *s, const char *name, const int *values,
                            int len) {
    net_sequence *list = AT_NEW(b->arena, net_sequence);
    *list = (net_sequence){at_copy(b->arena, values, sizeof *values * (size_t)len), len};
    const int v = net_add_value(b, (at_net_value){.name = name, .producer = -1}, false);
    b->facts.data[v].sequence = list;
    return net_name_value(b, s, name, v);
}

static at_status give(net_builder *b, net_scope *s, const net_raw_node *n, const int *values,
                      int len) {
    return net_give_sequence(b, s, n->outputs.data[0], values, len);
}

static at_status construct(net_builder *b, net_scope *s, const net_raw_node *n, const int *inputs) {
    for (int i = 0; i < n->inputs.len; i++)
        if (!net_is_tensor(b, inputs[i])) return net_fail(b, n, "an input is no tensor");
    return give(b, s, n, inputs, n->inputs.len);
}

static at_status insert(net_builder *b, net_scope *s, const net_raw_node *n, const int *inputs) {
    const net_sequence *from;
    AT_TRY(take_sequence(b, n, inputs[0], &from));
    int at = from->len;
    bool known = true;
    if (!net_is_tensor(b, inputs[1])) return net_fail(b, n, "an input is no tensor");
    if (n->inputs.len > 2 && inputs[2] >= 0) /* behind the last one, too */
        AT_TRY(take_place(b, n, inputs[2], from->len, from->len, &at, &known));
    if (!known) return net_add_unknown(b, s, n);
    int *values = AT_NEW_ARRAY(b->arena, int, from->len + 1);
    memcpy(values, from->values, sizeof *values * (size_t)at);
    values[at] = inputs[1];
    memcpy(values + at + 1, from->values + at, sizeof *values * (size_t)(from->len - at));
    return give(b, s, n, values, from->len + 1);
}

static at_status erase(net_builder *b, net_scope *s, const net_raw_node *n, const int *inputs) {
    const net_sequence *from;
    AT_TRY(take_sequence(b, n, inputs[0], &from));
    int at = from->len - 1;
    bool known = true;
    if (!from->len) return net_fail(b, n, "the sequence is empty");
    if (n->inputs.len > 1 && inputs[1] >= 0)
        AT_TRY(take_place(b, n, inputs[1], from->len, from->len - 1, &at, &known));
    if (!known) return net_add_unknown(b, s, n);
    int *values = at_copy(b->arena, from->values, sizeof *values * (size_t)from->len);
    memmove(values + at, values + at + 1, sizeof *values * (size_t)(from->len - at - 1));
    return give(b, s, n, values, from->len - 1);
}

static at_status element(net_builder *b, net_scope *s, const net_raw_node *n, const int *inputs) {
    const net_sequence *from;
    int at = 0;
    bool known;
    AT_TRY(take_sequence(b, n, inputs[0], &from));
    if (inputs[1] < 0) return net_fail(b, n, "its position is missing");
    AT_TRY(take_place(b, n, inputs[1], from->len, from->len - 1, &at, &known));
    if (!known) return net_add_unknown(b, s, n);
    return net_name_value(b, s, n->outputs.data[0], from->values[at]);
}

static at_status length(net_builder *b, net_scope *s, const net_raw_node *n, const int *inputs) {
    const net_sequence *from;
    AT_TRY(take_sequence(b, n, inputs[0], &from));
    const char *name = n->outputs.data[0];
    return net_name_value(b, s, name, net_add_number(b, name, AT_NET_INT64, 0, from->len));
}

/* ---- tensors of sequences -------------------------------------------------------------------- */

/* The attribute of an operator for one axis. */
static at_net_attribute axes_of(net_builder *b, int64_t axis) {
    return (at_net_attribute){.name = "axes",
                              .kind = AT_NET_ATTR_INTS,
                              .num = 1,
                              .ints = at_copy(b->net->arena, &axis, sizeof axis)};
}

at_status net_join_values(net_builder *b, const char *name, const int *values, int n, int64_t axis,
                          bool is_new, int *out) {
    enum { MOST = 128 }; /* in one Concat */
    const at_net_attribute along = {.name = "axis", .kind = AT_NET_ATTR_INT, .i = axis},
                           axes = axes_of(b, axis);
    int *now = AT_NEW_ARRAY(b->arena, int, n + 1), len = n;
    for (int i = 0; i < n; i++) {
        now[i] = values[i];
        if (is_new) AT_TRY(net_add_made(b, "Unsqueeze", name, &values[i], 1, &axes, 1, &now[i]));
    }
    do {
        int joined = 0;
        for (int i = 0; i < len; i += MOST)
            AT_TRY(net_add_made(b, "Concat", name, now + i, len - i < MOST ? len - i : MOST, &along,
                                1, &now[joined++]));
        len = joined;
    } while (len > 1);
    *out = now[0];
    return AT_OK;
}

static at_status concat(net_builder *b, net_scope *s, const net_raw_node *n, const int *inputs) {
    const net_sequence *from;
    int value;
    AT_TRY(take_sequence(b, n, inputs[0], &from));
    if (!from->len) return net_fail(b, n, "the sequence is empty");
    AT_TRY(net_join_values(b, n->outputs.data[0], from->values, from->len, int_of(n, "axis", 0),
                           int_of(n, "new_axis", 0), &value));
    return net_name_value(b, s, n->outputs.data[0], value);
}

/* Sizes of the pieces of so many elements. *sizes NULL: they depend on data, which is noted. */
static at_status pieces(net_builder *b, const net_raw_node *n, int input, int64_t size,
                        int64_t **sizes, int *num) {
    const at_net_value *v = input >= 0 ? &b->net->values.data[input] : NULL;
    *sizes = NULL;
    if (v && !v->is_constant) {
        net_note_missing(b, at_format(b->arena, "%s: its sizes depend on data", n->op), n->name);
        return AT_OK;
    }
    int64_t each = 1, sum = 0;
    if (v && !v->rank) each = at_net_element_int(v->type, v->data, 0);
    if (each < 1) return net_fail(b, n, "pieces of less than one element");
    const int64_t count = v && v->rank ? v->elements : size / each + (size % each != 0);
    if (count > MOST_PIECES)
        return net_fail(b, n, at_format(b->arena, "more than %d pieces", MOST_PIECES));
    *num = (int)count;
    *sizes = AT_NEW_ARRAY(b->arena, int64_t, *num + 1);
    for (int i = 0; i < *num; i++) {
        (*sizes)[i] = v && v->rank             ? at_net_element_int(v->type, v->data, i)
                      : size - i * each < each ? size - i * each
                                               : each;
        if ((*sizes)[i] < 0 || (*sizes)[i] > size - sum) {
            sum = -1;
            break;
        }
        sum += (*sizes)[i];
    }
    return sum == size ? AT_OK : net_fail(b, n, "sizes of pieces are not those of the tensor");
}

static at_status take_piece(net_builder *b, const char *name, int x, int64_t axis, int64_t from,
                            int64_t size, int *out) {
    const int64_t numbers[] = {from, from + size, axis};
    int inputs[] = {x, 0, 0, 0};
    for (int i = 0; i < 3; i++)
        inputs[1 + i] = net_add_number(b, name, AT_NET_INT64, 1, numbers[i]);
    return net_add_made(b, "Slice", name, inputs, 4, NULL, 0, out);
}

static at_status split(net_builder *b, net_scope *s, const net_raw_node *n, const int *inputs) {
    const char *name = n->outputs.data[0];
    const int by = n->inputs.len > 1 ? inputs[1] : -1;
    if (!net_is_tensor(b, inputs[0])) return net_fail(b, n, "its input is no tensor");
    const at_net_value x = b->net->values.data[inputs[0]];
    int64_t axis = int_of(n, "axis", 0), *sizes, at = 0;
    int num;
    if (axis < -x.rank || axis >= x.rank) return net_fail(b, n, "its axis is not there");
    if (axis < 0) axis += x.rank;
    AT_TRY(pieces(b, n, by, x.dims[axis], &sizes, &num));
    if (!sizes) return net_add_unknown(b, s, n);
    const bool squeezed = by < 0 && !int_of(n, "keepdims", 1);
    const at_net_attribute axes = axes_of(b, axis);
    int *values = AT_NEW_ARRAY(b->arena, int, num + 1);
    for (int i = 0; i < num; at += sizes[i++]) {
        AT_TRY(take_piece(b, name, inputs[0], axis, at, sizes[i], &values[i]));
        if (squeezed) AT_TRY(net_add_made(b, "Squeeze", name, &values[i], 1, &axes, 1, &values[i]));
    }
    return give(b, s, n, values, num);
}

/* ---- optional values ------------------------------------------------------------------------- */

/* An optional value that is there is the value itself. */
static at_status same(net_builder *b, net_scope *s, const net_raw_node *n, const int *inputs) {
    if (inputs[0] < 0) return net_fail(b, n, "its input is missing");
    return net_name_value(b, s, n->outputs.data[0], inputs[0]);
}

static at_status is_there(net_builder *b, net_scope *s, const net_raw_node *n, const int *inputs) {
    const char *name = n->outputs.data[0];
    const bool is = n->inputs.len && inputs[0] >= 0;
    return net_name_value(b, s, name, net_add_number(b, name, AT_NET_BOOL, 0, is));
}

const net_structure net_sequences[] = {{"SequenceEmpty", 0, 0, construct},
                                       {"SequenceConstruct", 1, -1, construct},
                                       {"SequenceInsert", 2, 3, insert},
                                       {"SequenceErase", 1, 2, erase},
                                       {"SequenceAt", 2, 2, element},
                                       {"SequenceLength", 1, 1, length},
                                       {"ConcatFromSequence", 1, 1, concat},
                                       {"SplitToSequence", 1, 2, split},
                                       {"Optional", 1, 1, same},
                                       {"OptionalGetElement", 1, 1, same},
                                       {"OptionalHasElement", 0, 1, is_there},
                                       {.op = NULL}};
