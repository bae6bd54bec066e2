/* network/net_emit.c: see emit.h. */
#include "network/net_emit.h"

#include <ctype.h>
#include <string.h>

#include "network/net_memory.h"

static const char licence[] =
    " *\n * This file is yours: whoever ran the program that wrote it may use, change and pass it "
    "on "
    "without\n * any condition. It comes without warranty. SPDX-License-Identifier: 0BSD\n";

/* ---- what it cannot pass on ------------------------------------------------------------------ */

static at_status check_types(const at_net_program *p, at_error *err) {
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < at_net_num_ports(p, side); i++) {
            const at_net_value *v = at_net_port(p, side, i);
            if (at_net_c_type(v->type)) continue;
            return at_fail(err, AT_E_INPUT, "%s \"%s\": C has no type for %s elements",
                           side ? "output" : "input", v->name, at_net_type_name(v->type));
        }
    return AT_OK;
}

/* ---- the straight line ----------------------------------------------------------------------- */

/* elements: that are before. */
static void add_port(at_text *out, const at_net_program *p, at_net_place x, int64_t elements) {
    at_text_add(out, at_net_port_name(p->arena, p, x.where == AT_NET_OUTPUT, x.number));
    if (elements) at_text_addf(out, " + %lld", (long long)elements);
}

static void add_place(at_text *out, const at_net_program *p, at_net_place x, const char *type) {
    switch (x.where) {
    case AT_NET_INPUT:
    case AT_NET_OUTPUT: add_port(out, p, x, 0); break;
    case AT_NET_WORKSPACE:
        at_text_addf(out, "(%s *)(memory + %lld)", type, (long long)x.offset);
        break;
    case AT_NET_WEIGHTS:
        at_text_addf(out, "(const %s *)(known + %lld)", type, (long long)x.offset);
        break;
    default: at_text_add(out, "0");
    }
}

/* Forms of all kernels in a row. */
static int name_number(const at_net_program *p, int kernel, int form) {
    int n = 0;
    for (int i = 0; i < kernel; i++) n += p->kernels[i].forms.len;
    return n + form;
}

static void add_call(at_text *out, const at_net_program *p, const at_net_step *s,
                     const char *const *names) {
    const at_net_form *f = &p->kernels[s->kernel].forms.data[s->form];
    const at_net_part *part = &p->cut.parts[s->part];
    bool packed = f->memory.pack && !f->is_late;
    at_text_addf(out, "    %s(", names[name_number(p, s->kernel, s->form)]);
    for (int i = 0; i < s->num_args; i++) {
        if (packed && part->params[i].role == AT_ROLE_STAGE) {
            at_text_addf(out, "known + %lld, ", (long long)s->packed.offset);
            packed = false;
        }
        if (s->args[i] < 0) continue;
        const at_net_storage *x = &p->storages.data[s->args[i]];
        at_net_place place = x->place;
        place.offset += s->offsets[i];
        if (place.where == AT_NET_INPUT || place.where == AT_NET_OUTPUT)
            add_port(out, p, place, s->offsets[i] / at_net_type_bytes(x->type));
        else add_place(out, p, place, at_net_c_type(x->type));
        at_text_add(out, ", ");
    }
    if (s->scratch < 0) at_text_add(out, "0");
    else at_text_addf(out, "memory + %lld", (long long)p->storages.data[s->scratch].place.offset);
    at_text_add(out, ");\n");
}

/* A part in whole numbers. */
static void add_whole(at_text *out, const at_net_program *p, const at_net_step *s,
                      const char *name) {
    at_text_add(out, "    {\n        void *tensors[] = {");
    for (int i = 0; i < s->num_args; i++) {
        const at_net_storage *x = &p->storages.data[s->args[i]];
        at_text_add(out, i ? ", (void *)" : "(void *)");
        add_place(out, p, x->place, at_net_c_type(x->type));
    }
    at_text_addf(out, "};\n        %s(tensors, ", name);
    if (s->scratch < 0) at_text_add(out, "0");
    else at_text_addf(out, "memory + %lld", (long long)p->storages.data[s->scratch].place.offset);
    at_text_add(out, ", 0);\n    }\n");
}

static void add_limits(at_text *out, const at_net_limits *l, at_net_type type, int fault) {
    /* beside an unsigned number of 64 bits a limit below 0 would be a huge one */
    const char *number = type == AT_NET_UINT64 ? "(long)element" : "element";
    if (l->depth == 1)
        at_text_addf(out, "        if (%s < %lld || element > %lld) return %d;\n", number,
                     (long long)l->lo[0], (long long)l->hi[0], fault);
    if (l->depth < 2) return;
    at_text_add(out, "        static const int limits[][2] = {");
    for (int i = 0; i < l->depth; i++)
        at_text_addf(out, "%s{%lld, %lld}", i ? ", " : "", (long long)l->lo[i],
                     (long long)l->hi[i]);
    at_text_addf(out,
                 "};\n        if (%3$s < limits[place %% %1$d][0] || element > limits[place %% "
                 "%1$d][1]) return %2$d;\n",
                 l->depth, fault, number);
}

static void add_conversion(at_text *out, const at_net_program *p, const at_net_step *s, int fault) {
    const at_net_storage *from = &p->storages.data[s->args[0]];
    const at_net_storage *to = &p->storages.data[s->args[1]];
    const char *type = at_net_c_type(to->type);
    const bool is_cut = at_net_type_is_float(from->type) && at_net_type_is_int(to->type);
    const bool widens = from->type != to->type && at_net_type_is_half(from->type),
               narrows = from->type != to->type && at_net_type_is_half(to->type);
    at_text_addf(out, "    for (place = 0; place < %lld; place++) {\n        const %s element = ",
                 (long long)to->elements, widens ? "float" : at_net_c_type(from->type));
    if (widens) at_text_addf(out, "float_of_%s", at_net_type_name(from->type));
    at_text_add(out, "((");
    add_place(out, p, from->place, at_net_c_type(from->type));
    at_text_add(out, ")[place]);\n");
    add_limits(out, &s->limits, from->type, fault);
    at_text_add(out, "        (");
    add_place(out, p, to->place, type);
    if (narrows)
        at_text_addf(out, ")[place] = %s_of_float((float)element);\n    }\n",
                     at_net_type_name(to->type));
    else if (to->type == AT_NET_BOOL) at_text_add(out, ")[place] = element != 0;\n    }\n");
    else {
        at_text_add(out, ")[place] = ");
        if (is_cut) at_net_add_whole_of(out, to->type, "element");
        else at_text_addf(out, "(%s)element", type);
        at_text_add(out, ";\n    }\n");
    }
}

static void add_workspace(at_text *out, const at_net_program *programs, int n,
                          const at_net_emit_options *o) {
    int64_t most = 0;
    for (int i = 0; i < n; i++)
        if (programs[i].workspace_bytes > most) most = programs[i].workspace_bytes;
    if (o->sized && o->sized->loops && o->sized->loops->workspace_bytes > most)
        most = o->sized->loops->workspace_bytes;
    if (o->sized) most += at_net_pieces_bytes(o->sized, &programs[n - 1]) + AT_NET_ALIGNMENT;
    at_text_addf(out, "\nunsigned long %s_workspace_bytes(void) { return %lldUL; }\n\n", o->name,
                 (long long)most + AT_NET_ALIGNMENT - 1);
}

static const char *joined(at_arena *a, const char *size, const char *set) {
    return *size && *set ? at_format(a, "%s_%s", size, set) : *size ? size : set;
}

/* The first set that the CPU has. size "": it is the only one. */
static void add_choice(at_text *out, const at_net_program *programs, int n,
                       const at_net_emit_options *o, const char *size) {
    if (*size) at_text_add(out, "\nstatic ");
    at_net_add_signature(out, programs, o, size);
    at_text_add(out, " {\n");
    if (!*size) at_net_add_head_check(out, o);
    for (int i = 0; i < n; i++) {
        const char *set = at_net_set_of(&programs[i]);
        const bool asks = *at_target_find(set)->parts;
        at_text_add(out, "    ");
        if (asks) at_text_addf(out, "if (%s_has_%s()) ", o->name, set);
        at_text_addf(out, "return at_%s_run_%s(weights, ", o->name,
                     joined(programs[i].arena, size, set));
        at_net_add_parameters(out, &programs[i], false);
        at_text_add(out, "workspace);\n");
        if (!asks) {
            at_text_add(out, "}\n");
            return; /* any CPU has it */
        }
    }
    at_text_add(out, "    return -1;\n}\n");
}

/* Inputs that no step reads, as of which only sizes count. */
static void add_unread(at_text *out, const at_net_program *p) {
    for (int i = 0; i < at_net_num_ports(p, false); i++) {
        bool is_read = false;
        for (int s = 0; s < p->steps.len; s++)
            for (int k = 0; k < p->steps.data[s].num_args; k++) {
                const int from = p->steps.data[s].args[k];
                const at_net_place *x = from < 0 ? NULL : &p->storages.data[from].place;
                is_read |= x && x->where == AT_NET_INPUT && x->number == i;
            }
        if (!is_read) at_text_addf(out, "    (void)%s;\n", at_net_port_name(p->arena, p, false, i));
    }
}

/* set "": it is the only one. before: bytes of weights of other sets. */
static void add_run(at_text *out, const at_net_program *p, const at_net_emit_options *o,
                    const char *set, int64_t before, const char *const *names) {
    bool converts = false;
    for (int i = 0; i < p->steps.len; i++) converts |= p->steps.data[i].kind == AT_NET_CONVERT;
    if (*set) at_text_add(out, "static ");
    at_net_add_signature(out, p, o, set);
    at_text_addf(out,
                 " {\n    const char *known = (const char *)weights + %lld;\n"
                 "    char *memory = (char *)workspace;\n%s",
                 (long long)(AT_NET_WEIGHTS_HEAD + before), converts ? "    long place;\n" : "");
    if (!*set) at_net_add_head_check(out, o);
    at_net_add_alignment(out);
    at_text_add(out, "    (void)memory, (void)known;\n");
    add_unread(out, p);
    const char *title = NULL;
    for (int i = 0, fault = 2; i < p->steps.len; i++) {
        const at_net_step *s = &p->steps.data[i];
        if (s->kind == AT_NET_CONVERT) {
            add_conversion(out, p, s, fault);
            fault += s->limits.depth > 0;
            continue;
        }
        if (title != p->cut.parts[s->part].title) {
            title = p->cut.parts[s->part].title;
            at_text_add(out, "    /* ");
            at_text_add_c_comment(out, title);
            at_text_add(out, " */\n");
        }
        if (p->kernels[s->kernel].whole.source)
            add_whole(out, p, s, names[name_number(p, s->kernel, 0)]);
        else add_call(out, p, s, names);
    }
    at_text_add(out, "    return 0;\n}\n");
}

/* ---- kernels --------------------------------------------------------------------------------- */

static const char *kernel_head(at_arena *a, const at_net_kernel *k) {
    at_text t = {0};
    at_text_addf(&t, "%s", k->part->title);
    if (k->count > 1) at_text_addf(&t, ", %d times", k->count);
    at_text_add(&t, "\nconfiguration from ");
    at_text_add_visible(&t, k->chosen.from);
    at_text_add(&t, ":\n");
    at_config_print_json(&t, &k->chosen.config);
    at_text_add(&t, "\n");
    return at_text_take(a, &t);
}

/* Kernels that a main checks, of all programs. */
typedef struct checked_kernels {
    AT_VEC(at_file_kernel) kernels;
    AT_VEC(bool) late;
} checked_kernels;

typedef struct emitted {
    const at_net_program *p;
    at_engine_options engine;
    bool checked;
    const char *set; /* "": it is the only one; else names end in it */
    const char **names;
    at_file_kernel *kernels;
    at_session *sessions;
    bool *late;
    int num;
} emitted;

/* What the kernel is checked with. */
static at_status add_written(const at_session *s, at_arena *a, at_file_kernel *out, at_error *err) {
    at_config own;
    const at_task *task = at_task_of_config(s->what.task, &s->what.chosen.config, &own);
    at_program *written;
    AT_TRY(at_task_written(a, s->what.task, at_task_compute(task), &written, err));
    out->written = written;
    return AT_OK;
}

static at_status add_form(emitted *e, const at_net_build *b, const at_net_kernel *k, int form,
                          int number, at_error *err) {
    at_arena *a = e->p->arena;
    const at_net_form *f = &k->forms.data[form];
    at_session *session = &e->sessions[e->num];
    at_candidate c;
    const char *name = e->names[number] = at_c_name(a, k->part->name);
    if (k->whole.source) return AT_OK;
    if (form) name = at_format(a, "%s_rows%d", name, form);
    if (*e->set) name = at_format(a, "%s_%s", name, e->set);
    e->names[number] = name;
    e->late[e->num] = f->is_late;
    e->engine.isa = at_net_isa(b, k->chosen.task);
    e->engine.threads = f->session.how.threads;
    e->engine.row = f->rows;
    at_session_open_chosen(&e->engine, &k->chosen, session);
    e->kernels[e->num++] = (at_file_kernel){.name = name, .head = kernel_head(a, k)};
    AT_TRY(at_session_context(session, false, err));
    at_lower_options lo = at_session_lower_options(session, name);
    lo.without_pack = !f->is_late && !e->checked;
    AT_TRY(at_candidate_lower(session, a, &session->what.chosen.config, &lo, &c, err));
    at_file_kernel *out = &e->kernels[e->num - 1];
    out->program = c.program, out->kernel = c.kernel, out->threads = session->how.threads;
    out->row = f->rows;
    return e->checked ? add_written(session, a, out, err) : AT_OK;
}

static void add_checked(checked_kernels *to, const emitted *e) {
    at_arena *a = e->p->arena;
    for (int i = 0; i < e->num; i++) {
        *at_push(a, &to->kernels) = e->kernels[i];
        *at_push(a, &to->late) = e->late[i];
    }
}

/* prefix: of what asks for instruction sets; NULL: nothing does. checked: NULL without a main. */
static at_status add_kernels(at_text *out, const at_net_program *p, const at_net_build *b,
                             const char *prefix, const char *set, const char **before,
                             const char **names, checked_kernels *checked, at_error *err) {
    at_arena *a = p->arena;
    const int n = name_number(p, p->num_kernels, 0);
    emitted e = {.p = p,
                 .engine = b->engine,
                 .set = set,
                 .names = names,
                 .checked = checked != NULL,
                 .kernels = AT_NEW_ARRAY(a, at_file_kernel, n),
                 .sessions = AT_NEW_ARRAY(a, at_session, n),
                 .late = AT_NEW_ARRAY(a, bool, n)};
    at_status s = AT_OK;
    e.engine.for_dialect = true;
    e.engine.cache = AT_CACHE_WEIGHTS_COLD;
    e.engine.set |= AT_SET_THREADS;
    for (int i = 0, number = 0; i < p->num_kernels; i++)
        for (int f = 0; f < p->kernels[i].forms.len && s == AT_OK; f++)
            s = add_form(&e, b, &p->kernels[i], f, number++, err);
    const at_part_options o = {prefix, checked != NULL};
    if (s == AT_OK && e.num) s = at_emit_parts(a, e.kernels, e.num, e.late, &o, before, out, err);
    if (s == AT_OK && checked) add_checked(checked, &e);
    for (int i = 0; i < e.num; i++) at_session_close(&e.sessions[i]);
    return s;
}

/* The function of each part in whole numbers, which its text alone makes: of no set. */
static void add_whole_parts(at_text *out, const at_net_program *p, const char *const *names) {
    for (int i = 0; i < p->num_kernels; i++) {
        const at_net_kernel *k = &p->kernels[i];
        if (!k->whole.source) continue;
        const char *name = names[name_number(p, i, 0)];
        const char *entry = at_format(p->arena, "int %s(void *const buf[]", name);
        const char *at = strstr(k->whole.source, entry);
        if (strstr(at_text_str(out), entry)) continue;
        at_text_add(out, "\n/* ");
        at_text_add_c_comment(out, k->part->title);
        at_text_add(out, " */\n");
        at_text_addn(out, k->whole.source, (size_t)(at - k->whole.source));
        at_text_addf(out, "static %s", at);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

const char *at_net_set_of(const at_net_program *p) {
    for (int i = 0; i < p->num_kernels; i++)
        if (!p->kernels[i].whole.source)
            return p->kernels[i].forms.data[0].session.how.target->name;
    return "any";
}

/* Programs of each size. */
static int num_sets(int n, const at_net_emit_options *o) {
    return o->sized ? n / o->sized->sizes->n : n;
}

static void add_head(at_text *out, const at_net_program *programs, int n,
                     const at_net_emit_options *o) {
    const at_net_program *p = programs;
    at_text head = {0};
    at_text_addf(&head,
                 "The network %s, written by autotune %s: %d parts of %d kinds, %d of them "
                 "tuned.\n",
                 at_base_name(p->net->path), AT_VERSION, p->cut.num_parts, p->num_kernels,
                 p->num_tuned);
    at_text_add(&head, "instructions: ");
    for (int i = 0; i < num_sets(n, o); i++)
        at_text_addf(&head, "%s%s", i ? " or " : "", at_net_set_of(&programs[i]));
    if (o->sized) at_text_add(&head, "; sizes: "), at_net_add_sizes(&head, o->sized);
    at_text_addf(&head, "; workspace %.2f MB; what it knows, %.2f MB, %s%s\n",
                 (double)p->workspace_bytes / 1e6, (double)at_net_known_bytes(programs, n) / 1e6,
                 o->weights ? "is in " : "stands in the source", o->weights ? o->weights : "");
    at_text_add(out, "/*\n");
    at_text safe = {0};
    at_text_add_c_comment(&safe, at_text_str(&head));
    for (const char *line = at_text_str(&safe); *line; line += strcspn(line, "\n") + 1)
        at_text_addf(out, " * %.*s\n", (int)strcspn(line, "\n"), line);
    at_text_add(out, licence);
    at_text_add(out, " */\n");
    at_text_free(&safe);
    at_text_free(&head);
}

static void add_ports(at_text *out, const at_net_program *p) {
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < at_net_num_ports(p, side); i++) {
            const at_net_value *v = at_net_port(p, side, i);
            at_text_addf(out, " *   %s: %s%s", at_net_port_name(p->arena, p, side, i),
                         side ? "" : "const ", at_net_c_type(v->type));
            for (int k = 0; k < v->rank; k++) at_text_addf(out, "[%lld]", (long long)v->dims[k]);
            at_text_add(out, "\n");
        }
}

static void add_header(at_text *out, const at_net_program *programs, int n,
                       const at_net_emit_options *o) {
    const at_net_program *p = programs;
    at_text guard = {0};
    for (const char *c = at_c_name(p->arena, o->header); *c; c++)
        at_text_addf(&guard, "%c", toupper((unsigned char)*c));
    add_head(out, programs, n, o);
    at_text_addf(out, "#ifndef %s\n#define %s\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
                 at_text_str(&guard), at_text_str(&guard));
    if (o->weights)
        at_text_addf(out, "/* What the network knows: the content of %s, mapped or read. */\n",
                     o->weights);
    else
        at_text_addf(out, "/* What the network knows. */\nconst void *%s_weights(void);\n",
                     o->name);
    at_text_addf(out,
                 "unsigned long %s_weights_bytes(void);\n"
                 "/* 0: these bytes are whole, and this network's. It reads all of them. */\n"
                 "int %s_weights_fault(const void *weights, unsigned long bytes);\n\n"
                 "/* Memory of any alignment whose content does not matter; calls at the same time "
                 "need one each. */\nunsigned long %s_workspace_bytes(void);\n\n"
                 "/* Outputs of inputs, row by row:\n",
                 o->name, o->name, o->name);
    add_ports(out, o->sized ? &programs[n - 1] : p);
    at_text_add(out, " * 0: done. 1: weights are of another network or version. More: an index of "
                     "an input is beyond what\n * it counts. It keeps no state: any number of "
                     "threads may run it at once. */\n");
    if (o->sized) {
        at_text_addf(out, "/* Arrays have %s in place of %lld. ", o->sized->parameter,
                     (long long)o->sized->sizes->value[o->sized->sizes->n - 1]);
        at_text sizes = {0};
        at_net_add_sizes(&sizes, o->sized); /* with a name of the model's */
        at_text_add_c_comment(out, at_text_str(&sizes));
        at_text_free(&sizes);
        at_text_addf(out,
                     ". %d: it does not run with that size. */\n/* How it runs: \"kernels\" where "
                     "the size is listed, %s; 0: it does not. */\n"
                     "const char *%s_way(long %s);\n",
                     AT_NET_NO_SIZE,
                     o->sized->loops         ? "\"loops\" elsewhere"
                     : o->sized->rows->fault ? "and no other"
                                             : "\"pieces\" elsewhere",
                     o->name, o->sized->parameter);
    }
    if (num_sets(n, o) > 1)
        at_text_add(out, "/* -1: the CPU has none of the instruction sets. */\n");
    at_net_add_signature(out, p, o, "");
    at_text_add(out, ";\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    at_text_free(&guard);
}

/* check_kernels: each alone. prefix: as add_kernels has it. */
static at_status add_checks(at_text *out, at_arena *a, const checked_kernels *all,
                            const char *prefix, at_error *err) {
    const int n = all->kernels.len;
    AT_TRY(at_emit_part_checks(a, all->kernels.data, n, all->late.data, out, err));
    at_text_add(out, "static int check_kernels(void) {\n    int bad = 0, all = 0;\n");
    for (int i = 0; i < n; i++) {
        const at_kernel *k = all->kernels.data[i].kernel;
        const at_target *t = k->target;
        at_text_add(out, "    ");
        if (prefix && k->dialect != AT_DIALECT_C && *t->parts)
            at_text_addf(out, "if (%s_has_%s()) ", prefix, t->name);
        at_text_addf(out, "all++, bad += at_check_%s();\n", all->kernels.data[i].name);
    }
    at_text_add(out, "    printf(\"%d of %d kernels, each on data of its own, are right\\n\", all "
                     "- bad, all);\n    return bad;\n}\n\n");
    return AT_OK;
}

/* One program: its kernels, and the straight line that calls them. */
static at_status add_program(at_text *out, const at_net_program *programs, int number,
                             const at_net_build *b, const at_net_emit_options *o,
                             const char *suffix, bool asks, const char **before,
                             checked_kernels *checked, at_error *err) {
    const at_net_program *p = &programs[number];
    const char **names = AT_NEW_ARRAY(p->arena, const char *, name_number(p, p->num_kernels, 0));
    AT_TRY(add_kernels(out, p, b, asks ? o->name : NULL, suffix, before, names,
                       o->expected ? checked : NULL, err));
    add_whole_parts(out, p, names);
    at_text_add(out, "\n");
    add_run(out, p, o, suffix, at_net_known_bytes(programs, number), names);
    return AT_OK;
}

/* Programs of one set behind each other, which share its types. */
static at_status add_programs(at_text *out, const at_net_program *programs,
                              const at_net_build *builds, int n, const at_net_emit_options *o,
                              checked_kernels *checked, at_error *err) {
    const int sets = num_sets(n, o);
    const char *before = NULL;
    for (int k = 0; k < n; k++) {
        const int i = k % (n / sets) * sets + k / (n / sets);
        AT_TRY(add_program(out, programs, i, &builds[i], o,
                           joined(programs->arena, o->sized ? o->sized->suffix[i / sets] : "",
                                  sets > 1 ? at_net_set_of(&programs[i]) : ""),
                           sets > 1 && i < sets, &before, checked, err));
    }
    return AT_OK;
}

at_status at_net_emit(const at_net_program *programs, const at_net_build *builds, int n,
                      const at_net_emit_options *o, at_net_emitted *out, at_error *err) {
    at_text *source = &out->source, kernels = {0};
    const int sets = num_sets(n, o);
    checked_kernels all = {0};
    AT_TRY(check_types(programs, err));
    at_net_weights_head(programs, n, out->head);
    add_header(&out->header, programs, n, o);
    add_head(source, programs, n, o);
    const at_status s = add_programs(&kernels, programs, builds, n, o, &all, err);
    if (o->expected) at_emit_check_includes(source, all.kernels.data, all.kernels.len);
    at_text_addf(source, "#include \"%s\"\n\n", o->header);
    at_net_add_halves(source, programs, n, o->expected != NULL);
    at_net_add_whole(source, programs, n, o->sized ? o->sized->loops : NULL);
    at_net_emit_head(source, out->head, o);
    at_text_add(source, at_text_str(&kernels));
    at_text_free(&kernels);
    if (s != AT_OK) return s;
    at_net_emit_weights(source, programs, n, out->head, o);
    add_workspace(source, programs, n, o);
    for (int i = 0; i < n && sets > 1; i += sets)
        add_choice(source, &programs[i], sets, o, o->sized ? o->sized->suffix[i / sets] : "");
    at_net_program *sizes = AT_NEW_ARRAY(programs->arena, at_net_program, n);
    for (int i = 0; i < n; i += sets) sizes[i / sets] = programs[i];
    if (o->sized) at_net_emit_sizes(source, sizes, n / sets, o);
    if (!o->expected) return AT_OK;
    AT_TRY(add_checks(source, programs->arena, &all, sets > 1 ? o->name : NULL, err));
    at_net_emit_main(sizes, n / sets, o, source);
    return AT_OK;
}
