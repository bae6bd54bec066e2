/* templates/fuse.c: a template with element-wise stages behind its output, `dense+bias+relu`: a
 * template like any other, whose texts are the other one's, rewritten. Its computation is that of
 * the other with E9 (schedule/edit/edit.h) for each stage; a tree stays as it is, or, where the
 * output is a sum, gets a copy of that first. */
#include "templates/template_int.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/edit/edit_compute.h"
#include "schedule/epilogue.h"

enum { MOST_STAGES = 8, MOST_LETTERS = 200 }; /* letters: of one that is written out */
enum { MOST_FUSED = 1000 };                   /* names that logs from anywhere may bring */

typedef struct fused {
    at_template_row row; /* first, so that its define() finds the rest */
    const at_template_row *base;
    const char *stages[MOST_STAGES]; /* names, or texts in parentheses; live for ever */
    int num_stages;
    struct fused *next;
} fused;

/* Rows live for ever, and one name has one row. */
static fused *first_fused;
static int num_fused;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void define(at_template *t);

static const fused *fused_of(const at_template_row *row) {
    return row->define == define ? (const fused *)row : NULL;
}

const at_template_row *at_template_base(const at_template_row *row) {
    const fused *f = fused_of(row);
    return f ? f->base : row;
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* The stage that a word of n letters names; AT_EPILOGUES: none. */
static at_epilogue stage_named(const char *word, size_t n) {
    int i = 0;
    while (i < AT_EPILOGUES && (strlen(at_epilogue_name((at_epilogue)i)) != n ||
                                strncmp(at_epilogue_name((at_epilogue)i), word, n) != 0))
        i++;
    return (at_epilogue)i;
}

/* What becomes of an element. */
static const char *text_of(const char *stage, at_type *type) {
    at_epilogue e = stage_named(stage, strlen(stage));
    *type = e == AT_EPILOGUES ? AT_TYPE_COUNT : at_epilogue_type(e);
    return e == AT_EPILOGUES ? stage : at_epilogue_text(e);
}

/* ---- the task -------------------------------------------------------------------------------- */

/* A mistake in what is asked for, not in the template. */
static void refuse(at_template *t, const char *stage) {
    t->err.status = AT_E_USAGE;
    at_fail_at(&t->err, "--fuse %s: ", stage);
}

/* An output that is a sum gets a copy behind it, in every tree. */
static at_status copy_sum(at_template *t, const char *sum) {
    at_compute *c;
    const at_compute *edited = NULL;
    const char *name = at_format(t->arena, "%s_sum", sum);
    AT_TRY(at_template_read_compute(t, &c));
    if (!t->trees.len) { /* they are derived afterwards */
        at_tree *plain;
        AT_TRY(at_edit_plain(t->arena, c, &plain, &t->err));
        AT_TRY(at_edit_copy(t->arena, plain, AT_COPY_WRITE, sum, NULL, name, &edited, &plain,
                            &t->err));
    }
    for (int i = 0; i < t->trees.len; i++) {
        tree_choice *choice = &t->trees.data[i];
        at_tree *tree;
        AT_TRY(at_template_read_tree(
            t, c, choice, at_format(t->arena, "schedule of %s", t->row->name), true, &tree));
        AT_TRY(
            at_edit_copy(t->arena, tree, AT_COPY_WRITE, sum, NULL, name, &edited, &tree, &t->err));
        choice->given = tree;
    }
    if (edited) t->given = edited;
    return AT_OK;
}

static const at_tensor *output_of(const at_compute *c) {
    for (int i = 0; i < c->num_tensors; i++)
        if (c->tensors[i].is_output) return &c->tensors[i];
    AT_BUG("a computation without output");
}

/* What at_layout says of the output; NULL: nothing. */
static layout *layout_of(at_template *t, const at_tensor *output) {
    size_t n = strlen(output->name);
    for (int i = 0; i < t->layouts.len; i++) {
        const char *text = t->layouts.data[i].text;
        if (!strncmp(text, output->name, n) && strspn(text + n, " [") > 0)
            return &t->layouts.data[i];
    }
    return NULL;
}

static bool varies(const at_expr *e, const void *t) {
    return e->op == AT_X_NAME && e->ref >= 0 &&
           ((const at_template *)t)->values.data[e->ref].varies;
}

/* An addend of the output's shape is a plain tensor wherever the output is one. */
static at_status check_shape(at_template *t, const at_tensor *output) {
    for (int k = 0; k < output->num_axes; k++)
        if (at_expr_find(output->axes[k].extent, varies, t))
            return at_fail(&t->err, AT_E_USAGE,
                           "the shape of the output \"%s\" depends on knobs, and no at_layout says "
                           "how: an addend has none to be given in",
                           output->name);
    return AT_OK;
}

static at_status add_stage(at_template *t, const char *stage, const at_compute **c) {
    at_type type;
    const char *text = text_of(stage, &type);
    const at_tensor *output = output_of(*c);
    layout *own = layout_of(t, output);
    const char *const *inputs;
    if (own) {
        t->compute = (at_compute *)*c;
        AT_TRY(at_layout_parse(t, own));
        t->compute = NULL;
    }
    AT_TRY(
        at_edit_epilogue(t->arena, *c, own ? own->order : NULL, text, type, c, &inputs, &t->err));
    if (*inputs && !own) AT_TRY(check_shape(t, output));
    for (; own && *inputs; inputs++)
        at_layout(t, at_textf(t, "%s%s", *inputs, strchr(own->text, '[')));
    return t->err.status;
}

static at_status fuse(at_template *t, const fused *f) {
    at_compute *parsed;
    const at_compute *c;
    const char *sum;
    AT_TRY(at_template_read_compute(t, &parsed));
    if (at_edit_output_sum(parsed, &sum, &t->err) != AT_OK) {
        refuse(t, f->stages[0]);
        return t->err.status;
    }
    if (sum) {
        AT_TRY(copy_sum(t, sum));
        AT_TRY(at_template_read_compute(t, &parsed));
    }
    c = parsed;
    for (int i = 0; i < f->num_stages; i++) {
        if (add_stage(t, f->stages[i], &c) != AT_OK) {
            refuse(t, f->stages[i]);
            return t->err.status;
        }
        at_hash_add_str(&t->hash, f->stages[i]);
    }
    t->given = c;
    return AT_OK;
}

static void define(at_template *t) {
    const fused *f = fused_of(t->row);
    t->row = f->base;
    f->base->define(t);
    t->row = &f->row;
    t->compute_file = t->compute_source = NULL; /* it is rewritten */
    if (t->foreign && t->err.status == AT_OK)
        at_fail(&t->err, AT_E_USAGE, "%s is a kernel, which takes no stages behind it",
                f->base->name);
    if (t->err.status == AT_OK && t->compute_text) fuse(t, f);
}

/* ---- its row --------------------------------------------------------------------------------- */

static at_status unknown_stage(const char *word, size_t n, at_error *err) {
    at_text list = {0};
    for (int i = 0; i < AT_EPILOGUES; i++)
        at_text_addf(&list, "%s%s", i ? ", " : "", at_epilogue_name((at_epilogue)i));
    at_status s = at_fail(err, AT_E_USAGE,
                          "--fuse: unknown stage \"%.*s\"; there are: %s; or "
                          "written out, in parentheses: (x*sigmoid(x))",
                          (int)n, word, at_text_str(&list));
    at_text_free(&list);
    return s;
}

static char *keep_text(const char *text, size_t n) {
    char *kept = strndup(text, n);
    if (!kept) AT_BUG("no memory for a template");
    return kept;
}

/* Up to one of the letters that stands in no parentheses. */
static size_t stage_length(const char *text, const char *between) {
    int depth = 0;
    size_t n = 0;
    for (; text[n] && (depth || !strchr(between, text[n])); n++)
        depth += (text[n] == '(') - (text[n] == ')');
    return n;
}

/* (x * 2) in one spelling. It is one of a thousand in a run at most, as the templates made of it.
 */
static at_status read_written(const char *word, size_t n, const char **out, at_error *err) {
    const char *spelled;
    at_arena *a = at_arena_new();
    at_status s = at_epilogue_spell_text(a, at_strndup(a, word, n), &spelled, err);
    if (s == AT_OK && strlen(spelled) > MOST_LETTERS)
        s = at_fail(err, AT_E_USAGE, "more than %d letters", MOST_LETTERS);
    if (s == AT_OK) {
        spelled = at_format(a, "(%s)", spelled);
        *out = keep_text(spelled, strlen(spelled));
    } else if (err) {
        at_fail_at(err, "--fuse %.*s: ", (int)(n < MOST_LETTERS ? n : MOST_LETTERS), word);
        err->status = AT_E_USAGE;
    }
    at_arena_free(a);
    return s == AT_OK ? AT_OK : AT_E_USAGE;
}

static at_status read_stages(const char *text, const char *between, fused *f, at_error *err) {
    for (const char *p = text;; p++) {
        size_t n = stage_length(p, between);
        at_epilogue e = stage_named(p, n);
        if (e == AT_EPILOGUES && *p != '(') return unknown_stage(p, n, err);
        if (f->num_stages == MOST_STAGES)
            return at_fail(err, AT_E_USAGE, "--fuse %s: more than %d stages", text, MOST_STAGES);
        const char **stage = &f->stages[f->num_stages];
        if (e == AT_EPILOGUES) AT_TRY(read_written(p, n, stage, err));
        else *stage = at_epilogue_name(e);
        f->num_stages++;
        p += n;
        if (!*p) return AT_OK;
    }
}

static const char *with_stages(const char *name, const fused *f) {
    at_text text = {0};
    at_text_add(&text, name);
    for (int i = 0; i < f->num_stages; i++) at_text_addf(&text, "+%s", f->stages[i]);
    char *kept = keep_text(at_text_str(&text), text.len);
    at_text_free(&text);
    return kept;
}

static bool has_stages(const fused *x, const fused *like) {
    if (x->num_stages != like->num_stages) return false;
    for (int i = 0; i < x->num_stages; i++)
        if (strcmp(x->stages[i], like->stages[i]) != 0) return false;
    return true;
}

static const fused *known(const fused *like) {
    for (const fused *x = first_fused; x; x = x->next)
        if (x->base == like->base && has_stages(x, like)) return x;
    return NULL;
}

static const fused *keep(const fused *like) {
    fused *x = malloc(sizeof *x);
    if (!x) AT_BUG("no memory for a template");
    *x = *like;
    x->row = *like->base;
    x->row.name = with_stages(like->base->name, like);
    if (like->base->record_name) x->row.record_name = with_stages(like->base->record_name, like);
    x->row.define = define;
    x->next = first_fused;
    num_fused++;
    return first_fused = x;
}

/* The stages from that number on are of no row. */
static void drop_stages(const fused *f, int from) {
    for (int i = from; i < f->num_stages; i++)
        if (*f->stages[i] == '(') free((char *)f->stages[i]);
}

/* The row of just these texts, as it was found before. */
static const fused *found_before(const at_template_row *row, const char *stages) {
    const fused *x = first_fused;
    while (x && (x->base != row || strcmp(x->row.name + strlen(row->name) + 1, stages) != 0))
        x = x->next;
    return x;
}

static at_status find_fused(const at_template_row *row, const char *stages, const char *between,
                            const fused **out, at_error *err) {
    const fused *already = fused_of(row);
    fused f = already ? *already : (fused){.base = row};
    const int from = f.num_stages;
    *out = found_before(row, stages);
    if (*out) return AT_OK;
    at_status s = read_stages(stages, between, &f, err);
    if (s == AT_OK) *out = known(&f);
    if (s == AT_OK && !*out && num_fused < MOST_FUSED) return *out = keep(&f), AT_OK;
    drop_stages(&f, from);
    if (s != AT_OK || *out) return s;
    return at_fail(err, AT_E_USAGE, "--fuse %s: more than %d kinds in one run", stages, MOST_FUSED);
}

at_status at_template_fuse(const at_template_row *row, const char *stages, const char *between,
                           const at_template_row **out, at_error *err) {
    const fused *found;
    pthread_mutex_lock(&lock);
    at_status s = find_fused(row, stages, between, &found, err);
    pthread_mutex_unlock(&lock);
    if (s == AT_OK) *out = &found->row;
    return s;
}
