/* codegen/codegen.h: lowers a verified program to C and tiles, pass by pass.
 *
 * The passes, in order (lower.c): dissolve, digits, buffers, partition, tiles, emit. --dump=PASS
 * prints the program after any of them. No operator's name occurs here. docs/architecture.md shows
 * one program after each pass. */
#ifndef AT_CODEGEN_H
#define AT_CODEGEN_H

#include "base/base.h"
#include "schedule/schedule.h"

/* How tiles are printed: plain scalar C for any compiler; C with vector types for gcc and clang;
 * machine code bound to the C that TinyCC compiles. */
typedef enum at_dialect {
    AT_DIALECT_C,
    AT_DIALECT_GNU,
    AT_DIALECT_TCC,
    AT_DIALECT_COUNT
} at_dialect;
const char *at_dialect_name(at_dialect d);
bool at_dialect_from_name(const char *name, at_dialect *out);

typedef struct at_lower_options {
    at_dialect dialect;
    at_isa isa;             /* dialect C is scalar whatever this says */
    bool pack_inline;       /* packing stages stay inside the kernel (and its time) */
    int64_t prefetch_above; /* weights of a sum larger than this many bytes (the second-level cache)
                               are prefetched, unless the tree says otherwise; 0: never */
    const char *name;       /* prefix of emitted functions; a C identifier */
    const char *dump;       /* pass to print into *dump_out, or NULL */
    at_text *dump_out;
    bool verify; /* check the program between passes (tests): a fault there is our bug */
} at_lower_options;

/* A machine-code tile, for dialect TCC. */
typedef struct at_tile_code {
    const char *symbol;
    const uint8_t *bytes;
    int size_bytes;
} at_tile_code;

typedef enum at_param_role { AT_PARAM_IN, AT_PARAM_OUT, AT_PARAM_PACKED } at_param_role;
typedef struct at_param { /* one entry of buf[] */
    const char *name;
    at_param_role role;
    int tensor; /* of the computation */
    bool is_int;
    int64_t elements;
    bool in_kernel, in_pack; /* which of the two functions touches it */
} at_param;

typedef struct at_kernel {
    const char
        *source; /* C text: tiles (dialects C and GNU), body functions, NAME_pack, NAME_entry */
    size_t common_bytes; /* its beginning, the same for all kernels of a dialect and isa */
    const at_tile_code *tiles;
    int num_tiles;
    const char *entry;      /* int NAME_entry(void *const buf[], void *workspace, at_par *par) */
    const char *pack;       /* same face: fills the PACKED buffers; NULL if there are none */
    const at_param *params; /* order of buf[]: inputs in text order, then packed, then outputs */
    int num_params;
    int64_t workspace_bytes; /* shared part */
    int64_t workspace_per_thread_bytes;
    at_dialect dialect;
    at_isa isa;         /* of the tiles */
    char code_hash[33]; /* over tile bytes, C without comments, parameter table and workspace */
} at_kernel;

/* Names of the passes for --dump, in order; NULL-terminated. */
extern const char *const at_pass_names[];

/* Lowers a built and verified program. Everything is owned by arena. AT_E_INPUT with a text where
 * the result would be beyond a limit (workspace above 2^40 bytes): error 1 of the candidate. */
at_status at_lower(at_arena *a, const at_program *p, const at_lower_options *o, at_kernel **out,
                   at_error *err);

/* ---- files (file.c, file_family.c, file_main.c) --------------------------------------------- */

/* The tensors of a block-sparse weight that a main fills at random. */
typedef struct at_file_pattern {
    int indices, indptr;        /* tensors of the computation */
    int64_t rows, columns, nnz; /* in blocks */
} at_file_pattern;

typedef struct at_file_number {
    const char *name;
    int64_t value;
} at_file_number;

/* One kernel of a file. */
typedef struct at_file_kernel {
    const at_program *program;
    const at_kernel *kernel;
    const char *name; /* of its functions; what at_lower was given */
    const char *head; /* comment text, lines without decoration: task, configuration, figure, CPU */
    double flops;     /* of a call, for the main */
    const at_file_pattern *pattern; /* NULL: no index tensors */
    const char *family;             /* kernels of one family are called by shape; NULL: none */
    const at_file_number *shape;    /* the same names in a family */
    int num_shape;
} at_file_kernel;

typedef struct at_file_options {
    const char *head;   /* of a file with families: what stands at its top */
    const char *source; /* file names without folder; NULL: none, "kernel.c" in comments */
    const char *header; /* NULL: the declarations stand in the source */
    bool with_main;
} at_file_options;

/* The files of `apply`: kernels with a typed face, their packing, their workspace; functions that
 * choose by shape, one per family; with main a program that checks each kernel against the naive
 * reference on exact data and times it. They depend on libc only, hold no state, and need no
 * include without main. All kernels have one dialect and isa. AT_E_USAGE: a main for index tensors
 * without pattern. */
at_status at_emit_file(at_arena *a, const at_file_kernel *kernels, int n, const at_file_options *o,
                       at_text *source, at_text *header, at_error *err);

#endif
