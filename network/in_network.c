/* network/in_network.c: what choices of a part took inside the network, as lines of a log:
 *
 *     #in_network {"key": "...", "part": "conv3x3 64 to 64 at 28", "template": ..., "entity":
 * [...], "time_s": 1.2e-4}
 *
 * The key is a hash of the part, its way, configuration, instructions and threads, and of the CPU.
 */
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

typedef struct lines { /* of a log, the latest of each key */
    at_arena *arena, *scratch;
    at_key_map keys;
    AT_VEC(double) times_s;
} lines;

static void see(void *ctx, const char *text, int64_t number) {
    enum { MOST_VALUES = 10000 };
    lines *l = ctx;
    const at_json *v, *key, *time_s;
    (void)number;
    if (strncmp(text, word, strlen(word)) != 0) return;
    text += strlen(word);
    at_arena_reset(l->scratch);
    if (at_json_most_values(text, strlen(text)) > MOST_VALUES ||
        at_json_parse(l->scratch, text, strlen(text), &v, NULL) != AT_OK)
        return;
    key = at_json_get(v, "key");
    time_s = at_json_get(v, "time_s");
    if (!key || key->kind != AT_JSON_STRING || !time_s || time_s->kind != AT_JSON_NUMBER ||
        !(time_s->number > 0))
        return;
    const int k = at_key_map_add(&l->keys, key->string);
    if (k == l->times_s.len) *at_push(l->arena, &l->times_s) = 0;
    l->times_s.data[k] = time_s->number;
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
        if (c->in_network_s > 0 && (!best || c->in_network_s < best->in_network_s)) best = c;
    }
    if (!best) return;
    const double longer = best->in_network_s / best->time_s;
    for (int i = 0; i < k->num_choices; i++) {
        at_net_choice c = k->choices[i];
        int at = i;
        c.time_s = c.in_network_s > 0 ? c.in_network_s : c.time_s * longer;
        for (; at > 0 && c.time_s < k->choices[at - 1].time_s; at--)
            k->choices[at] = k->choices[at - 1];
        k->choices[at] = c;
    }
}

at_status at_net_read_in_network(at_net_program *p, const at_net_build *b, at_error *err) {
    at_arena *a = at_arena_new();
    lines l = {.arena = a, .scratch = at_arena_new(), .keys.arena = a};
    at_status s = read_lines(b->log, &l, err);
    for (int i = 0; i < p->num_kernels && s == AT_OK && l.times_s.len; i++) {
        at_net_kernel *k = &p->kernels[i];
        for (int c = 0; c < k->num_choices; c++) {
            const int known = l.times_s.len,
                      at = at_key_map_add(&l.keys, key_of(a, b, k, &k->choices[c]));
            if (at < known) k->choices[c].in_network_s = l.times_s.data[at];
            else *at_push(a, &l.times_s) = 0;
        }
        count_times(k);
    }
    at_arena_free(l.scratch);
    at_arena_free(a);
    return s;
}
