/* network/in_network.c: what choices of a part took inside the network, as lines of a log:
 *
 *     #in_network {"key": "...", "part": "conv3x3 64 to 64 at 28", "template": ..., "entity":
 * [...], "time_s": 1.2e-4}
 *
 * The key is a hash of the part, its way, configuration, instructions and threads, and of the CPU.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "network/program.h"

static const char word[] = "in_network ";

static const char *key_of(at_arena *a, const at_net_build *b, const at_net_kernel *k,
                          const at_net_choice *c) {
    at_hash h;
    char hex[33];
    at_text entity = {0};
    at_config_print_entity(&entity, &c->selection.config);
    const char *texts[] = {k->part->text,
                           c->selection.row->name,
                           at_task_args_text(c->selection.task),
                           at_text_str(&entity),
                           at_net_isa(b, c->selection.task),
                           at_format(a, "%lld", (long long)b->engine.threads),
                           at_cpu_facts()->name};
    at_hash_init(&h);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) at_hash_add_str(&h, texts[i]);
    at_hash_hex(&h, hex);
    at_text_free(&entity);
    return at_strdup(a, hex);
}

void at_net_add_line(at_text *out, const at_net_build *b, const at_net_kernel *k, int choice) {
    const at_net_choice *c = &k->choices[choice];
    at_arena *a = at_arena_new();
    at_text_addf(out, "%s{\"key\": \"%s\", \"part\": ", word, key_of(a, b, k, c));
    at_text_add_json_string(out, k->part->title);
    at_text_add(out, ", \"template\": ");
    at_text_add_json_string(out, c->selection.row->name);
    at_text_add(out, ", \"entity\": ");
    at_config_print_entity(out, &c->selection.config);
    at_text_addf(out, ", \"time_s\": %.6g}", c->in_network_s);
    at_arena_free(a);
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct line {
    double time_s;
    const char *template_name, *config; /* config: as JSON */
} line;
typedef struct lines { /* of a log, the latest of each key */
    at_arena *arena, *scratch;
    at_key_map keys;
    AT_VEC(line) of;
} lines;

static void see(void *ctx, const char *text, int64_t number) {
    enum { MOST_VALUES = 10000 };
    lines *l = ctx;
    const at_json *v;
    (void)number;
    if (strncmp(text, word, strlen(word)) != 0) return;
    text += strlen(word);
    at_arena_reset(l->scratch);
    if (at_json_most_values(text, strlen(text)) > MOST_VALUES ||
        at_json_parse(l->scratch, text, strlen(text), &v, NULL) != AT_OK)
        return;
    const at_json *key = at_json_get(v, "key"), *time_s = at_json_get(v, "time_s"),
                  *name = at_json_get(v, "template"), *entity = at_json_get(v, "entity");
    if (!key || key->kind != AT_JSON_STRING || !time_s || time_s->kind != AT_JSON_NUMBER ||
        !(time_s->number > 0) || !name || name->kind != AT_JSON_STRING || !entity)
        return;
    const int k = at_key_map_add(&l->keys, key->string);
    const char *config = at_format(l->arena, "{\"entity\": %s}", at_json_text(l->scratch, entity));
    if (k == l->of.len) *at_push(l->arena, &l->of) = (line){0};
    l->of.data[k] = (line){time_s->number, at_strdup(l->arena, name->string), config};
}

static at_status read_lines(const char *log, lines *out, at_error *err) {
    at_log_reader *r;
    AT_TRY(at_log_reader_open(log, NULL, NULL, &r, err));
    at_log_reader_on_comment(r, see, out);
    for (at_record unused; at_log_reader_next(r, &unused);) continue;
    at_log_reader_close(r);
    return AT_OK;
}

/* Those that were not measured in the network count as many times longer there as the fastest of
 * those that were. */
static void count_times(at_net_kernel *k) {
    const at_net_choice *best = NULL;
    for (int i = 0; i < k->num_choices; i++) {
        const at_net_choice *c = &k->choices[i];
        if (c->in_network_s > 0 && isfinite(c->time_s) &&
            (!best || c->in_network_s < best->in_network_s))
            best = c;
    }
    const double longer = best ? best->in_network_s / best->time_s : 1;
    for (int i = 0; i < k->num_choices; i++) {
        at_net_choice c = k->choices[i];
        int at = i;
        c.time_s = c.in_network_s > 0 ? c.in_network_s : c.time_s * longer;
        for (; at > 0 && c.time_s < k->choices[at - 1].time_s; at--)
            k->choices[at] = k->choices[at - 1];
        k->choices[at] = c;
    }
}

static at_status read_config(at_arena *a, const char *config, at_selection *s) {
    const at_json *v;
    AT_TRY(at_json_parse(a, config, strlen(config), &v, NULL));
    return at_config_from_json(a, at_task_space(s->task), v, &s->config, NULL);
}

static at_status try_program(at_arena *a, const at_selection *s) {
    at_program *program;
    return at_task_program(a, s->task, &s->config, &program, NULL);
}

at_status at_net_config_of(at_arena *a, const char *config, at_selection *s) {
    AT_TRY(read_config(a, config, s));
    return try_program(a, s);
}

/* The configuration of a line, where it is of this way and none of the kernel's choices yet. */
static at_status add_line(at_net_program *p, const at_net_build *b, at_net_kernel *k, int way,
                          const char *key, const line *l, at_error *err) {
    at_net_choice c = {.way = way};
    if (strcmp(l->template_name, k->ways[way].row->name) != 0) return AT_OK;
    AT_TRY(at_select_task(p->arena, &k->ways[way], &c.selection, err));
    if (read_config(p->arena, l->config, &c.selection) != AT_OK) return AT_OK;
    if (strcmp(key_of(p->arena, b, k, &c), key) != 0) return AT_OK;
    for (int i = 0; i < k->num_choices; i++)
        if (!strcmp(key_of(p->arena, b, k, &k->choices[i]), key)) return AT_OK;
    if (try_program(p->arena, &c.selection) != AT_OK) return AT_OK;
    c.selection.has_config = true;
    c.selection.from = "inside the network";
    c.time_s = INFINITY; /* alone */
    c.in_network_s = l->time_s;
    if (k->num_choices < AT_NET_MOST_CHOICES) k->choices[k->num_choices++] = c; /* sorted below */
    return AT_OK;
}

static at_status read_kernel(at_net_program *p, const at_net_build *b, lines *l, at_net_kernel *k,
                             at_error *err) {
    for (int c = 0; c < k->num_choices; c++) {
        const int at = at_key_map_find(&l->keys, key_of(l->arena, b, k, &k->choices[c]));
        if (at >= 0) k->choices[c].in_network_s = l->of.data[at].time_s;
    }
    for (int i = 0; i < l->of.len; i++)
        for (int w = 0; w < k->num_ways; w++)
            AT_TRY(add_line(p, b, k, w, l->keys.keys.data[i], &l->of.data[i], err));
    count_times(k);
    return AT_OK;
}

at_status at_net_read_in_network(at_net_program *p, const at_net_build *b, at_error *err) {
    at_arena *a = at_arena_new();
    lines l = {.arena = a, .scratch = at_arena_new(), .keys.arena = a};
    at_status s = read_lines(b->log, &l, err);
    for (int i = 0; i < p->num_kernels && s == AT_OK && l.of.len; i++)
        s = read_kernel(p, b, &l, &p->kernels[i], err);
    at_arena_free(l.scratch);
    at_arena_free(a);
    return s;
}
