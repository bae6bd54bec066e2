/* base/base.h: what every other folder stands on and nothing of tuning: status and error, arena,
 * growable vector, text buffer, PCG32, hash, clock, files, JSON, and the integer/float expressions
 * that sizes, filters and computations are written in.
 *
 * Ownership words used in all headers: *takes* (the callee frees it), *borrows* (only until the
 * call returns, unless said otherwise), *returns owned* (the caller frees it). What an arena
 * allocates lives until that arena is reset or freed. Out of memory aborts with a message. */
#ifndef AT_BASE_H
#define AT_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- status and error (error.c) ------------------------------------------------------------ */

typedef enum at_status {
#define AT_STATUS(code, exit_code, text) code,
#include "base/status.def"
#undef AT_STATUS
    AT_STATUS_COUNT
} at_status;

int at_exit_code(at_status s);           /* documented exit code of the program */
const char *at_status_text(at_status s); /* one line */

/* The user's mistake, or the world's: one line naming place, value and what would be accepted. */
typedef struct at_error {
    at_status status;
    char text[1024];
} at_error;

/* Fills err (may be NULL) and returns s, so that callers write: return at_fail(err, ...). Names may
 * be of any bytes: the text is made visible (visible.c). */
at_status at_fail(at_error *err, at_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, for what quotes several lines: a source with a caret, a compiler. */
at_status at_fail_lines(at_error *err, at_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts "prefix" before the text already in err, for adding the place; returns err->status. err is
 * not NULL. */
at_status at_fail_at(at_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Our own bug: prints file, line and text on stderr and aborts. */
#define AT_BUG(...) at_bug(__FILE__, __LINE__, __VA_ARGS__)
#define AT_ASSERT(c) ((c) ? (void)0 : AT_BUG("assertion failed: %s", #c))
_Noreturn void at_bug(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Memory has run out in the middle of something: says so on stderr and ends the program, exit code
 * 1. Logs hold whole lines at any time. */
_Noreturn void at_out_of_memory(size_t size_bytes);      /* 0: unknown how much was asked for */
#define AT_NEED(p) ((p) ? (void)0 : at_out_of_memory(0)) /* what malloc has returned */

#define AT_TRY(call)                                                                               \
    do {                                                                                           \
        at_status at_try_s = (call);                                                               \
        if (at_try_s != AT_OK) return at_try_s;                                                    \
    } while (0)

/* ---- arena (arena.c) ----------------------------------------------------------------------- */

typedef struct at_arena at_arena;
at_arena *at_arena_new(void);     /* returns owned */
void at_arena_free(at_arena *a);  /* NULL is fine */
void at_arena_reset(at_arena *a); /* frees what was allocated, keeps the memory for reuse */
size_t at_arena_used(const at_arena *a);
/* A moment, and back to it: what was allocated since is freed. */
typedef struct at_mark {
    const void *chunk;
    size_t fill, older_used;
} at_mark;
at_mark at_arena_mark(const at_arena *a);
void at_arena_rewind(at_arena *a, at_mark m);
void *at_alloc(at_arena *a, size_t size_bytes); /* zeroed, 16-byte aligned, never NULL */
void *at_copy(at_arena *a, const void *p, size_t size_bytes);
char *at_strdup(at_arena *a, const char *s);
char *at_strndup(at_arena *a, const char *s, size_t n);
char *at_format(at_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define AT_NEW(arena, type) ((type *)at_alloc((arena), sizeof(type)))
#define AT_NEW_ARRAY(arena, type, n) ((type *)at_alloc((arena), sizeof(type) * (size_t)(n)))

/* ---- growable vector ------------------------------------------------------------------------
 * AT_VEC(int) v = {0}; *at_push(arena, &v) = 7;  v.data[i], v.len. Old storage stays in the arena
 * until its reset, so element pointers taken before a push stay readable but may go stale. */
#define AT_VEC(type)                                                                               \
    struct {                                                                                       \
        type *data;                                                                                \
        int len, cap;                                                                              \
    }
#define at_push(arena, v)                                                                          \
    ((v)->len == (v)->cap ? (void)((v)->data = at_vec_grow((arena), (v)->data, (v)->len,           \
                                                           &(v)->cap, sizeof *(v)->data))          \
                          : (void)0,                                                               \
     &(v)->data[(v)->len++])
void *at_vec_grow(at_arena *a, void *data, int len, int *cap, size_t item_bytes);

/* ---- text buffer (text.c) -------------------------------------------------------------------- */

/* Start with {0}. data is always NUL-terminated once anything was added (NULL before that). */
typedef struct at_text {
    char *data;
    size_t len, cap;
} at_text;
void at_text_free(at_text *t);
void at_text_clear(at_text *t); /* keeps the memory */
void at_text_add(at_text *t, const char *s);
void at_text_addn(at_text *t, const char *s, size_t n);
void at_text_addf(at_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void at_text_add_int(at_text *t, int64_t x); /* as "%lld", in a fifth of its time */
void at_text_add_blanks(at_text *t, int n);
const char *at_text_str(const at_text *t);   /* "" when empty */
char *at_text_take(at_arena *a, at_text *t); /* a copy in a; t is freed */
/* The ending of a noun behind a number: "" of 1, else "s". */
static inline const char *at_plural(int64_t n) { return n == 1 ? "" : "s"; }
/* x > 0 with so many decimal digits, at most 15, where they are exact; else x. */
double at_with_digits(double x, int digits);
/* Python's shortest round-trip spelling: 0.4, 1e-05, 1000000000.0, nan, inf. */
void at_text_add_double(at_text *t, double x);
/* JSON string with quotes, escaped, non-ASCII as \uXXXX (as Python's json does). */
void at_text_add_json_string(at_text *t, const char *utf8);
/* 'quoted', as Python's repr does. */
void at_text_add_python_string(at_text *t, const char *s);
/* The first n bytes of word as a shell reads them back, in '' where it would not else. */
void at_text_add_shell(at_text *t, const char *word, size_t n);
void at_text_add_word(at_text *t, const char *word); /* all of it, behind a blank */
/* Text of others in C (c_text.c). A name is reserved where no variable can have it: words of C and
 * C++, macros of headers, and what emitted files keep for themselves (at_, omp_, a leading _). */
#define AT_C_NAME_MAX 120
bool at_c_is_reserved(const char *name);
/* Why it cannot name a function of C and C++; NULL: it can. */
const char *at_c_name_fault(const char *name);
/* Makes a name for a function of any text: what C does not allow becomes '_', never two in a row; a
 * long one is cut, with a hash of all of it behind. The same text gives the same name. */
char *at_c_name(at_arena *a, const char *text);
/* Text inside a comment of C: lines stay lines; what would end the comment, join lines, turn the
 * direction of writing or not be seen is taken apart or spelled <1b>, <U+202E>. */
void at_text_add_c_comment(at_text *t, const char *text);
/* "text" as a constant of C, whatever its bytes. */
void at_text_add_c_string(at_text *t, const char *text);
/* The nearest of n names to s (edit distance, at most 2 or a third of its length), or NULL. */
const char *at_nearest(const char *s, const char *const *names, int n);
/* Appends "a, b, c", and "; did you mean b?" where one of them is near to s. */
void at_text_add_names(at_text *out, const char *s, const char *const *names, int n);

/* ---- text for people (visible.c, visible_text.c)
 * --------------------------------------------------------------
 */

/* The character at *s, which is stepped over; -1: no UTF-8, one byte is stepped over. *s < end. */
int32_t at_utf8_next(const char **s, const char *end);
size_t at_utf8_end(const char *text, size_t len); /* where it stops being UTF-8; len: never */
/* What a terminal, a page or a reader of C would obey or not see: controls, order of writing,
 * joiners, tags. */
bool at_is_unseen(int32_t c);
/* Text of a file as one line that can be shown: what is unseen becomes \n, \x1b, \u202e, and a byte
 * that is no UTF-8 \xff. A backslash stays alone: this is to be looked at, not to be read back.
 * What has been made visible stays as it is when that is done again. */
void at_text_add_visible(at_text *out, const char *text);
const char *at_visible(at_arena *a, const char *text); /* one line */
/* Into size bytes, cut between characters where it is longer; the length. */
size_t at_visible_into(char *out, size_t size, const char *text, bool lines);
/* Character by character; the length of what is written to out, without NUL. */
enum { AT_VISIBLE_BYTES = 16 };
int at_visible_next(const char **s, const char *end, bool lines, char out[AT_VISIBLE_BYTES]);

/* ---- PCG32, XSH-RR 64/32 (rng.c). Source: M. E. O'Neill, pcg-random.org, seed 42 stream 54 --- */

typedef struct at_rng {
    uint64_t state, inc;
} at_rng;
void at_rng_seed(at_rng *r, uint64_t seed, uint64_t stream);
uint32_t at_rng_u32(at_rng *r);
uint64_t at_rng_below(at_rng *r, uint64_t n); /* uniform in [0, n), unbiased; n >= 1 */
double at_rng_unit(at_rng *r);                /* uniform in [0, 1) */

/* ---- statistics (median.c) ------------------------------------------------------------------- */

void at_sort_doubles(double *x, int n);         /* ascending; no NaN */
double *at_sorted_copy(const double *x, int n); /* the caller frees it */
/* Of ascending values, n >= 1: the middle one, or half way between the two in the middle; and the
 * one at a share of the way, linear in between. */
double at_sorted_median(const double *sorted, int n);
double at_sorted_quantile(const double *sorted, int n, double share);
/* The mean of the middle half of ascending values; of fewer than eight the median. Where they are
 * spread normally it varies by an eighth less than the median does, and no quarter of them that
 * lies far away moves it far. */
double at_sorted_middle(const double *sorted, int n);
/* low to high: the interval of at least 95 % confidence that order statistics give, whatever the
 * distribution; of fewer than six values the smallest and the largest. */
typedef struct at_interval {
    double median, low, high;
} at_interval;
at_interval at_median(const double *values, int n); /* n from 1 to 64 */

/* ---- states of a machine --------------------------------------------------------------------- */

/* What the core shared while a kernel ran: nothing; something; one at the beginning and the other
 * at the end; or it has never been seen alone. */
typedef enum at_state {
    AT_STATE_UNKNOWN,
    AT_STATE_ALONE,
    AT_STATE_COMPANY,
    AT_STATE_MIXED,
    AT_STATE_COUNT
} at_state;
/* Does what was seen in state s count where `wanted` is? ALONE, COMPANY: that state only; else all
 * but MIXED. */
static inline bool at_state_counts(at_state wanted, at_state s) {
    bool one = wanted == AT_STATE_ALONE || wanted == AT_STATE_COMPANY;
    return one ? s == wanted : s != AT_STATE_MIXED;
}

/* ---- decisions that may be looked at at any time (betting.c) ----------------------------------
 *
 * How sure is it that the median of what comes is not 0, where each value may depend on those
 * before: natural logarithms. A fair game passes log(1 / level) ever with a probability of at most
 * level. */
double at_sign_bet(int64_t above, int64_t below,
                   double prior);                      /* bets weighted by beta(prior, prior) */
double at_sign_evidence(int64_t above, int64_t below); /* the mean of two such */
/* Holds the median with a probability of at least 1 - level at all times together, whatever the
 * distribution; without ends where the values are too few to tell. */
at_interval at_median_always(const double *values, int n, double level);
/* Kernels that differ by less are called equal: two copies of one do, by where their code lies. */
#define AT_TIE 0.003

/* ---- hash (hash.c): 128 bits, not cryptographic; for identity of code and contexts ----------- */

typedef struct at_hash {
    uint64_t lo, hi;
} at_hash;
void at_hash_init(at_hash *h);
void at_hash_add(at_hash *h, const void *p, size_t n);
void at_hash_add_str(at_hash *h, const char *s); /* with its length, so parts cannot run together */
void at_hash_add_number(at_hash *h, uint64_t x); /* ten times as fast as its eight bytes */
void at_hash_hex(const at_hash *h, char out[33]);

/* ---- clock, signals and files (os.c)
 * ---------------------------------------------------------------------- */

int64_t at_now_ns(void);                /* CLOCK_MONOTONIC */
double at_wall_time_s(void);            /* seconds since the epoch */
const char *at_signal_name(int signal); /* "SIGSEGV"; "signal 40" if unnamed */
/* Opens for reading without waiting for anybody: a pipe must have a writer, or get one within two
 * seconds. AT_E_INPUT names path and reason; a directory is none to read. */
at_status at_open_input(const char *path, int *fd, at_error *err);
/* As at_open_input of a file alone: a device may never end. */
at_status at_open_file(const char *path, int *fd, at_error *err);
/* Whole file of at most so many bytes, NUL-terminated, owned by arena. AT_E_INPUT names path and
 * reason. */
at_status at_read_file(at_arena *a, const char *path, size_t most_bytes, char **text, size_t *len,
                       at_error *err);
at_status at_read_stdin(at_arena *a, size_t most_bytes, char **text, size_t *len, at_error *err);

/* The user's folder for what can be made again, as the XDG base directory specification has it;
 * NULL: there is none. */
const char *at_cache_folder(at_arena *a);
/* Makes the folders that path lies in, for this user alone; path is changed meanwhile. */
at_status at_make_folder(char *path, at_error *err);

/* ---- output files (output.c) ----------------------------------------------------------------- */

/* Whether a file of another kind is replaced, too. */
typedef enum at_force {
    AT_FORCE_NO,
    AT_FORCE_YES,
    AT_FORCE_OFFERED, /* no, but --force would: the refusal says so */
} at_force;
/* What may be replaced. */
typedef struct at_output_rules {
    const char *kind; /* "log": what the verb writes, in words */
    bool (*is_kind)(const char *head,
                    size_t len); /* of the first 64 KiB, NUL behind; NULL: all are */
    at_force force;
    bool is_derived; /* a name that the user did not give: no symbolic link is followed */
    bool is_locked;  /* by the caller, who holds at_open_locked of it */
} at_output_rules;
typedef struct at_output at_output;
/* A file that appears whole or not at all: what is added goes to a file beside path, and the old
 * one stays as it was until the commit. It keeps its mode. A symbolic link is followed: the file
 * behind it is replaced. Devices, pipes and /dev/stdout are written in place, at the commit.
 * rules (may be NULL: any file may be replaced) is borrowed. AT_E_USAGE: an existing file is of
 * another kind; AT_E_LOCKED: a run is writing it; AT_E_OUTPUT. */
at_status at_output_open(const char *path, const at_output_rules *rules, at_output **out,
                         at_error *err);
at_status at_output_add(at_output *f, const void *data, size_t len, at_error *err);
/* All of them are on the disk before the first appears under its name. */
at_status at_output_commit(at_output *const *files, int n, at_error *err);
void at_output_close(at_output *f); /* takes; drops what was not committed; NULL is fine */
/* All of this in one call. */
at_status at_write_output(const char *path, const at_output_rules *rules, const char *text,
                          size_t len, at_error *err);
at_status at_write_file(const char *path, const char *text, size_t len, at_error *err);
/* Whether they are one file: by name, by a hard link or by a symbolic one. */
bool at_same_file(const char *x, const char *y);

/* ---- locks (lock.c) -------------------------------------------------------------------------- */

/* Opens (flags as of open) and locks a file; closing gives the lock back. *fd = -1: it is not there
 * and flags do not make it. What is no regular file is opened and not locked. AT_E_LOCKED names the
 * owner; AT_E_OUTPUT. */
at_status at_open_locked(const char *path, int flags, int *fd, at_error *err);
/* Whether path still is the file of fd: it may have been deleted or replaced. */
bool at_is_still_there(int fd, const char *path);

/* Whether somebody asked for an end: a signal handler, or another thread. flag may be NULL. */
static inline bool at_is_set(const volatile int *flag) {
    return flag && __atomic_load_n(flag, __ATOMIC_RELAXED);
}

/* ---- foreign code (attempt.c) ---------------------------------------------------------------- */

typedef enum at_attempt_end {
    AT_ATTEMPT_DONE,
    AT_ATTEMPT_CRASHED,
    AT_ATTEMPT_EXITED, /* it ended the process */
    AT_ATTEMPT_TIMEOUT,
    AT_ATTEMPT_MEMORY,  /* it took more than 1 GiB */
    AT_ATTEMPT_STOPPED, /* *stop was set, or Ctrl-C reached the child */
    AT_ATTEMPT_REFUSED, /* it called what computing does not need; its number is the signal's */
    AT_ATTEMPT_NO_PROCESS
} at_attempt_end;
/* Runs f in a child process that dies with this one; what it does there leaves no trace but how it
 * ended. confined: it may do nothing but compute, where the system can hold it to that. An abort
 * (AT_BUG) counts as done: it comes again where it is seen. stop may be NULL. */
at_attempt_end at_attempt(void (*f)(void *ctx), void *ctx, bool confined, double timeout_s,
                          const volatile int *stop, int *signal_number);
/* AT_E_INPUT "crashed: SIGSEGV", "did not end within 10 s; ...", ...; AT_E_INTERRUPTED; AT_OK where
 * it is done. */
at_status at_attempt_fail(at_attempt_end end, int signal_number, double timeout_s, at_error *err);

/* What code that is confined may do beside computing (confine.c). */
typedef struct at_confinement {
    int talk_fd;     /* a socket that it sends and receives messages through; -1: none */
    uint64_t writes; /* descriptors that it may write to, as bits */
} at_confinement;
/* From now on the kernel refuses every system call of this process that computing does not need: a
 * refused one is a SIGSYS whose siginfo has its number. Files, sockets and processes are out of
 * reach; memory, time and threads of its own are not. There is no way back. All descriptors should
 * be read-only by then but for those named. false: this system has no such filter; why tells. */
bool at_confine(const at_confinement *c, char *why, size_t why_bytes);
/* From now on this process, and what it starts, writes, makes and removes files only below these
 * folders (limit_writes.c); what is open stays open. false: this system cannot. */
bool at_limit_writes(const char *const *folders, int n);
/* The name of a system call, "openat". Returns text. */
const char *at_call_name(int number, char *text, size_t text_bytes);

#define AT_MAX_THREADS 1024 /* that a kernel may run on */

/* ---- JSON (json.c, the only user of cJSON)
 * --------------------------------------------------------- */

typedef enum at_json_kind {
    AT_JSON_NULL,
    AT_JSON_BOOL,
    AT_JSON_NUMBER,
    AT_JSON_STRING,
    AT_JSON_ARRAY,
    AT_JSON_OBJECT
} at_json_kind;
typedef struct at_json at_json;
struct at_json {
    at_json_kind kind;
    bool boolean;
    bool is_int;     /* the number was written without '.', 'e' and fits integer */
    int64_t integer; /* exact if is_int, else the nearest to number */
    double number;
    const char *string;          /* value of a string */
    const char *key;             /* name within an object, else NULL */
    const at_json *child, *next; /* first child; next sibling */
    int count;                   /* children */
};
/* Parses all of text[0..len); trailing garbage is an error. Owned by arena. Errors: AT_E_INPUT with
 * the position. Members may come in any order; of duplicates the first counts. */
/* At least as many as there are values in a text, without parsing it. */
size_t at_json_most_values(const char *text, size_t len);
at_status at_json_parse(at_arena *a, const char *text, size_t len, const at_json **out,
                        at_error *err);
const at_json *at_json_get(const at_json *object,
                           const char *key);            /* NULL if absent; case counts */
const at_json *at_json_at(const at_json *array, int i); /* NULL if absent */
/* As Python's json.dumps writes it: ", " and ": ", doubles in shortest form. */
void at_json_print(at_text *out, const at_json *v);
char *at_json_text(at_arena *a, const at_json *v); /* the same, owned by arena */
/* The same tree in another spelling. */
typedef struct at_json_spelling {
    void (*leaf)(at_text *out, const at_json *v); /* null, bool, number, string */
    void (*key)(at_text *out, const char *key);
    const char *open, *close; /* of an array */
    const char *close_one;    /* of an array of one */
} at_json_spelling;
void at_json_spell(at_text *out, const at_json *v, const at_json_spelling *s);
/* The value with all below it; it has no key. */
const at_json *at_json_copy(at_arena *a, const at_json *v);

/* ---- types of elements (type.def, type.c) ------------------------------------------------------
 */

typedef enum at_type {
#define AT_TYPE(id, name, bytes, is_int, least, most, c) AT_##id,
#include "base/type.def"
#undef AT_TYPE
    AT_TYPE_COUNT
} at_type;
typedef struct at_type_facts {
    const char *name;
    int bytes;
    bool is_int;
    double least, most;
    const char *c; /* its type in C */
} at_type_facts;
const at_type_facts *at_type_of(at_type t);
int at_type_find(const char *name, int length); /* -1: there is none */
/* The largest float32 that a type of integers holds. */
double at_type_most_float(at_type t);
double at_type_value(at_type t, const void *elements, int64_t i);
static inline int64_t at_type_bytes(at_type t) { return at_type_of(t)->bytes; }

/* ---- expressions (lex.c, expr.c, expr_text.c, expr_eval.c)
 * --------------------------------------------------------------------- One grammar, C's
 * precedence, for sizes ("K = 9*CI"), filters ("last <= 64") and computations
 * ("inside ? data[n, ih] : 0"). What a name means is its owner's business: after parsing, the owner
 * walks the tree and fills `ref`. Python's chained comparison a <= b < c is accepted and means
 * a <= b && b < c; a < b == c, which Python and C read differently, is refused. */

typedef enum at_token {
    AT_TOK_END,
    AT_TOK_NAME,
    AT_TOK_INT,
    AT_TOK_FLOAT,
    AT_TOK_STRING, /* "..." without escapes; start and length take in the quotes */
    AT_TOK_OP      /* longest of: => == != <= >= && || .. // and single characters */
} at_token;
/* Tokens of a text with line and column. Newlines are not tokens; a reader that cares (the loop
 * tree) looks at line and col: col of the first token of a line is its indentation + 1. */
typedef struct at_lex {
    const char *text, *pos; /* pos: just behind the current token */
    const char *what;       /* names the text in errors, e.g. "schedule of conv2d_3x3_gemm" */
    const char *start;      /* the current token */
    int length;
    at_token kind;
    int line, col; /* of the current token, from 1 */
    int64_t integer;
    double number;
    bool takes_texts; /* "..." is a value in an expression; set by the reader */
} at_lex;
at_status at_lex_start(at_lex *l, const char *text, const char *what,
                       at_error *err); /* first token */
at_status at_lex_next(at_lex *l, at_error *err);
bool at_lex_is(const at_lex *l, const char *op_or_name);
/* Steps over it; AT_E_INPUT "... expected '=>', got 'tok'". */
at_status at_lex_expect(at_lex *l, const char *op_or_name, at_error *err);
/* AT_E_INPUT "what:line:col: <text>, got 'tok'" and the source line with a caret below it. */
at_status at_lex_fail(const at_lex *l, at_error *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
at_status at_lex_fail_at(const at_lex *l, int line, int col, at_error *err, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

typedef enum at_op {
    AT_X_INT,    /* integer */
    AT_X_FLOAT,  /* number */
    AT_X_NAME,   /* name */
    AT_X_INDEX,  /* name[arg, ...] */
    AT_X_EXTENT, /* |name|: extent of a loop piece */
    AT_X_FIELD,  /* name.field[arg] (joint filters: tile_x.size[-1]); field in `field` */
    AT_X_NEG,
    AT_X_NOT,
    AT_X_ADD,
    AT_X_SUB,
    AT_X_MUL,
    AT_X_DIV, /* of integers: floor */
    AT_X_MOD, /* of integers: sign of the divisor, as Python's */
    AT_X_LT,
    AT_X_LE,
    AT_X_GT,
    AT_X_GE,
    AT_X_EQ,
    AT_X_NE,
    AT_X_AND,
    AT_X_OR,
    AT_X_SELECT, /* arg[0] ? arg[1] : arg[2] */
    AT_X_MIN,    /* min(a, b) */
    AT_X_MAX,
    AT_X_CALL, /* integer: at_function of arg[0] */
    AT_X_TEXT  /* name: the text; where the lexer's reader takes texts */
} at_op;
typedef struct at_expr at_expr;
struct at_expr {
    at_op op;
    int ref; /* filled by the owner; -1 after parsing */
    int line, col;
    int64_t integer;
    double number;
    const char *name, *field;
    int nargs;
    at_expr **arg;
};
/* Parses one expression from the current token on; leaves the lexer at the first token behind it.
 */
at_status at_expr_parse(at_arena *a, at_lex *l, at_expr **out, at_error *err);
/* Parses all of text. */
at_status at_expr_parse_text(at_arena *a, const char *text, const char *what, at_expr **out,
                             at_error *err);
void at_expr_print(at_text *out, const at_expr *e); /* minimal parentheses; parses back equal */
at_expr *at_expr_new(at_arena *a, at_op op, int nargs, at_expr *const *args);
at_expr *at_expr_int(at_arena *a, int64_t value);
bool at_expr_equal(const at_expr *x, const at_expr *y);
bool at_expr_mentions(const at_expr *e, const char *name);
bool at_expr_uses(const at_expr *e, int ref); /* has it a name with that ref? */
bool at_expr_reads(const at_expr *e);         /* does it read any tensor? */
/* Value over integers. Names have been given refs into values[]; INDEX, FIELD and FLOAT nodes are
 * refused unless ref >= 0, in which case they too read values[ref]. AT_E_INPUT on division by zero
 * or when a product or sum leaves 64 bits ("N*H*W exceeds 2^63"). Booleans are 0 and 1. */
at_status at_expr_eval(const at_expr *e, const int64_t *values, int64_t *out, at_error *err);
/* Of a binary operator: floor division, logical AND and OR. False: it has no value, since it
 * divides by zero, leaves 64 bits or is no operator over integers. */
bool at_expr_binary(at_op op, int64_t x, int64_t y, int64_t *out);

/* Functions of a value that expressions may call (function.def). */
typedef enum at_function {
#define AT_FUNCTION(id, name, value, ulps) AT_FUNCTION_##id,
#include "base/function.def"
#undef AT_FUNCTION
    AT_FUNCTION_COUNT
} at_function;
const char *at_function_name(at_function f);
int at_function_find(const char *name);            /* -1: there is none */
double at_function_value(at_function f, double x); /* by the C library */
/* Does it give whole numbers: floor, ceil, round? */
static inline bool at_function_rounds(at_function f) {
    return f == AT_FUNCTION_FLOOR || f == AT_FUNCTION_CEIL || f == AT_FUNCTION_ROUND;
}
int at_function_ulps(at_function f); /* from the correctly rounded value, at most; 0: exact */
/* A float's, of a power of two: a product with it is exactly the quotient. 0: it is none. */
double at_exact_reciprocal(double number);

/* a*b in *out; false when it exceeds 64 bits. */
static inline bool at_mul64(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
int64_t at_floordiv(int64_t a, int64_t b);
int64_t at_floormod(int64_t a, int64_t b);
int64_t at_gcd(int64_t a, int64_t b); /* neither -2^63; not below 0 */

#endif
