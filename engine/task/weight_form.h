/* engine/task/weight_form.h: one weight of an operator, in the form that each way of computing it
 * takes.
 *
 * A file holds, by its shape: an array [KH, KW, CI, CO] or [CO, CI, KH, KW]; or a matrix
 * [CO, KH*KW*CI], sparse or not, whose columns run over kh, kw and ci, ci fastest. Of a product of
 * matrices KH and KW are 1, CI and CO are its K and N. Where an array has the first two shapes
 * alike, it is the first. */
#ifndef AT_ENGINE_WEIGHT_FORM_H
#define AT_ENGINE_WEIGHT_FORM_H

#include "runtime/runtime.h"

typedef struct at_weight_form {
    int64_t kh, kw, ci, co; /* kh 0: a template's own form, whatever the file */
    bool outputs_first;     /* [co, kh*kw*ci], else [kh, kw, ci, co] */
} at_weight_form;

/* What the file at path holds, in a. As at_input_read. */
at_status at_weight_read(at_arena *a, const char *path, at_input *out, at_error *err);
/* The same in the form f. out lives in a, and where file has the form already, it is file's.
 * Without values: the file holds only a pattern, and out is that matrix. AT_E_USAGE: a shape that
 * is none of those, or more elements than memory holds; path: how the error calls it. */
at_status at_weight_in_form(at_arena *a, const char *path, const at_input *file,
                            const at_weight_form *f, at_input *out, at_error *err);
/* "3 x 3 x 64", "a single number", in a. */
const char *at_weight_dims_text(at_arena *a, const int64_t *dims, int n);
/* Of all elements those that are 0, or that a pattern leaves out. */
int64_t at_weight_form_zeros(const at_weight_form *f, const at_input *in);

#endif
