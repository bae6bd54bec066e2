/* sketch/schedulable.c: schedulables made of calls, as templates, and as the C file of one. */
#include <ctype.h>
#include <string.h>

#include "sketch/sketch.h"

/* ---- as a template --------------------------------------------------------------------------- */

static void define(at_template *t) {
    const at_schedulable *s = (const at_schedulable *)at_template_row_of(t);
    for (int i = 0; i < s->num_definitions; i++) {
        at_define(t, &s->definitions[i]);
        if (s->definitions[i].file)
            at_template_stands_at(t, s->definitions[i].file, s->definitions[i].line);
    }
    if (s->compute) at_compute_value(t, s->compute, s->compute_text);
    else at_compute_text(t, s->compute_text);
    if (s->file) at_template_compute_stands(t, s->file, NULL);
    if (s->sketch)
        at_sketch_add(t, s->sketch->name, &s->sketch->s->row, (at_preference){0}, s->sketch);
    else if (s->tree) at_schedule_value(t, s->tree, s->tree_text);
    else if (s->tree_text) at_schedule_when(t, "", s->tree_text);
    if (s->written) at_template_tree_stands(t, s->written);
}

static bool is_wide(int lanes) { return lanes >= 16; }

/* Registers for so many elements in parts of one size. */
static long long registers(long long n, long long part, int lanes) {
    return n / part * ((part + lanes - 1) / lanes) + (n % part + lanes - 1) / lanes;
}

/* The limit, or so little more that no less than a square is left. */
static long long whole(long long n, long long limit, int square) {
    for (long long part = limit; square && part < 2 * limit; part += square) {
        if (part >= n) return n;
        if (n % part == 0 || n % part >= square) return part;
    }
    return limit;
}

/* How large a part of so many elements is; lanes: of a register; 1: it is no lanes. */
static long long part_of(long long n, long long limit, bool tails, int lanes,
                         const at_part_limit *p) {
    const int square = p->square;
    const long long most = whole(n, limit && limit < n ? limit : n, square),
                    d = at_divisor(n, most);
    const bool is_near = 2 * d > most && !(square && d % square);
    const long long of_d = registers(n, d, lanes), of_most = registers(n, most, lanes);
    const bool fills = p->cut ? 3 * of_d < 4 * of_most : of_d <= of_most;
    return tails && !(is_near && fills) ? most : d;
}

static void defaults(at_template *t, int lanes) {
    const at_schedulable *s = (const at_schedulable *)at_template_row_of(t);
    for (int i = 0; i < s->num_limits; i++) {
        const at_split_limits *l = &s->limits[i];
        long long left = at_evaluate(t, l->axis), sizes[8];
        for (int k = l->num_parts - 1; k > 0; k--) {
            const at_part_limit *p = &l->part[k];
            int limit = is_wide(lanes) ? p->wide : p->narrow;
            if (p->vectors) limit = p->vectors * lanes;
            sizes[k - 1] = part_of(left, limit, l->tails, p->vectors || p->lanes ? lanes : 1, p);
            left = (left + sizes[k - 1] - 1) / sizes[k - 1];
        }
        at_default(t, l->knob, sizes);
    }
}

static const char *compute_text(at_arena *a, const at_compute *c) {
    at_text text = {0};
    at_compute_print(&text, c);
    return at_text_take(a, &text);
}

static const char *tree_text(at_arena *a, const at_tree *t) {
    at_text text = {0};
    at_tree_print(&text, t);
    return at_text_take(a, &text);
}

at_schedulable *at_schedulable_untried(at_arena *a, const at_schedulable *like) {
    at_schedulable *s = at_copy(a, like, sizeof *s);
    if (!s->row.help) s->row.help = "made of calls";
    s->row.define = define;
    s->row.defaults = like->num_limits ? defaults : NULL;
    s->definitions =
        at_copy(a, like->definitions, sizeof *s->definitions * (size_t)like->num_definitions);
    s->limits = at_copy(a, like->limits, sizeof *s->limits * (size_t)like->num_limits);
    if (!s->compute_text) s->compute_text = compute_text(a, s->compute);
    if (!s->tree_text && s->tree) s->tree_text = tree_text(a, s->tree);
    s->task = NULL;
    return s;
}

at_schedulable *at_schedulable_of_numbers(at_arena *a, const at_task *t, at_schedulable like) {
    at_text args = {0}, record_args = {0};
    for (int i = 0; i < at_task_num_numbers(t); i++) {
        const char *name;
        int64_t value = at_task_number(t, i, &name);
        at_text_addf(&args, "%s%s=%lld%s", i ? ", " : "", name, (long long)value,
                     value < 0   ? " from -1"
                     : value < 1 ? " from 0"
                                 : "");
        at_text_addf(&record_args, "%s%s", i ? ", " : "", name);
    }
    like.row = (at_template_row){
        .name = at_task_row(t)->name,
        .args = at_text_take(a, &args),
        .record_args = at_format(a, "[%s]", at_text_take(a, &record_args)),
    };
    return at_schedulable_untried(a, &like);
}

/* ---- as a C file ----------------------------------------------------------------------------- */

static void add_string(at_text *out, const char *text) {
    at_text_add(out, "\"");
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\') at_text_add(out, "\\");
        if (*p == '\n') at_text_add(out, "\\n");
        else at_text_addn(out, p, 1);
    }
    at_text_add(out, "\"");
}

/* A line of C per line of text. */
static void add_lines(at_text *out, const char *name, const char *text) {
    at_text_addf(out, "static const char %s[] =", name);
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "\n");
        n += p[n] == '\n';
        at_text line = {0};
        at_text_addn(&line, p, n);
        at_text_add(out, "\n    ");
        add_string(out, at_text_str(&line));
        at_text_free(&line);
        p += n;
    }
    at_text_add(out, ";\n\n");
}

static void add_split(at_text *out, const at_definition *d) {
    static const char *const policies[] = {"AT_FACTORS", "AT_POWER2", "AT_VERBOSE", "AT_CANDIDATE",
                                           "AT_LISTED"};
    bool limited = false;
    at_text_addf(out, ", .policy = %s", policies[d->spec.policy]);
    if (d->spec.filter) {
        at_text_add(out, ", .filter = ");
        add_string(out, d->spec.filter);
    }
    if (d->spec.listed) {
        at_text_add(out, ", .listed = ");
        add_string(out, d->spec.listed);
    }
    if (d->spec.max_factor) at_text_addf(out, ", .max_factor = %lld", d->spec.max_factor);
    if (d->spec.no_tail) at_text_addf(out, ", .no_tail = %d", d->spec.no_tail);
    for (int i = 0; i < 8; i++) limited |= d->spec.fallback[i] != 0;
    if (!limited) return;
    at_text_add(out, ", .fallback = {");
    for (int i = 0; i < 8; i++) at_text_addf(out, "%s%lld", i ? ", " : "", d->spec.fallback[i]);
    at_text_add(out, "}");
}

static void add_definition(at_text *out, const at_definition *d) {
    static const char *const calls[AT_DEFINE_KINDS] = {
        "at_sizes",        "at_split",  "at_option", "at_reorder", "at_annotate",
        "at_joint_filter", "at_layout", "at_sparse", "at_flops",   "at_require"};
    at_text_addf(out, "    %s(t", calls[d->kind]);
    for (int i = 0; i < 4 && d->text[i]; i++) {
        if (d->kind == AT_DEFINE_REORDER && i == 2) at_text_addf(out, ", %d", d->fallback);
        at_text_add(out, ", ");
        add_string(out, d->text[i]);
    }
    if (d->kind == AT_DEFINE_SPLIT) add_split(out, d);
    if (d->kind == AT_DEFINE_OPTION) at_text_addf(out, ", %d", d->fallback);
    at_text_add(out, ");\n");
}

/* As at_schedulable's own. */
static void add_defaults(at_text *out, const at_schedulable *s) {
    if (!s->num_limits) return;
    at_text_add(
        out,
        "static long long registers(long long n, long long part, int lanes) {\n"
        "    return n / part * ((part + lanes - 1) / lanes) + (n % part + lanes - 1) / lanes;\n"
        "}\n\n"
        "/* The limit, or so little more that no less than a square is left. */\n"
        "static long long whole(long long n, long long limit, int square) {\n"
        "    for (long long part = limit; square && part < 2 * limit; part += square) {\n"
        "        if (part >= n) return n;\n"
        "        if (n % part == 0 || n % part >= square) return part;\n"
        "    }\n"
        "    return limit;\n"
        "}\n\n"
        "/* The largest divisor within the limit; the limit itself where none comes near, or it\n"
        " * fills registers better. */\n"
        "static long long part(long long n, long long limit, int tails, int lanes, int cut,\n"
        "                      int square) {\n"
        "    long long most = whole(n, limit && limit < n ? limit : n, square), d = at_divisor(n, "
        "most);\n"
        "    long long of_d = registers(n, d, lanes), of_most = registers(n, most, lanes);\n"
        "    int fills = cut ? 3 * of_d < 4 * of_most : of_d <= of_most;\n"
        "    int near = 2 * d > most && !(square && d % square);\n"
        "    return tails && !(near && fills) ? most : d;\n"
        "}\n\n"
        "static void defaults(at_template *t, int lanes) {\n"
        "    long long left, p[8];\n"
        "    int wide = lanes >= 16;\n"
        "    (void)wide;\n");
    for (int i = 0; i < s->num_limits; i++) {
        const at_split_limits *l = &s->limits[i];
        at_text_add(out, "    left = at_evaluate(t, ");
        add_string(out, l->axis);
        at_text_add(out, ");\n");
        for (int k = l->num_parts - 1; k > 0; k--) {
            const at_part_limit *m = &l->part[k];
            at_text_addf(out, "    p[%d] = part(left, ", k - 1);
            if (m->vectors) at_text_addf(out, "%d * lanes", m->vectors);
            else if (m->wide == m->narrow) at_text_addf(out, "%d", m->wide);
            else at_text_addf(out, "wide ? %d : %d", m->wide, m->narrow);
            at_text_addf(out, ", %d, %s, %d, %d);\n", l->tails,
                         m->vectors || m->lanes ? "lanes" : "1", m->cut, m->square);
            if (k > 1) at_text_addf(out, "    left = (left + p[%d] - 1) / p[%d];\n", k - 1, k - 1);
        }
        at_text_add(out, "    at_default(t, ");
        add_string(out, l->knob);
        at_text_add(out, ", p);\n");
    }
    at_text_add(out, "}\n\n");
}

/* ---- its mark, and all of it ----------------------------------------------------------------- */

static const char mark[] = ".c: derived by autotune (";
enum { MARK_DIGITS = 16 };

static void add_mark(at_text *out, const char *rest) {
    char hex[33];
    at_hash h;
    at_hash_init(&h);
    at_hash_add(&h, rest, strlen(rest));
    at_hash_hex(&h, hex);
    at_text_addf(out, "%s%.*s)", mark, MARK_DIGITS, hex);
}

bool at_schedulable_is_printed(const char *text) {
    const char *said = strstr(text, mark), *line = strchr(text, '\n');
    at_text due = {0};
    if (!said || !line || said > line) return false;
    add_mark(&due, line + 1);
    bool same = !strncmp(said, at_text_str(&due), due.len);
    at_text_free(&due);
    return same;
}

static void add_source(at_text *out, const at_schedulable *s) {
    at_text_add(out, "#include \"template.h\"\n\n");
    add_lines(out, "compute", s->compute_text);
    add_lines(out, "schedule", s->tree_text);
    at_text_add(out, "static void define(at_template *t) {\n");
    for (int i = 0; i < s->num_definitions; i++) add_definition(out, &s->definitions[i]);
    at_text_add(out, "    at_compute(t, compute);\n    at_schedule(t, schedule);\n}\n\n");
    add_defaults(out, s);
    at_text_add(out, "const at_template_row at_");
    for (const char *p = s->row.name; *p; p++)
        at_text_addf(out, "%c", isalnum((unsigned char)*p) ? *p : '_');
    at_text_add(out, " = {\n    .name = ");
    add_string(out, s->row.name);
    at_text_add(out, ",\n    .help = ");
    add_string(out, s->row.help);
    at_text_add(out, ",\n    .args = ");
    add_string(out, s->row.args);
    at_text_add(out, ",\n    .record_args = ");
    add_string(out, s->row.record_args);
    at_text_add(out, ",\n    .define = define,\n");
    if (s->num_limits) at_text_add(out, "    .defaults = defaults,\n");
    at_text_add(out, "};\n");
}

void at_schedulable_print(at_text *out, const at_schedulable *s) {
    at_text source = {0};
    add_source(&source, s);
    at_text_addf(out, "/* %s", s->row.name);
    add_mark(out, at_text_str(&source));
    at_text_addf(out, ". */\n%s", at_text_str(&source));
    at_text_free(&source);
}
