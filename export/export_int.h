/* export/export_int.h: what the parts of an emitted file share. */
#ifndef AT_EXPORT_INT_H
#define AT_EXPORT_INT_H

#include "export/export.h"

/* Kernels of one family, called by shape. Its parameters are all that any of them has, in the
 * order inputs, packed, outputs. */
typedef struct at_family {
    const char *name;
    AT_VEC(const at_file_kernel *) kernels;
    AT_VEC(const at_param *) params;
    bool packs; /* any of them */
} at_family;
typedef AT_VEC(at_family) at_families;

/* params.c */
const char *at_file_type(const at_param *q); /* of its elements */
/* C's reserved words, and the names that the functions use themselves, get a trailing underscore.
 */
void at_file_name(at_text *out, const char *name);
/* Is it a parameter of the kernel (or of its packing), and does that write it? */
bool at_file_takes(const at_param *q, bool pack);
bool at_file_writes(const at_param *q, bool pack);
/* "const float *data, float *packw" */
void at_file_parameters(at_text *out, const at_param *const *params, int n, bool pack);
void at_file_comment(at_text *out, const char *text); /* lines, each behind " * " */

/* kernel_face.c: one kernel. first: of its file, with what all of them share. */
int at_file_threads(const at_file_kernel *f); /* that it runs on, at least 1 */
void at_kernel_declare(at_text *out, const at_file_kernel *f);
void at_kernel_define(at_text *out, const at_file_kernel *f, bool first);

/* dispatcher.c: functions that choose by shape. */
at_families at_file_families(at_arena *a, const at_file_kernel *kernels, int n);
void at_family_declare(at_text *out, const at_family *f);
void at_family_define(at_text *out, const at_family *f);

/* check_main.c: what main needs before the kernels, and main itself. families: empty where there
 * are none. */
void at_file_main_includes(at_text *out);
at_status at_file_main(at_arena *a, const at_file_kernel *kernels, int n,
                       const at_families *families, at_text *out, at_error *err);

#endif
