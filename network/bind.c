/* network/bind.c: what the user gives: sizes by name, values of inputs. */
#include "network/graph_int.h"
#include "network/sizes.h"

#include <stdlib.h>
#include <string.h>

static bool is_whole_size(const char *text) {
    char *end;
    const double number = strtod(text, &end);
    return end > text && !*end && at_net_is_size(number);
}

/* "name=number" behind each other with commas. */
static at_status parse_pairs(net_builder *b, const char *option, const char *text, bool whole,
                             net_pairs *out) {
    size_t n;
    for (const char *p = text; p; p = p[n] ? p + n + 1 : NULL) {
        n = strcspn(p, ",");
        const char *item = at_strndup(b->arena, p, n), *equals = strrchr(item, '=');
        const char *which = n == strlen(text) ? ""
                            : *item           ? at_format(b->arena, ": \"%s\"", item)
                                              : ": a comma too many";
        char *end = NULL;
        const double number = equals ? strtod(equals + 1, &end) : 0;
        if (whole && out->len && is_whole_size(item))
            return at_fail(b->err, AT_E_USAGE,
                           "%s %s: several sizes of one name go with apply; here \"%s\" has one",
                           option, text, out->data[out->len - 1].name);
        if (!equals || equals == item || end == equals + 1 || *end ||
            (whole && !at_net_is_size(number)))
            return at_fail(b->err, AT_E_USAGE, "%s %s%s: NAME=%s is accepted, several with commas",
                           option, text, which, whole ? "SIZE, a number from 1 to 2^40" : "NUMBER");
        const char *name = at_strndup(b->arena, item, (size_t)(equals - item));
        for (int i = 0; i < out->len; i++)
            if (!strcmp(out->data[i].name, name))
                return at_fail(b->err, AT_E_USAGE, "%s %s: \"%s\" is given twice", option, text,
                               name);
        *at_push(b->arena, out) = (net_pair){.name = name, .number = number};
    }
    return AT_OK;
}

at_status net_bind_begin(net_builder *b) {
    const at_net_options *o = b->options;
    AT_TRY(parse_pairs(b, "--dim", o->dims, true, &b->dims));
    return parse_pairs(b, "--set", o->sets, false, &b->sets);
}

static at_status fail_computed(net_builder *b, const net_size_names *computed, const char *name) {
    const char *near = at_nearest(name, computed->data, computed->len);
    return at_fail(b->err, AT_E_USAGE, "--until %s: \"%s\" is no output of a node of %s; %s",
                   b->options->until, name, b->net->path,
                   near ? at_format(b->arena, "did you mean \"%s\"?", near)
                        : "names with commas between them are accepted");
}

/* The length of the longest name of a value that stands at the text's begin, before a comma or the
 * text's end: names may have commas. 0: no name stands there. */
static size_t name_length(const net_size_names *computed, const char *text) {
    size_t longest = 0;
    for (int i = 0; i < computed->len; i++) {
        const size_t n = strlen(computed->data[i]);
        const bool begins = !strncmp(text, computed->data[i], n) && (!text[n] || text[n] == ',');
        if (begins && n > longest) longest = n;
    }
    return longest;
}

at_status net_bind_outputs(net_builder *b, at_net_subgraph *g) {
    const char *text = b->options->until;
    net_size_names computed = {0};
    size_t n;
    if (!text) return AT_OK;
    for (int i = 0; i < g->nodes.len; i++)
        for (int k = 0; k < g->nodes.data[i].outputs.len; k++)
            if (*g->nodes.data[i].outputs.data[k])
                *at_push(b->arena, &computed) = g->nodes.data[i].outputs.data[k];
    g->outputs.len = 0;
    for (const char *p = text; p; p = p[n] ? p + n + 1 : NULL) {
        n = name_length(&computed, p);
        const char *name = at_strndup(b->net->arena, p, n ? n : strcspn(p, ","));
        if (!n) return fail_computed(b, &computed, name);
        for (int i = 0; i < g->outputs.len; i++)
            if (!strcmp(g->outputs.data[i].name, name))
                return at_fail(b->err, AT_E_USAGE, "--until %s: \"%s\" is given twice", text, name);
        *at_push(b->net->arena, &g->outputs) = (net_port){.name = name};
    }
    return AT_OK;
}

static net_pair *find(net_pairs *p, const char *name) {
    for (int i = 0; i < p->len; i++)
        if (!strcmp(p->data[i].name, name)) {
            p->data[i].is_used = true;
            return &p->data[i];
        }
    return NULL;
}

static void note(net_builder *b, net_size_names *names, const char *name) {
    for (int i = 0; i < names->len; i++)
        if (!strcmp(names->data[i], name)) return;
    *at_push(b->arena, names) = name;
}

/* A size of an input: what the user says of this one, or of all of its name, before what the array
 * that is given has, before what the file says. */
static at_status bind_dim(net_builder *b, const net_port *p, int axis, int64_t given,
                          int64_t *out) {
    const net_dim *d = &p->dims[axis];
    const char *place = at_format(b->arena, "%s[%d]", p->name, axis);
    const net_pair *by_place = find(&b->dims, place),
                   *by_name = d->name && d->value < 0 ? find(&b->dims, d->name) : NULL;
    note(b, &b->known, d->name && d->value < 0 ? d->name : place);
    *out = by_place        ? (int64_t)by_place->number
           : d->value > 0  ? d->value
           : by_name       ? (int64_t)by_name->number
           : given >= 0    ? given
           : d->value >= 0 ? d->value
                           : -1;
    if (given >= 0 && *out != given)
        return at_fail(b->err, AT_E_INPUT, "%s: the array for \"%s\" has %lld where %s is %lld",
                       b->net->path, p->name, (long long)given,
                       d->name && d->value < 0 ? d->name : place, (long long)*out);
    if (*out < 0) note(b, &b->open, d->name ? d->name : place);
    return AT_OK;
}

const at_net_tensor *net_bind_array(net_builder *b, const char *input, bool *is_constant) {
    const at_net_options *o = b->options;
    *is_constant = false;
    return o->array_of ? o->array_of(o->ctx, input, is_constant) : NULL;
}

at_status net_bind_shape(net_builder *b, const net_port *p, int *rank, int64_t *dims) {
    bool unused;
    const at_net_tensor *given = net_bind_array(b, p->name, &unused);
    if (!p->has_shape) {
        if (!given)
            return at_fail(b->err, AT_E_INPUT, "%s: the file has no sizes of the input \"%s\"",
                           b->net->path, p->name);
        *rank = given->rank;
        memcpy(dims, given->dims, sizeof *dims * (size_t)given->rank);
        return AT_OK;
    }
    if (given && given->rank && given->rank != p->rank)
        return at_fail(b->err, AT_E_INPUT, "%s: \"%s\" has %d dimension%s, the array for it %d",
                       b->net->path, p->name, p->rank, at_plural(p->rank), given->rank);
    *rank = p->rank;
    for (int i = 0; i < p->rank; i++) /* a single number is an array whose sizes are 1 */
        AT_TRY(bind_dim(b, p, i, !given ? -1 : given->rank ? given->dims[i] : 1, &dims[i]));
    return AT_OK;
}

const net_pair *net_bind_value(net_builder *b, const char *input) { return find(&b->sets, input); }

static at_status unused(net_builder *b, const char *option, const net_pairs *p,
                        const char *const *names, int n, const char *what, const char *more) {
    for (int i = 0; i < p->len; i++) {
        if (p->data[i].is_used) continue;
        at_text list = {0};
        at_text_add_names(&list, p->data[i].name, names, n);
        at_fail(b->err, AT_E_USAGE, "%s: %s %s: %s %s%s", b->net->path, option, p->data[i].name,
                what, n ? at_text_str(&list) : "none", more);
        at_text_free(&list);
        return AT_E_USAGE;
    }
    return AT_OK;
}

/* An unknown name may be meant for a size that is missing, and is told of before it. */
at_status net_bind_end(net_builder *b, const at_net_names *of) {
    const at_net_options *o = b->options;
    at_text list = {0}, example = {0};
    for (int i = 0; i < b->open.len; i++) {
        at_text_addf(&list, "%s%s", i ? ", " : "", b->open.data[i]);
        at_text_addf(&example, "%s%s=1", i ? "," : "", b->open.data[i]);
    }
    const char *open =
        at_format(b->arena, "size%s of inputs %s not given: %s", at_plural(b->open.len),
                  b->open.len == 1 ? "is" : "are", at_text_take(b->arena, &list));
    const char *option = at_shell_word(b->arena, at_text_str(&example)); /* [ and ? are patterns */
    at_text_free(&example);
    AT_TRY(unused(b, "--dim", &b->dims, b->known.data, b->known.len,
                  "INPUT[AXIS] and the names of sizes are accepted:",
                  b->open.len ? at_format(b->arena, "; %s", open) : ""));
    AT_TRY(unused(b, "--set", &b->sets, of->inputs, of->num_inputs, "inputs are accepted:", ""));
    if (o->check_names) AT_TRY(o->check_names(o->ctx, of, b->err));
    if (!b->open.len) return AT_OK;
    return at_fail(b->err, AT_E_USAGE, "%s: %s; as in --dim %s", b->net->path, open, option);
}
