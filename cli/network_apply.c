/* cli/network_apply.c: a network as C: net.c, net.h and net.bin. */
#include <string.h>

#include "cli/interrupt.h"
#include "cli/isas.h"
#include "cli/network.h"
#include "cli/outputs.h"
#include "network/net_emit.h"
#include "network/net_memory.h"
#include "view/view.h"

static bool is_weights(const char *head, size_t len) {
    return len >= 8 && !memcmp(head, "autotune", 8);
}

/* The network for each size, and of each for each instruction set. */
enum { MOST = AT_MOST_ISAS * (int)AT_NET_MOST_SIZES };
typedef struct programs {
    at_net *nets[AT_NET_MOST_SIZES]; /* of each size */
    at_net_program of[MOST];
    at_net_build builds[MOST];
    at_net_truth truths[AT_NET_MOST_SIZES + 1]; /* of each size, then of the other one */
    int n, num_sets;
    at_net_sizes sizes;
    at_net_rows rows;
    at_net_loops loops;
    at_net *other;      /* at a size that loops run */
    at_net_sized sized; /* of several sizes */
} programs;

static bool has_sizes(const programs *all) { return all->sizes.name != NULL; }

typedef struct written {
    at_net_emitted c;
    const char *name;         /* of the functions */
    const char *weights_path; /* NULL: they stand in the source */
} written;

static at_status check_options(const at_options *o, at_error *err) {
    if (!o->output || !at_ends_in(o->output, ".c"))
        return at_fail(err, AT_E_USAGE,
                       "apply %s: give the C file that is to be written: -o net.c; net.h and "
                       "net.bin are written beside it",
                       o->operands[0]);
    if (o->weights && strcmp(o->weights, "source") && strcmp(o->weights, "file"))
        return at_fail(err, AT_E_USAGE, "--weights %s: there are file and source", o->weights);
    AT_TRY(at_check_isas(o, err));
    return at_check_name(o, err);
}

/* External data may lie beside the model under the name of a file of ours. */
static at_status check_written(at_arena *a, const at_net *net, const at_options *o,
                               const written *w, at_error *err) {
    const char *const files[] = {o->output, at_header_path(a, o->output), w->weights_path}, *read;
    for (int k = 0; k < 3 && files[k]; k++)
        for (int i = 0; (read = at_net_file_at(net, i)); i++)
            AT_TRY(at_check_not_read("--output", files[k], read, err));
    return AT_OK;
}

static const char *bin_beside(at_arena *a, const at_options *o) {
    return at_format(a, "%.*s.bin", (int)strlen(o->output) - 2, o->output);
}

/* What an earlier apply wrote beside a source that has its weights now: the user's to remove. */
static void tell_old_weights(at_arena *a, const at_options *o) {
    const char *path = bin_beside(a, o);
    char head[AT_NET_WEIGHTS_HEAD];
    FILE *f = fopen(path, "rbe");
    if (!f) return;
    if (is_weights(head, fread(head, 1, sizeof head, f)))
        at_warn(NULL, at_format(a, "%s: of an earlier apply; %s has its weights in itself", path,
                                o->output));
    fclose(f);
}

/* net.c, net.h and net.bin: all or none. */
static at_status write_files(at_arena *a, const programs *all, const at_options *o,
                             const written *w, at_error *err) {
    at_output_rules rules = at_rules_of_output(o), own = rules;
    const at_output_rules bin = {"file of weights that apply wrote", is_weights, at_force_of(o),
                                 true, false};
    at_output *files[3] = {0};
    own.is_derived = true;
    at_status s = at_output_open(o->output, &rules, &files[0], err);
    if (s == AT_OK) s = at_output_add(files[0], at_text_str(&w->c.source), w->c.source.len, err);
    if (s == AT_OK) s = at_output_open(at_header_path(a, o->output), &own, &files[1], err);
    if (s == AT_OK) s = at_output_add(files[1], at_text_str(&w->c.header), w->c.header.len, err);
    if (s == AT_OK && w->weights_path) {
        s = at_output_open(w->weights_path, &bin, &files[2], err);
        if (s == AT_OK) s = at_output_add(files[2], w->c.head, sizeof w->c.head, err);
        for (int i = 0; i < all->n && s == AT_OK; i++)
            s = at_output_add(files[2], all->of[i].weights, (size_t)all->of[i].weights_bytes, err);
    }
    if (s == AT_OK) s = at_output_commit(files, w->weights_path ? 3 : 2, err);
    for (int i = 0; i < 3; i++) at_output_close(files[i]);
    return s;
}

static at_status make_truth(at_arena *a, const at_net *net, at_net_truth *out, at_error *err) {
    AT_TRY(at_net_truth_room(net, err));
    void **inputs = at_net_make_inputs(a, net);
    return at_net_truth_new(net, (const void *const *)inputs, &at_interrupted, out, err);
}

/* What the outputs should be, for --main and --max-error, which every program is held to. */
static at_status judge(at_arena *a, programs *all, const at_options *o, at_error *err) {
    for (int i = 0; i < all->n; i++) {
        const at_net *net = all->of[i].net;
        at_net_truth *truth = &all->truths[i / all->num_sets];
        at_net_distance *errors = AT_NEW_ARRAY(a, at_net_distance, net->outputs.len + 1);
        if (!truth->net) AT_TRY(make_truth(a, net, truth, err));
        if (all->builds->is_exact)
            AT_TRY(at_network_judge(o, &all->of[i], &all->builds[i], truth, errors, err));
        if (o->with_main && !truth->moved) AT_TRY(at_net_truth_moved(truth, err));
    }
    if (!all->other || !o->with_main) return AT_OK;
    AT_TRY(make_truth(a, all->other, &all->truths[all->sizes.n], err));
    return at_net_truth_moved(&all->truths[all->sizes.n], err);
}

static at_status emit(at_arena *a, programs *all, const at_options *o, written *w, at_error *err) {
    at_net_expected expected[AT_NET_MOST_SIZES + 1];
    const char *path = at_strndup(a, o->output, strlen(o->output) - 2);
    w->weights_path = o->weights && !strcmp(o->weights, "source") ? NULL : bin_beside(a, o);
    w->name = o->name ? o->name : at_c_name(a, at_base_name(path));
    at_net_emit_options e = {.name = w->name,
                             .header = at_base_name(at_header_path(a, o->output)),
                             .weights = w->weights_path ? at_base_name(w->weights_path) : NULL,
                             .sized = has_sizes(all) ? &all->sized : NULL};
    if (o->with_main || all->builds->is_exact) AT_TRY(judge(a, all, o, err));
    if (all->other) at_net_keep_loops(all->of, all->n, &all->loops, &all->sized);
    for (int i = 0; i <= AT_NET_MOST_SIZES; i++)
        expected[i] =
            (at_net_expected){all->truths[i].expected, all->truths[i].moved, at_network_limit(o)};
    if (o->with_main) e.expected = expected;
    return at_net_emit(all->of, all->builds, all->n, &e, &w->c, err);
}

static at_status say_written(const programs *all, const at_options *o, const written *w,
                             at_error *err) {
    const at_net_program *p = all->of;
    at_text out = {0};
    at_text_add(&out, "written: ");
    at_text_add_visible(&out, o->output);
    at_text_add(&out, " and its header");
    if (w->weights_path) at_text_add(&out, ", "), at_text_add_visible(&out, w->weights_path);
    for (int i = 0; i < all->n; i++, p++) {
        if (has_sizes(all))
            at_text_addf(&out, "; %s %s", all->sizes.name, all->sized.suffix[i / all->num_sets]);
        if (all->num_sets > 1)
            at_text_addf(&out, "%s %s", has_sizes(all) ? "," : ";", at_net_set_of(p));
        at_text_addf(&out, "%s%d of %d kinds of parts are tuned", all->n > 1 ? ": " : "; ",
                     p->num_tuned, p->num_tunable);
    }
    if (o->log) at_text_add(&out, ", by "), at_text_add_visible(&out, o->log);
    if (!o->with_main && !(o->engine.max_error > 0))
        at_text_add(&out, "; not compared with the network in double: --main does so");
    at_text_add(&out, "\n");
    if (has_sizes(all)) {
        at_text_add(&out, "sizes: ");
        at_net_add_sizes(&out, &all->sized);
        at_text_add(&out, "\n");
    }
    return at_print(&out, err);
}

static at_status print_json(at_arena *a, const programs *all, const at_options *o, const written *w,
                            at_error *err) {
    const at_net_program *p = all->of;
    at_out json = at_out_object();
    at_out_string(&json, "network", p->net->path);
    at_out_net_kinds(&json, p);
    at_out_begin(&json, "isas", '[');
    for (int i = 0; i < all->num_sets; i++) at_out_string(&json, NULL, at_net_set_of(&all->of[i]));
    at_out_end(&json, ']');
    at_out_begin(&json, "sizes", '[');
    for (int i = 0; has_sizes(all) && i < all->sizes.n; i++)
        at_out_int(&json, NULL, all->sizes.value[i]);
    at_out_end(&json, ']');
    at_out_string(&json, "rows_not_apart", has_sizes(all) ? all->rows.fault : NULL);
    at_out_bool(&json, "has_loops", all->sized.loops != NULL);
    at_out_string(&json, "log", o->log);
    at_out_string(&json, "name", w->name);
    at_out_string(&json, "output", o->output);
    at_out_string(&json, "header", at_header_path(a, o->output));
    at_out_string(&json, "weights", w->weights_path);
    at_out_bool(&json, "compared", o->with_main || o->engine.max_error > 0);
    return at_out_print(&json, err);
}

/* The sets with the widest vectors first, of which the program takes the first that it can. */
static at_status find_sets(const at_options *o, programs *all, at_error *err) {
    const at_target *isas[AT_MOST_ISAS];
    int n = 1;
    if (o->isas) AT_TRY(at_read_isas(o->isas, isas, &n, err));
    for (int i = 0; o->isas && i < n; i++)
        if (!at_cpu_has_set(at_vector_set(isas[i]->name)))
            return at_fail(err, AT_E_USAGE,
                           "--isas %s: this CPU lacks %s, whose kernels are to pack the weights; "
                           "leave it out, or write the network on a CPU that has it",
                           o->isas, isas[i]->name);
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && isas[k - 1]->lanes < isas[k]->lanes; k--) {
            const at_target *x = isas[k];
            isas[k] = isas[k - 1], isas[k - 1] = x;
        }
    all->num_sets = n;
    all->n = n * all->sizes.n;
    for (int i = 0; i < all->n; i++) {
        all->builds[i] = at_network_build(o);
        if (o->isas) all->builds[i].engine.isa = isas[i % n]->name;
    }
    return AT_OK;
}

/* A main runs the largest size that is not listed. */
static at_status find_loops(at_arena *a, const at_options *o, programs *all, at_error *err) {
    const at_net_options options = at_network_options(o);
    AT_TRY(
        at_net_find_loops(a, all->nets[all->sizes.n - 1], &options, &all->sizes, &all->loops, err));
    all->sized.no_loops = all->loops.fault;
    if (all->loops.fault) return AT_OK;
    at_options own = *o;
    own.dims = at_net_dims_at(a, &all->sizes, all->loops.other);
    AT_TRY(at_network_open(&own, &all->other, err));
    all->sized.other = all->other;
    all->sized.other_size = all->loops.other;
    return AT_OK;
}

/* Which rows of the network lie apart, and what its function says of sizes. */
static at_status find_rows(at_arena *a, const at_options *o, programs *all, at_error *err) {
    const int last = all->sizes.n - 1;
    AT_TRY(at_net_find_rows(a, all->nets[0], all->sizes.value[0], all->nets[last],
                            all->sizes.value[last], &all->rows, err));
    all->sized = (at_net_sized){.sizes = &all->sizes,
                                .rows = &all->rows,
                                .parameter = at_net_size_name(a, all->of, all->sizes.name)};
    for (int i = 0; i < all->sizes.n; i++)
        all->sized.suffix[i] = at_format(a, "%lld", (long long)all->sizes.value[i]);
    for (int i = 0; i < all->n; i++) {
        if (all->of[i].workspace_bytes > all->sized.workspace_bytes)
            all->sized.workspace_bytes = all->of[i].workspace_bytes;
    }
    all->sized.workspace_bytes += AT_NET_ALIGNMENT;
    return all->rows.fault ? find_loops(a, o, all, err) : AT_OK;
}

static at_status open_all(const at_options *o, programs *all, at_error *err) {
    at_options own = *o;
    for (int i = 0; i < all->sizes.n; i++) {
        own.dims = all->sizes.dims[i];
        AT_TRY(at_network_open(&own, &all->nets[i], err));
    }
    return AT_OK;
}

static at_status make_all(at_arena *a, const at_options *o, programs *all, at_error *err) {
    AT_TRY(open_all(o, all, err));
    AT_TRY(find_sets(o, all, err));
    for (int i = 0; i < all->n; i++)
        AT_TRY(at_net_program_new(all->nets[i / all->num_sets], &all->builds[i], &all->of[i], err));
    at_network_check_own(o, all->of, all->n);
    return has_sizes(all) ? find_rows(a, o, all, err) : AT_OK;
}

static at_status apply(at_arena *a, programs *all, const at_options *o, at_error *err) {
    written w = {0};
    at_status s = make_all(a, o, all, err);
    if (s == AT_OK) s = emit(a, all, o, &w, err);
    if (s == AT_OK) s = check_written(a, all->nets[0], o, &w, err);
    if (s == AT_OK) s = write_files(a, all, o, &w, err);
    if (s == AT_OK && !w.weights_path) tell_old_weights(a, o);
    if (s == AT_OK) s = o->json ? print_json(a, all, o, &w, err) : say_written(all, o, &w, err);
    at_text_free(&w.c.source);
    at_text_free(&w.c.header);
    for (int i = 0; i <= AT_NET_MOST_SIZES; i++) at_net_truth_free(&all->truths[i]);
    at_net_close(all->other);
    for (int i = 0; i < MOST; i++) at_net_program_free(&all->of[i]);
    for (int i = 0; i < AT_NET_MOST_SIZES; i++) at_net_close(all->nets[i]);
    return s;
}

at_status at_network_apply(const at_options *o, at_error *err) {
    at_arena *a = at_arena_new();
    programs *all = AT_NEW(a, programs);
    at_status s = at_net_sizes_of(a, o->dims, &all->sizes, err);
    if (s == AT_OK) s = check_options(o, err);
    if (s == AT_OK) s = apply(a, all, o, err);
    at_arena_free(a);
    return s;
}
