/* export/export.h: kernels as C files, headers and functions that choose between kernels.
 *
 * Every configuration of a task gets the same prototypes. NAME takes the computation's inputs in
 * the order of their declarations, then its outputs, each in the task's own layout, then workspace.
 * What this configuration wants otherwise (weights packed, data in blocks) it makes at every call;
 * NAME_in_blocks takes it ready-made by NAME_pack, NAME_pack_DATA, and its output is put in order
 * by NAME_unpack_OUT. */
#ifndef AT_EXPORT_H
#define AT_EXPORT_H

#include "codegen/codegen.h"

typedef enum at_abi {
    AT_ABI_PLAIN,   /* NAME and, where there is anything to make ready, NAME_in_blocks */
    AT_ABI_BLOCKED, /* NAME is what NAME_in_blocks is else; there is no other */
    AT_ABI_COUNT
} at_abi;
const char *at_abi_name(at_abi abi); /* "plain", "blocked" */

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
    int threads; /* that its parallel loops run on, where it is compiled with OpenMP; 0: 1 */
    const at_program *program;
    /* The computation as it was written, of which edits made the program's: a main checks the
     * kernel with it. NULL: the program's own. */
    const at_program *written;
    const at_kernel *kernel;
    const char *name; /* of its functions; what at_lower was given */
    const char *head; /* comment text, lines without decoration: task, configuration, figure, CPU */
    double flops;     /* of a call, for the main */
    /* Operations that a call executes, which take their time at the peak at least; 0: not known. */
    double executed;
    const at_file_pattern *pattern; /* NULL: no index tensors */
    const char *family;             /* kernels of one family are called by shape; NULL: none */
    const at_file_number *shape;    /* the same names in a family */
    int num_shape;
    /* Symbol values with nothing in blocks, and [tensor] the order in which axes make up the plain
     * tensor (entries may be NULL). NULL: tensors have no layout but the program's. */
    const int64_t *plain_values;
    const int *const *layouts;
    const char *const *tensor_names; /* [tensor] by which callers know them; NULL: as they are */
    /* A weight whose callers have its axes in this order (NULL: none), and its tensor. */
    const int *weight_order;
    int ordered_weight;
    const at_general *general; /* for shapes without a kernel; NULL: none */
    const int64_t *row;        /* of a part: as in at_lower_options; NULL: rows lie side by side */
} at_file_kernel;

typedef struct at_file_options {
    const char *head;   /* of a file with families: what stands at its top */
    const char *source; /* file names without folder; NULL: none, "kernel.c" in comments */
    const char *header; /* NULL: the declarations stand in the source */
    bool with_main;
    at_abi abi;
    bool fallback; /* families run plain loops for shapes that have no kernel */
} at_file_options;

/* The files of `apply`: kernels with a typed face, their packing, their workspace; functions that
 * choose by shape and by what the CPU has, one set per family; with main a program that checks each
 * kernel against the naive reference on exact data and times it. They depend on libc only, hold no
 * state, and need no include without main. All kernels have one dialect; instruction sets may
 * differ. AT_E_USAGE: a main for index tensors without pattern. AT_E_INPUT: the plain face of a
 * tensor whose shape depends on the configuration while no layout is known. */
at_status at_emit_file(at_arena *a, const at_file_kernel *kernels, int n, const at_file_options *o,
                       at_text *source, at_text *header, at_error *err);

/* Kernels of a program that calls them itself, as static functions, each with its loop tree in a
 * comment: NAME(inputs but for those packed, packed, outputs, workspace). is_late: [n] it prepares
 * weights and indices at every call: NAME(inputs, outputs, workspace). Nothing else is written, but
 * where checks follow: packing. Of one dialect and one instruction set, behind those of others in
 * the same file: *before, NULL at first, grows. prefix: PREFIX_has_SET() tells whether the CPU has
 * it; NULL: nobody asks. */
typedef struct at_part_options {
    const char *prefix;
    bool with_checks;
} at_part_options;
at_status at_emit_parts(at_arena *a, const at_file_kernel *kernels, int n, const bool *is_late,
                        const at_part_options *o, const char **before, at_text *out, at_error *err);
/* What a source with checks of these kernels begins with. */
void at_emit_check_includes(at_text *out, const at_file_kernel *kernels, int n);
/* at_check_NAME() of each of these kernels, which at_emit_parts wrote: 0 where it computes what its
 * text says of data that are made for it, as the main of at_emit_file does. */
at_status at_emit_part_checks(at_arena *a, const at_file_kernel *kernels, int n,
                              const bool *is_late, at_text *out, at_error *err);

/* ---- in memory (in_memory.c) ----------------------------------------------------------------- */

typedef struct at_memory_tensor {
    const char *name;
    at_type type;
    bool is_output;
    bool is_read;  /* an output that lies in an input: it has the input's elements before */
    bool is_ahead; /* a weight or an index: what the pack function takes */
    int num_dims;  /* in the task's own layout */
    const int64_t *dims;
    int64_t elements;
    bool is_s64, is_checked; /* as of at_tensor; its functions look at each element */
    bool is_bounded;         /* elements are from given.lo to given.hi, and other reads go astray */
    at_index_range given;
    /* Where a configuration has it in blocks of its own: their shape, and the function that brings
     * it there (an output: back). NULL: it has not. */
    int num_block_dims;
    const int64_t *block_dims;
    const char *order;
} at_memory_tensor;

/* Names of functions, NULL where there is none: those of a file of `apply`, and `call`, the plain
 * one with its arguments in an array. fast_call(tensors, packed, workspace) and pack_call(tensors,
 * packed) are the others with the same array, of which they take what they need. */
typedef struct at_memory_kernel {
    const char *source; /* for TinyCC; the kernel's tiles are bound to it */
    const char *plain, *call, *fast, *fast_call, *pack, *pack_call;
    const char *plain_prototype, *fast_prototype, *pack_prototype; /* "void NAME(...)" */
    const char *workspace_bytes, *packed_bytes;                    /* functions, too */
    int num_tensors;
    at_memory_tensor *tensors; /* inputs in the order of declaration, then outputs */
} at_memory_kernel;

/* kernel: of dialect TCC; head and flops do not count. parallel_for: the name of a function like
 * at_par_for, which runs its parallel loops. Everything lives in a. AT_E_INPUT */
at_status at_emit_in_memory(at_arena *a, const at_file_kernel *kernel, const char *parallel_for,
                            at_memory_kernel *out, at_error *err);

#endif
