/* engine/task/workload_file.c: layers of the user's own, a line each (docs/workloads.md):
 *     3 conv2d_nhwc N=1,CI=256,H=14,W=14,CO=256
 *     1 sparse_dense M=1,N=1000,K=2048 sparsity=0.8 block=16x1
 *     2 conv2d+bias+relu N=1,CI=64,H=56,W=56,CO=64 */
#include "engine/task/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/task/operator.h"
#include "engine/task/user_template.h"

enum { MOST_LAYERS = 1000, MOST_BYTES = 1 << 20 };
static const int64_t most_count = 1000000;
static const char blanks[] = " \t\r";

/* A line under way. */
typedef struct reading {
    at_arena *arena;
    const at_engine_options *options;
    const at_request *request;
    const char *path;
    int line;
    at_layers *out;
    at_key_map seen; /* layers, by the place of their first line in out */
    at_text key, names;
    const at_template_row *row; /* wanted, of a template or of an operator; NULL: any */
    bool wants_operator;
    at_error *err;
} reading;

bool at_is_layer_file(const char *path) {
    char text[4096];
    struct stat st;
    const char *dot = strrchr(path, '.');
    if (dot && !strcmp(dot, ".workload")) return true;
    if (stat(path, &st) || !S_ISREG(st.st_mode)) return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        p += strspn(p, blanks);
        if (*p >= '0' && *p <= '9') return true;
        if (*p && *p != '#' && *p != '\n') return false;
    }
    return false;
}

static at_status fail_line(reading *r, const char *fmt, const char *x, const char *y) {
    const char *text = at_format(r->arena, fmt, x, y);
    return at_fail(r->err, AT_E_INPUT, "%s:%d: %s", r->path, r->line, text);
}

/* The word at *p, which moves behind it; "" at the end of the line. */
static const char *take_word(reading *r, const char **p) {
    *p += strspn(*p, blanks);
    size_t n = strcspn(*p, blanks);
    const char *word = at_strndup(r->arena, *p, n);
    *p += n;
    return word;
}

/* A record's array may have blanks in it, and ends with its bracket. */
static const char *take_args(reading *r, const char **p) {
    *p += strspn(*p, blanks);
    if (**p != '[') {
        size_t n = strcspn(*p, blanks);
        return memchr(*p, '=', n) && strncmp(*p, "sparsity=", 9) && strncmp(*p, "block=", 6)
                   ? take_word(r, p)
                   : NULL;
    }
    const char *last = strrchr(*p, ']'), *end = last ? last + 1 : *p + strlen(*p);
    const char *args = at_strndup(r->arena, *p, (size_t)(end - *p));
    *p = end;
    return args;
}

static at_status take_count(reading *r, const char *word, int64_t *count) {
    char *end;
    errno = 0;
    long long n = strtoll(word, &end, 10);
    if (end != word && !*end && !errno && n >= 1 && n <= most_count) {
        *count = n;
        return AT_OK;
    }
    return fail_line(r,
                     "count %s: must be a whole number from 1 to 1000000; a line is a count, a "
                     "template and its arguments: %s",
                     word, "3 dense M=1,N=64,K=64");
}

/* A template's name means the template, unless all ways are asked for. */
static at_status take_name(reading *r, const char *word, at_request *q) {
    if (!*word)
        return fail_line(r, "a template is missing; write for example 3 dense M=1,N=64,K=64%s%s",
                         "", "");
    /* A file may come from anybody: what it names is not compiled. */
    if (at_is_template_file(word))
        return fail_line(r,
                         "%s: a file of layers names templates, not their files; give that one on "
                         "the command line: autotune tune %s --workload FILE",
                         word, at_shell_word(r->arena, word));
    q->row = NULL;
    q->fuse = NULL;
    q->template_name = word;
    if (!q->all_ways) (void)at_template_find(word, &q->row, NULL);
    return AT_OK;
}

static at_status take_rest(reading *r, const char *p, at_request *q) {
    for (const char *word; *(word = take_word(r, &p));) {
        if (!strncmp(word, "sparsity=", 9) && word[9]) q->sparsity = word + 9;
        else if (!strncmp(word, "block=", 6) && word[6]) q->block = word + 6;
        else
            return fail_line(r,
                             "\"%s\": after the arguments (N=1,H=56, parted by commas) only "
                             "sparsity=S and block=RxC are accepted%s",
                             word, "");
    }
    return AT_OK;
}

/* A layer that stands there again is counted, not tuned again. */
static at_status add(reading *r, at_problem *p, const at_selection *s) {
    at_text_clear(&r->key);
    at_workload_identity(&r->key, &(at_record){.task = p->name, .args = at_task_args(s->task)});
    at_text_addf(&r->key, " %s", s->pattern ? s->pattern->hash : "");
    int known = r->seen.keys.len, at = at_key_map_add(&r->seen, at_text_str(&r->key));
    if (at < known) {
        r->out->data[at].count += p->count;
        return AT_OK;
    }
    if (r->out->len == MOST_LAYERS)
        return at_fail(r->err, AT_E_INPUT, "%s:%d: more than %d layers", r->path, r->line,
                       MOST_LAYERS);
    p->from = at_format(r->arena, "%s:%d", r->path, r->line);
    *at_push(r->arena, r->out) = *p;
    return AT_OK;
}

/* Whether the line is of what is wanted; the names of others are kept. */
static bool is_wanted(reading *r, const at_request *q, const at_template_row *row) {
    bool is_operator = at_operator_find(q) != NULL;
    const char *name = is_operator ? q->template_name : row->name;
    if (!r->row || (r->row == row && r->wants_operator == is_operator)) return true;
    if (!strstr(at_text_str(&r->names), name))
        at_text_addf(&r->names, "%s%s", r->names.len ? ", " : "", name);
    return false;
}

static at_status read_layer(reading *r, const at_request *q, at_problem *p, at_selection *first,
                            at_error *err) {
    AT_TRY(at_problem_make(r->arena, r->options, q, p, err));
    return at_select_task(r->arena, &p->ways[0], first, err);
}

static at_status read_line(reading *r, const char *text) {
    at_request q = *r->request;
    at_error why;
    at_selection first = {0};
    at_problem p;
    const at_template_row *row;
    int64_t count = 0;
    const char *word = take_word(r, &text);
    if (!*word || *word == '#') return AT_OK;
    AT_TRY(take_count(r, word, &count));
    AT_TRY(take_name(r, take_word(r, &text), &q));
    q.args = take_args(r, &text);
    AT_TRY(take_rest(r, text, &q));
    if (at_problem_row(r->arena, &q, &row, &why) != AT_OK)
        return fail_line(r, "%s%s", why.text, "");
    if (!is_wanted(r, &q, row)) return AT_OK;
    if (read_layer(r, &q, &p, &first, &why) != AT_OK)
        return fail_line(r, "%s%s", why.text + (strncmp(why.text, "--args: ", 8) ? 0 : 8), "");
    p.count = count;
    return add(r, &p, &first);
}

static at_status read_lines(reading *r, char *text, size_t len) {
    for (char *p = text, *end; p < text + len; p = end + 1) {
        end = p + strcspn(p, "\n");
        r->line++;
        const char *c = p;
        while (c < end && ((unsigned char)*c >= ' ' || strchr(blanks, *c))) c++;
        if (c < end || (!*end && end < text + len))
            return at_fail(r->err, AT_E_INPUT,
                           "%s:%d: byte 0x%02x: no text; a file of layers has lines like 3 dense "
                           "M=1,N=64,K=64",
                           r->path, r->line, (unsigned char)*c);
        *end = 0;
        AT_TRY(read_line(r, p));
    }
    return AT_OK;
}

at_status at_layer_file_read(at_arena *a, const at_engine_options *o, const at_request *q,
                             const char *path, at_layers *out, at_error *err) {
    reading r = {.arena = a,
                 .options = o,
                 .request = q,
                 .path = path,
                 .out = out,
                 .seen.arena = a,
                 .wants_operator = at_operator_find(q) != NULL,
                 .err = err};
    char *text;
    size_t len;
    if (q->row || q->template_name) AT_TRY(at_problem_row(a, q, &r.row, err));
    AT_TRY(at_read_file(a, path, MOST_BYTES, &text, &len, err));
    at_status s = read_lines(&r, text, len);
    if (s == AT_OK && !out->len && r.names.len)
        s = at_fail(err, AT_E_INPUT, "%s: holds no layer of %s; there are layers of %s", r.path,
                    r.wants_operator ? q->template_name : r.row->name, at_text_str(&r.names));
    else if (s == AT_OK && !out->len)
        s = at_fail(err, AT_E_INPUT, "%s: holds no layer; a line is 3 dense M=1,N=64,K=64", r.path);
    at_text_free(&r.key);
    at_text_free(&r.names);
    return s;
}
