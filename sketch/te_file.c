/* sketch/te_file.c: a computation alone, as a file: arguments, sizes and the text.
 *
 *   # matmul_add.te
 *   args N=1024, L=1024, M=1024
 *   sizes ...
 *   A[N, L] : input
 *   ...
 *   schedule
 *   i0:para, j0 =>
 *       ...
 *
 * A schedule, which may leave anything open, goes to the end of the file. Each part is read with
 * everything else blanked out, so that errors show the file's own lines.
 *
 *   include "parts/gelu.te"
 *
 * is a line that stands for a file: everything behind at_te_include, a log's text too, sees the
 * whole and no file. */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sketch/sketch.h"

enum { MOST_ARGS = 64, MOST_SIZES = 256 };

typedef struct te_reader {
    at_arena *arena;
    const char *path, *text;
    char *parts[4]; /* the text with only args, sizes, the computation, the schedule */
    bool has_schedule;
    at_symbols *symbols;
    at_text args, names;
    AT_VEC(at_definition) sizes; /* "X = N*L" */
    at_error *err;
} te_reader;

enum { ARGS, SIZES, COMPUTE, SCHEDULE, PARTS };

/* ---- lines ----------------------------------------------------------------------------------- */

static bool begins_with(const char *line, const char *end, const char *word) {
    size_t n = strlen(word);
    while (line < end && (*line == ' ' || *line == '\t')) line++;
    return (size_t)(end - line) > n && !memcmp(line, word, n) && isblank((unsigned char)line[n]);
}

/* Where the comment of a line begins, or the line ends. */
static const char *code_end_of(const char *line, const char *end) {
    const char *comment = memchr(line, '#', (size_t)(end - line));
    return comment ? comment : end;
}

/* Does the schedule begin behind this line, without its comment? */
static bool is_schedule(const char *line, const char *end) {
    static const char word[] = "schedule";
    while (end > line && isspace((unsigned char)end[-1])) end--;
    return (size_t)(end - line) == sizeof word - 1 && !memcmp(line, word, sizeof word - 1);
}

/* A line that goes on after a comma belongs to the one before. */
static bool goes_on(const char *line, const char *end) {
    while (end > line && isspace((unsigned char)end[-1])) end--;
    return end > line && end[-1] == ',';
}

/* Of what was included: each part needs to know where its lines stand. */
static bool tells_place(const char *line, const char *end) {
    return end - line > 6 && !memcmp(line, "#line ", 6) && isdigit((unsigned char)line[6]);
}

static void share_lines(te_reader *r, const char *text, size_t length) {
    static const char *const words[] = {"args", "sizes"};
    int part = COMPUTE;
    bool more = false;
    for (int i = 0; i < PARTS; i++) {
        r->parts[i] = at_alloc(r->arena, length + 1);
        for (size_t k = 0; k < length; k++) r->parts[i][k] = text[k] == '\n' ? '\n' : ' ';
        r->parts[i][length] = 0;
    }
    for (const char *line = text, *stop = text + length; line < stop;) {
        const char *end = memchr(line, '\n', (size_t)(stop - line));
        if (!end) end = stop;
        const char *code_end = code_end_of(line, end), *from = line;
        if (tells_place(line, end)) {
            for (int i = 0; i < PARTS; i++)
                memcpy(r->parts[i] + (line - text), line, (size_t)(end - line));
            line = end + 1;
            continue;
        }
        if (!more) part = r->has_schedule ? SCHEDULE : COMPUTE;
        if (part == COMPUTE && is_schedule(line, code_end)) {
            r->has_schedule = true;
            from = code_end;
        }
        for (int i = 0; i < 2 && part == COMPUTE && !more; i++) {
            if (!begins_with(line, code_end, words[i])) continue;
            part = i;
            while (*from == ' ' || *from == '\t') from++;
            from += strlen(words[i]);
        }
        memcpy(r->parts[part] + (from - text), from, (size_t)(code_end - from));
        if (part < COMPUTE && code_end > from) more = goes_on(from, code_end);
        line = end + 1;
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

/* known: what an included text names again is what stands above. */
static at_status new_name(te_reader *r, at_lex *l, int most, const char **out, bool *known) {
    if (l->kind != AT_TOK_NAME) return at_lex_fail(l, r->err, "expected a name");
    char *name = at_strndup(r->arena, l->start, (size_t)l->length);
    *known = at_symbol_find(r->symbols, name) >= 0;
    if (*known && !at_lex_place_of(l, l->line).file)
        return at_lex_fail_at(l, l->line, l->col, r->err, "\"%s\" is declared twice", name);
    if (r->symbols->names.len >= most) return at_lex_fail(l, r->err, "more than %d names", most);
    at_symbol_add(r->arena, r->symbols, name); /* or finds it */
    *out = name;
    AT_TRY(at_lex_next(l, r->err));
    return at_lex_expect(l, "=", r->err);
}

/* Several lines of a kind need no comma between them. */
static at_status next_item(te_reader *r, at_lex *l, int line) {
    if (l->kind == AT_TOK_END) return AT_OK;
    if (at_lex_is(l, ",")) return at_lex_next(l, r->err);
    return l->line > line ? AT_OK : at_lex_fail(l, r->err, "expected ','");
}

static at_status read_args(te_reader *r) {
    at_lex l;
    AT_TRY(at_lex_start(&l, r->parts[ARGS], r->path, r->err));
    l.text = r->text; /* is what errors show */
    while (l.kind != AT_TOK_END) {
        const char *name;
        bool known;
        int line = l.line;
        AT_TRY(new_name(r, &l, MOST_ARGS, &name, &known));
        if (l.kind != AT_TOK_INT) return at_lex_fail(&l, r->err, "expected a whole number");
        at_lex value = l;
        int64_t least = 1;
        if (!known) {
            at_text_addf(&r->args, "%s%s=%lld", r->args.len ? ", " : "", name,
                         (long long)l.integer);
            at_text_addf(&r->names, "%s%s", r->names.len ? ", " : "", name);
        }
        AT_TRY(at_lex_next(&l, r->err));
        if (at_lex_is(&l, "from")) {
            AT_TRY(at_lex_next(&l, r->err));
            if (l.kind != AT_TOK_INT) return at_lex_fail(&l, r->err, "expected a whole number");
            least = l.integer;
            if (!known) at_text_addf(&r->args, " from %lld", (long long)least);
            AT_TRY(at_lex_next(&l, r->err));
        }
        if (value.integer < least || value.integer > AT_LARGEST_ARG)
            return at_lex_fail(&value, r->err, "expected a whole number from %lld to 2^53",
                               (long long)least);
        AT_TRY(next_item(r, &l, line));
    }
    return AT_OK;
}

static bool is_same_size(const te_reader *r, const char *written) {
    for (int i = 0; i < r->sizes.len; i++)
        if (!strcmp(r->sizes.data[i].text[0], written)) return true;
    return false;
}

static at_status read_sizes(te_reader *r) {
    at_lex l;
    AT_TRY(at_lex_start(&l, r->parts[SIZES], r->path, r->err));
    l.text = r->text; /* is what errors show */
    while (l.kind != AT_TOK_END) {
        const char *name;
        at_expr *e;
        bool known;
        const at_lex at = l;
        const int line = l.line;
        AT_TRY(new_name(r, &l, MOST_ARGS + MOST_SIZES, &name, &known));
        AT_TRY(at_expr_parse(r->arena, &l, &e, r->err));
        const char *written = at_format(r->arena, "%s = %s", name, at_expr_text(r->arena, e));
        if (known && !is_same_size(r, written))
            return at_lex_fail_at(&at, at.line, at.col, r->err, "\"%s\" is another above", name);
        const at_lex_place place = at_lex_place_of(&l, line);
        if (!known)
            *at_push(r->arena, &r->sizes) =
                (at_definition){.kind = AT_DEFINE_SIZES,
                                .text = {written},
                                .file = at_lex_path_of(r->arena, &l, &place),
                                .line = place.line};
        AT_TRY(next_item(r, &l, line));
    }
    return AT_OK;
}

/* ---- the row --------------------------------------------------------------------------------- */

static const char *name_of(at_arena *a, const char *path) {
    const char *name = at_base_name(path);
    size_t n = strlen(name);
    if (!strcmp(path, "-")) return "stdin";
    return at_strndup(a, name, at_ends_in(name, ".te") ? n - 3 : n);
}

static at_status read_parts(te_reader *r, at_schedulable *out) {
    at_compute *c;
    at_tree *tree = NULL;
    AT_TRY(read_args(r));
    AT_TRY(read_sizes(r));
    AT_TRY(at_compute_parse(r->arena, r->symbols, r->parts[COMPUTE], r->path, &c, r->err));
    if (r->has_schedule)
        AT_TRY(at_tree_parse_open(r->arena, c, r->parts[SCHEDULE], r->path, &tree, r->err));
    out->compute = c;
    out->tree = tree;
    out->tree_text = tree ? r->parts[SCHEDULE] : NULL;
    out->definitions = r->sizes.data;
    out->num_definitions = r->sizes.len;
    out->file = r->path;
    return AT_OK;
}

at_status at_te_parse(at_arena *a, const char *path, const char *text, size_t length,
                      const at_template_row **out, at_error *err) {
    te_reader r = {.arena = a,
                   .path = at_strdup(a, strcmp(path, "-") ? path : "stdin"),
                   .symbols = AT_NEW(a, at_symbols),
                   .err = err};
    at_schedulable row = {.file = NULL};
    static const char bom[] = "\xef\xbb\xbf"; /* some editors begin a text with it */
    if (length > 2 && !memcmp(text, bom, 3)) text += 3, length -= 3;
    for (size_t i = 0; i < length; i++)
        if (((unsigned char)text[i] < ' ' && !isspace((unsigned char)text[i])) || text[i] == 127)
            return at_fail(err, AT_E_INPUT, "%s: byte %zu is no text; a .te file is a computation",
                           r.path, i);
    r.text = at_strndup(a, text, length);
    share_lines(&r, text, length);
    at_status s = read_parts(&r, &row);
    if (s == AT_OK) {
        row.row = (at_template_row){.name = name_of(a, path),
                                    .help = at_format(a, "the computation of %s", r.path),
                                    .args = at_text_take(a, &r.args),
                                    .record_args = at_format(a, "[%s]", at_text_str(&r.names))};
        *out = &at_schedulable_untried(a, &row)->row;
    }
    at_text_free(&r.args);
    at_text_free(&r.names);
    return s;
}

/* ---- included files -------------------------------------------------------------------------- */

enum { DEEPEST = 8, MOST_FILES = 64 };

typedef struct includer {
    at_arena *arena;
    const char *path, *folder; /* of the outermost file */
    size_t most_bytes;
    at_text out;
    int files;
    at_error *err;
} includer;

/* A text that is read; of which file, from the outermost one's folder on; NULL: that is it. */
typedef struct level {
    const char *text, *file;
    int depth;
} level;

static const char *blanks(const char *p) {
    while (*p == ' ' || *p == '\t') p++;
    return p;
}

/* The name in the quotes; NULL: the line is another. */
static const char *name_at(at_arena *a, const char *line, const char *end, const char **rest) {
    static const char word[] = "include";
    const char *p = blanks(line);
    if (strncmp(p, word, sizeof word - 1)) return NULL;
    const char *open = blanks(p + sizeof word - 1);
    const char *close = *open == '"' ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    if (!close) return NULL;
    *rest = blanks(close + 1);
    return at_strndup(a, open + 1, (size_t)(close - open - 1));
}

static at_status fail_at(includer *x, const level *l, const char *line, const char *fmt,
                         const char *name) {
    int n = 1;
    for (const char *p = l->text; p < line; p++) n += *p == '\n';
    const char *path = l->file ? at_format(x->arena, "%s/%s", x->folder, l->file) : x->path;
    at_fail(x->err, AT_E_INPUT, fmt, name);
    return at_fail_at(x->err, "%s:%d: ", path, n);
}

static at_status read_below(includer *x, const level *l, const char *line, const char *file,
                            char **text) {
    const char *why;
    struct stat st;
    const int fd = at_open_below(x->folder, file, &why);
    if (fd < 0)
        return fail_at(x, l, line, "%s", at_format(x->arena, "cannot read \"%s\": %s", file, why));
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return fail_at(x, l, line, "\"%s\" is no file", file);
    }
    at_error refused;
    if (at_read_open(x->arena, fd, file, x->most_bytes, text, NULL, &refused) != AT_OK)
        return fail_at(x, l, line, "%s", refused.text);
    return AT_OK;
}

static at_status add(includer *x, const level *l);

static at_status include(includer *x, const level *l, const char *line, const char *name,
                         const char *rest) {
    char *text;
    if (!strcmp(x->path, "-"))
        return fail_at(x, l, line, "include \"%s\": standard input lies in no folder", name);
    if (*rest && *rest != '\n' && *rest != '\r' && *rest != '#')
        return fail_at(x, l, line, "include \"%s\": a new line is expected behind it", name);
    if (!at_leads_below(name))
        return fail_at(x, l, line,
                       "include \"%s\": a file in this one's folder or below is accepted, without "
                       "\"..\"",
                       name);
    if (l->depth == DEEPEST)
        return fail_at(x, l, line, "include \"%s\": files include each other more than 8 deep",
                       name);
    if (++x->files > MOST_FILES)
        return fail_at(x, l, line, "include \"%s\": more than 64 files", name);
    const char *slash = l->file ? strrchr(l->file, '/') : NULL;
    const char *file =
        slash ? at_format(x->arena, "%.*s/%s", (int)(slash - l->file), l->file, name) : name;
    AT_TRY(read_below(x, l, line, file, &text));
    const level next = {text, file, l->depth + 1};
    return add(x, &next);
}

/* Where what follows stands. */
static void tell(includer *x, const level *l, int line) {
    if (l->file) at_text_addf(&x->out, "#line %d \"%s\"\n", line, l->file);
    else at_text_addf(&x->out, "#line %d\n", line);
}

static at_status add(includer *x, const level *l) {
    static const char bom[] = "\xef\xbb\xbf"; /* some editors begin a text with it */
    const char *line = l->text + (strncmp(l->text, bom, 3) ? 0 : 3);
    bool in_tree = false;
    int number = 1;
    if (l->file) tell(x, l, 1);
    for (; *line; number++) {
        const char *end = line + strcspn(line, "\n"), *rest;
        const char *name = in_tree ? NULL : name_at(x->arena, line, end, &rest);
        in_tree |= is_schedule(line, code_end_of(line, end));
        if (in_tree && l->file)
            return fail_at(x, l, line, "\"%s\" has a schedule: only stages are included", l->file);
        if (name) {
            AT_TRY(include(x, l, line, name, rest));
            tell(x, l, number + 1);
        } else {
            at_text_addn(&x->out, line, (size_t)(end - line));
            at_text_add(&x->out, "\n");
        }
        if ((size_t)x->out.len > x->most_bytes)
            return fail_at(x, l, line, "%s", "with what is included the text is too long");
        line = end + (*end == '\n');
    }
    return AT_OK;
}

at_status at_te_include(at_arena *a, const char *path, char **text, size_t *length,
                        size_t most_bytes, at_error *err) {
    includer x = {.arena = a,
                  .path = path,
                  .folder = at_folder_of(a, path),
                  .most_bytes = most_bytes,
                  .err = err};
    const level l = {.text = *text};
    const at_status s = strlen(*text) == *length ? add(&x, &l) : AT_OK;
    if (s == AT_OK && x.files) {
        *text = at_text_take(a, &x.out);
        *length = strlen(*text);
    }
    at_text_free(&x.out);
    return s;
}
