/* base/expr.h: tokens, and the integer and float expressions that sizes, filters and
 * computations are written in. */
#ifndef AT_BASE_EXPR_H
#define AT_BASE_EXPR_H

#include "base/text.h"

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
    AT_TOK_OP      /* longest of: => == != <= >= << >> && || .. // and single characters */
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
    const struct at_text_functions *functions; /* that expressions may call, too; NULL: none */
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

/* Where a line of the text stands: behind #line 3 "sub/of.te" in that file, of the folder of the
 * text's own, from its line 3 on; behind #line 7 in the text's own from line 7 on. file: NULL: it
 * is its own. */
typedef struct at_lex_place {
    const char *file;
    int file_length, line;
} at_lex_place;
at_lex_place at_lex_place_of(const at_lex *l, int line);
/* Its path, as errors name it. */
const char *at_lex_path_of(at_arena *a, const at_lex *l, const at_lex_place *place);

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
    AT_X_CALL,    /* integer: at_function of arg[0] */
    AT_X_TEXT,    /* name: the text; where the lexer's reader takes texts */
    AT_X_BIT_AND, /* of integers in two's complement, as the following */
    AT_X_BIT_OR,
    AT_X_SHIFT_LEFT, /* a product with a power of two */
    AT_X_SHIFT_RIGHT /* a quotient by a power of two, rounded down */
} at_op;
static inline bool at_op_orders(at_op op) { return op >= AT_X_LT && op <= AT_X_GE; }
static inline bool at_op_compares(at_op op) { return op >= AT_X_LT && op <= AT_X_NE; }
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
char *at_expr_text(at_arena *a, const at_expr *e);  /* the same, owned by arena */
at_expr *at_expr_new(at_arena *a, at_op op, int nargs, at_expr *const *args);
at_expr *at_expr_int(at_arena *a, int64_t value);
at_expr *at_expr_name(at_arena *a, const char *name); /* borrowed, as the following one's */
at_expr *at_expr_read(at_arena *a, const char *tensor, int n, at_expr *const *index);
at_expr *at_expr_pair(at_arena *a, at_op op, at_expr *x, at_expr *y);
bool at_expr_equal(const at_expr *x, const at_expr *y); /* by names */
bool at_expr_same(const at_expr *x, const at_expr *y);  /* by refs */
/* Visits an expression and all below it, each before its arguments, until a visit ends the walk:
 * the node where it ended, or NULL. */
typedef enum at_walk { AT_WALK_ON, AT_WALK_PAST /* not into its arguments */, AT_WALK_END } at_walk;
typedef at_walk at_expr_visit(const at_expr *e, void *ctx);
const at_expr *at_expr_walk(const at_expr *e, at_expr_visit *visit, void *ctx);
/* The first node that a test is true of, or NULL; the second looks into no index of a read, the
 * third nowhere else. */
typedef bool at_expr_test(const at_expr *e, const void *ctx);
const at_expr *at_expr_find(const at_expr *e, at_expr_test *is, const void *ctx);
const at_expr *at_expr_find_value(const at_expr *e, at_expr_test *is, const void *ctx);
const at_expr *at_expr_find_index(const at_expr *e, at_expr_test *is, const void *ctx);
/* A copy in which f makes what stands for each node e of a copy of it, whose arguments are made
 * already; f NULL: a copy. */
typedef at_expr *at_expr_make(const at_expr *e, at_expr *copy, void *ctx);
at_expr *at_expr_map(at_arena *a, const at_expr *e, at_expr_make *f, void *ctx);
/* Has f change each node where it stands, behind its arguments. */
typedef void at_expr_change(at_expr *e, void *ctx);
void at_expr_each(at_expr *e, at_expr_change *f, void *ctx);
/* Is it a number as the text has it? */
static inline bool at_expr_is_number(const at_expr *e) {
    return e->op == AT_X_INT || e->op == AT_X_FLOAT;
}
/* Is it the name, of an axis or a size, with this number, and nothing else? */
static inline bool at_expr_is_name(const at_expr *e, int ref) {
    return e->op == AT_X_NAME && e->ref == ref;
}
/* The number that the text has; 0: it is none. */
static inline double at_expr_number(const at_expr *e) {
    return e->op == AT_X_INT ? (double)e->integer : e->op == AT_X_FLOAT ? e->number : 0;
}
bool at_expr_mentions(const at_expr *e, const char *name);
bool at_expr_uses(const at_expr *e, int ref);                 /* has it a name with that ref? */
const at_expr *at_expr_has(const at_expr *e, at_op op);       /* the first one, or NULL */
bool at_expr_reads(const at_expr *e);                         /* does it read any tensor? */
bool at_expr_is_read(const at_expr *e, const void *tensor);   /* a test; tensor: an int */
const at_expr *at_expr_read_of(const at_expr *e, int tensor); /* the first one, or NULL */
int at_expr_count_reads(const at_expr *e, int tensor);
int at_expr_nodes(const at_expr *e);
/* Value over integers. Names have been given refs into values[]; INDEX, FIELD and FLOAT nodes are
 * refused unless ref >= 0, in which case they too read values[ref]. AT_E_INPUT on division by zero
 * or when a product or sum leaves 64 bits ("N*H*W exceeds 2^63"). Booleans are 0 and 1. */
at_status at_expr_eval(const at_expr *e, const int64_t *values, int64_t *out, at_error *err);
/* Of a binary operator: floor division, logical AND and OR. False: it has no value, since it
 * divides by zero, shifts by less than 0, leaves 64 bits or is no operator over integers. */
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
/* Does it give floats of 16 bits? And the one that gives those of a type. */
static inline bool at_function_narrows(at_function f) {
    return f == AT_FUNCTION_F16 || f == AT_FUNCTION_BF16;
}
static inline at_function at_type_rounding(at_type t) {
    return t == AT_F16 ? AT_FUNCTION_F16 : AT_FUNCTION_BF16;
}
int at_function_ulps(at_function f); /* from the correctly rounded value, at most; 0: exact */
/* A float's, of a power of two: a product with it is exactly the quotient. 0: it is none. */
double at_exact_reciprocal(double number);

/* A function that a text defines (expr_function.c): its parameters stand for arguments. */
typedef struct at_text_function {
    const char *name;
    int num_params;
    const char *const *params;
    const at_expr *body;
} at_text_function;
typedef struct at_text_functions {
    AT_VEC(at_text_function) list;
} at_text_functions;
const at_text_function *at_text_function_find(const at_text_functions *f, const char *name);
/* Its body with arguments in place of parameters; NULL: that exceeds AT_MOST_EXPANDED terms. */
enum { AT_MOST_EXPANDED = 10000 };
at_expr *at_text_function_expand(at_arena *a, const at_text_function *f, at_expr *const *args);

/* a*b in *out; false when it exceeds 64 bits. */
static inline bool at_mul64(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
/* Where an element of an array of n axes lies, the elements being numbered row by row: its place
 * along each axis. Returns what is left of the number beyond the first axis. */
static inline int64_t at_unravel(int64_t number, int n, const int64_t *extent, int64_t *place) {
    for (int i = n; i-- > 0; number /= extent[i]) place[i] = number % extent[i];
    return number;
}
/* x to the power of a number (expr_power.c); NULL: `by` is none, which *problem need not say, or
 * *problem does. */
at_expr *at_expr_power(at_arena *a, const at_expr *x, const at_expr *by, const char **problem);
int64_t at_floordiv(int64_t a, int64_t b);
int64_t at_floormod(int64_t a, int64_t b);
int64_t at_gcd(int64_t a, int64_t b); /* neither -2^63; not below 0 */

#endif
