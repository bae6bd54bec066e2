/* foreign/foreign_int.h: the head of a file, as it is read. */
#ifndef AT_FOREIGN_INT_H
#define AT_FOREIGN_INT_H

#include "foreign/foreign.h"

#define AT_ENTRY_PARAMS "void *const at_buf[], void *at_workspace, void *at_par"

typedef enum at_head_word {
    HEAD_ARGS,
    HEAD_SIZES,
    HEAD_KNOB,
    HEAD_SPLIT,
    HEAD_ORDER,
    HEAD_REQUIRE,
    HEAD_DEFAULT,
    HEAD_COMPILER,
    HEAD_FLAGS,
    HEAD_WORKSPACE,
    HEAD_CALL,
    HEAD_OPERATIONS,
    HEAD_DATA,
    HEAD_REFERENCE,
    HEAD_LIMIT,
    HEAD_UNCHECKED,
    HEAD_COMPUTE, /* all other lines */
    HEAD_WORDS
} at_head_word;

/* What stands behind a word. */
typedef struct at_head_item {
    at_head_word word;
    const char
        *text; /* the file up to the item's end, all else blank: lines and columns are right */
    int line;
} at_head_item;

typedef enum at_head_kind { HEAD_OPTION, HEAD_PARTS, HEAD_PERMUTATION } at_head_kind;
typedef struct at_head_knob {
    at_head_kind kind;
    const char *name, *values; /* values: JSON array */
    const char *axis;          /* of a split, as at_head_item.text */
    int parts;
    int line;
    const char *condition; /* when it counts, as at_head_item.text; NULL: always */
    int fallback;          /* the default's position */
    long long default_[8]; /* of a split: sizes but the first */
    bool has_default;
} at_head_knob;

typedef struct at_head_param {
    const char *name, *type; /* "const float *", "int" */
    const char *element;     /* of an array of arrays: "const float "; else NULL */
    const char *bounds;      /* and its own, "[64][32]": */
    int num_bounds;
    bool is_pointer, is_const;
} at_head_param;

typedef struct at_head_call {
    const char *function, *returns;
    AT_VEC(at_head_param) params;
    int line;
} at_head_call;

typedef struct at_head {
    at_template_row row; /* first, so that its define() finds the rest */
    at_foreign pub;
    at_arena *arena;
    AT_VEC(at_head_item) items;
    AT_VEC(at_head_knob) knobs;
    AT_VEC(at_foreign_output) outputs;
    AT_VEC(at_foreign_data) data;
    at_head_call call;
    const char *compute;        /* the computation, or one that has the outputs' shapes */
    const char *compute_source; /* as at_head_item.text; NULL: it is not the user's */
    at_text args, names;        /* while it is read */
    bool has_defaults;
} at_head;

/* head_lines.c: fills h->items; AT_E_INPUT. */
at_status at_head_split(at_head *h, const char *text, size_t length, at_error *err);
/* The lexer at the item's first token; errors show the file. */
at_status at_head_start(const at_head *h, const at_head_item *x, at_lex *l, at_error *err);
/* Of text what stands from begin to end, all before blank: the form of at_head_item.text. */
const char *at_head_part(const at_head *h, const char *text, const char *begin, const char *end);
/* The rest of an item from the lexer's token on, or up to a token, in that form. */
const char *at_head_rest(const at_head *h, const char *text, const at_lex *from, const at_lex *to);
/* head_knobs.c */
at_status at_head_knob_item(at_head *h, const at_head_item *x, at_error *err);
at_status at_head_default_item(at_head *h, const at_head_item *x, at_error *err);
/* head_call.c */
at_status at_head_call_item(at_head *h, const at_head_item *x, at_error *err);
/* fortran_call.c: AT_E_INPUT: the subroutine has other parameters than the call. A file of another
 * language, or without that subroutine, is left to its compiler. */
at_status at_head_check_fortran(const at_head *h, at_error *err);
/* head_tensors.c: outputs that no text computes, data. */
at_status at_head_tensors(at_head *h, const at_head_item *compute, at_error *err);
at_status at_head_data_item(at_head *h, const at_head_item *x, at_error *err);
/* head_flags.c: words of a line; those that name files below the folder become absolute. */
at_status at_head_flags_item(at_head *h, const at_head_item *x, at_error *err);
/* Is the tensor a parameter of the kernel? */
static inline bool at_is_foreign_param(const at_tensor *t) {
    return t->role != AT_ROLE_STAGE ? !t->is_held : t->is_output;
}
/* kernel_row.c: a head that was read, without its hash. */
at_status at_head_make(at_arena *a, const char *path, const char *text, size_t length,
                       at_head **out, at_error *err);
/* head_files.c: fills pub.hash and pub.unused. */
void at_head_hash(at_head *h);
#endif
