/* export/export_int.h: what the parts of an emitted file share. */
#ifndef AT_EXPORT_INT_H
#define AT_EXPORT_INT_H

#include "export/export.h"
#include "schedule/data/data.h"

/* ---- faces (face.c): what people call a kernel with ------------------------------------------ */

typedef struct at_face_tensor { /* an input as declared, or an output */
    int tensor, param;          /* of the computation; of the kernel */
    const char *name;           /* of the parameter */
    at_type type;
    bool is_output;
    bool is_held;     /* an output lies in it: it is no parameter */
    bool ahead;       /* weights and index tensors: known long before data */
    bool laid_out;    /* configurations have it in blocks of their choice */
    bool is_ordered;  /* callers have its axes in an order that is not the computation's */
    bool moves;       /* this one does, so that elements change places */
    const int *order; /* laid out: of its axes in the plain tensor */
    bool is_s64;      /* callers have 64 bits of each element */
    bool is_checked;  /* copied on the way in; an element beyond `given` ends the call */
    at_index_range given;
    int64_t elements;
    int64_t packed_at; /* where its copy lies in the packed weights, bytes; -1: none */
    int64_t own, row;  /* elements of a row of its own, and in memory where that is longer; or 0 */
} at_face_tensor;

typedef struct at_face {
    const at_file_kernel *of;
    at_abi abi;
    const char *name, *fast; /* of the plain function (NULL: none) and of the one on blocks */
    at_face_tensor *tensors; /* inputs, outputs */
    int num, num_inputs;
    bool packs, in_blocks;    /* weights are packed; data or outputs are laid out */
    const int64_t *packed_at; /* [params] of the kernel's packed tensors */
    int64_t packed_bytes;
    int threads;
    bool runs_apart;          /* a main asks for turns of parallel loops apart from each other */
    bool is_part;             /* its functions are static; a main does not time it */
    const char *parallel_for; /* a function that runs parallel loops on threads; NULL: their own */
    const int64_t *values;    /* with these the computation is of the tensors as they are passed */
} at_face;

at_status at_face_make(at_arena *a, const at_file_kernel *f, at_abi abi, at_face *out,
                       at_error *err);
/* Of the array of a tensor in blocks or in longer rows. */
int64_t at_face_elements_in_blocks(const at_face_tensor *t);

/* Lists of parameters, as every function has them. */
typedef enum at_role_of_call {
    AT_CALL_PLAIN, /* inputs, outputs, workspace */
    AT_CALL_FAST,  /* inputs but for those packed, packed, outputs, workspace */
    AT_CALL_PACK   /* what is packed, packed */
} at_role_of_call;
bool at_call_takes(at_role_of_call call, const at_face_tensor *t);
/* Does the call check a tensor's elements, and return its number where one is out of range? */
bool at_call_checks(at_role_of_call call, const at_face_tensor *t);
bool at_call_checks_any(at_role_of_call call, const at_face_tensor *tensors, int n);
/* The type of an element, in C, as callers have it. */
const char *at_face_c_type(const at_face_tensor *t);
/* "const float *data, float *out, void *workspace"; types: with them. with_packed: of a fast call
 */
void at_call_list(at_text *out, at_role_of_call call, const at_face_tensor *tensors, int n,
                  bool types, bool with_packed);

/* params.c */
/* A name that C and C++ reserve, or that the functions use themselves, is changed a little. */
const char *at_file_name(at_arena *a, const char *name);
void at_file_comment(at_text *out, const char *text); /* lines, each behind " * " */

/* The shape of a tensor in the task's own layout, whose axes are those that are not the inner part
 * of another. The number of its axes. */
enum { AT_FACE_DIMS = 64 };
int at_face_shape(const at_face *f, const at_face_tensor *t, int64_t shape[AT_FACE_DIMS]);

/* layout_loops.c: the functions that bring a tensor into blocks and back. */
void at_layout_loops(at_text *out, const at_face *f, const at_face_tensor *t);

/* supported.c: NAME_supported(). first: of its file, with what all of them share. */
void at_cpu_test_shared(at_text *out, const at_kernel *k, const char *prefix);
void at_cpu_test(at_text *out, const at_face *f, const char *prefix);
/* Around functions that run only where the CPU is known to have the kernel's instructions: gcc
 * makes them for it, with the flags of the tuner's reference. */
void at_begin_as_tuned(at_text *out, const at_kernel *k);
void at_end_as_tuned(at_text *out);

/* emit_file.c: kernels of an instruction set, any of which may have integers or halves. */
typedef struct at_set {
    const at_kernel *first;
    bool has_integers, has_halves;
} at_set;
void at_set_add(at_set *set, const at_kernel *k);
/* What they share, behind that of the sets before (*before;
 * NULL: none), and where prefix is given, PREFIX_has_SET(). *before grows by it. */
void at_begin_set(at_arena *a, at_text *out, const at_set *set, const char *prefix,
                  const char **before);

/* kernel_face.c: one kernel. */
void at_kernel_declare(at_text *out, const at_face *f);
void at_kernel_define(at_text *out, const at_face *f, const char *prefix);
/* All of it for TinyCC in memory, its tiles as blobs. Where there is a plain function, also
 * NAME_call(void *const *tensors, void *workspace). */
void at_kernel_define_in_memory(at_text *out, const at_face *f);
/* As one static function: the fast one where there is one, else the plain one; with_checks: and
 * what a check calls before it. */
void at_kernel_define_part(at_text *out, const at_face *f, bool with_checks);
/* "void NAME(const float *data, ...)", of a function that there is. Lives in a. */
const char *at_kernel_prototype(at_arena *a, const at_face *f, at_role_of_call call);

/* dispatcher.c: functions that choose by shape. */
typedef struct at_family {
    const char *name;
    AT_VEC(const at_face *) faces;
    AT_VEC(at_face_tensor) tensors; /* all that any of them has: inputs, outputs */
    int num_inputs;
    bool packs, in_blocks;
    at_abi abi;
    AT_VEC(const at_general *) generals; /* forms of the fallback */
    bool checks_loops; /* FAMILY_only_loops: a main asks for these where there is a kernel, too */
} at_family;
typedef AT_VEC(at_family) at_families;
at_families at_file_families(at_arena *a, const at_face *faces, int n, const at_file_options *o);
void at_family_declare(at_text *out, const at_family *f);
void at_family_define(at_arena *a, at_text *out, const at_family *f);

/* check_main.c: what main needs before the kernels, and main itself. families: empty where there
 * are none. */
void at_file_main_includes(at_text *out);
void at_file_apart_helper(int most, at_text *out); /* most: tensors of a kernel */
/* at_check_NAME() of each. */
at_status at_file_checks(at_arena *a, const at_face *faces, int n, const at_families *families,
                         at_text *out, at_error *err);
at_status at_file_main(at_arena *a, const at_face *faces, int n, const at_families *families,
                       at_text *out, at_error *err);

#endif
