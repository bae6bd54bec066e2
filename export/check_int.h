/* export/check_int.h: the parts of the main of an emitted file, each of which prints C. */
#ifndef AT_EXPORT_CHECK_INT_H
#define AT_EXPORT_CHECK_INT_H

#include "export/export_int.h"

/* ---- data (check_fill.c, check_halves.c, check_cover.c) -------------------------------------- */

/* What inputs are filled with. */
typedef struct at_filling {
    at_data_rule rule;
    const at_index_range *entries; /* [tensor] of index tensors; NULL: a pattern fills them */
    /* Where draws are exact: also floats of all bits between the first draw's ends, whose outputs
     * have limits. fill NULL: there is no such draw. */
    at_draw reals;
} at_filling;
at_status at_file_choose_filling(at_arena *a, const at_face *f, at_filling *out, at_error *err);
/* What the main needs for the inputs of all faces, and the inputs of one draw. */
void at_file_fill_helpers(const at_face *faces, const at_filling *with, int n, at_text *out);
void at_file_fill(at_text *out, const at_face *f, const at_filling *with, const at_draw *draw);
bool at_file_has_limits(const at_filling *with); /* of the outputs of any draw */
/* Of floats of 16 bits: what the main needs, and inputs, of a statement that makes floats f. */
void at_file_half_helpers(const at_face *faces, int n, at_text *out);
/* What makes an element of a number, ahead of its parenthesis: "at_cut_to_f16" or "(float)". */
void at_file_add_cast(at_text *out, at_type type);
void at_file_fill_halves(at_text *out, const at_face_tensor *t, int at, const at_text *floats);
/* Of a draw with covers: what the main needs, and the loop around a run of kernel and reference. */
void at_file_cover_helper(at_text *out);
void at_file_begin_cover(at_text *out, const at_face *f, const at_draw *draw);
void at_file_end_cover(at_text *out, const at_face *f, const at_draw *draw);

/* ---- calls (check_calls.c) ------------------------------------------------------------------- */

/* Array b of a tensor is as the task has it; c: in blocks or in longer rows, where that differs; g:
 * as callers have it, with 64 bits an element; own: in the computation's order of axes; want and
 * limit: what the reference makes. */
bool at_main_has_blocks(const at_face *f, const at_face_tensor *t); /* is there a c? */
char at_main_letter(const at_face_tensor *t);                       /* g where there is one, or b */
void at_main_allocate(at_text *out, const at_face *f, bool has_limits);
void at_main_release(at_text *out, const at_face *f, bool has_limits);
void at_main_list_buffers(at_text *out, const at_face *f, bool has_limits); /* the reference's */
/* Not run where the CPU lacks what the tiles need: a failure, unless the file serves other CPUs
 * too. */
void at_main_check_cpu(at_text *out, const at_file_kernel *f, bool several);
void at_main_widen(at_text *out, const at_face *f);            /* b to g */
void at_main_own_order(at_text *out, const at_face *f, int i); /* b or g to own */
/* The kernel: what is packed or laid out before, the call, what is brought back behind it. */
void at_main_prepare(at_text *out, const at_face *f);
void at_main_call(at_text *out, const at_face *f, const char *indent);
void at_main_finish(at_text *out, const at_face *f);
/* Arguments, each behind a comma but the first, and the end of the call. */
void at_main_buffers(at_text *out, const at_face *f, at_role_of_call call, const char *comma);
/* The family's function, as an expression: 0 where a kernel ran. */
void at_main_call_by_shape(at_text *out, const at_family *family, const at_face *f);
/* An output without what a call leaves there: in an input, that input's elements. */
void at_main_clear(at_arena *a, at_text *out, const at_face *f, int output);
/* Outputs that a call makes of their old elements begin as they were; how many there are. */
int at_main_begin_again(at_arena *a, at_text *out, const at_face *f);
/* Counts what differs, and clears the outputs for the next call. */
void at_main_compare(at_arena *a, at_text *out, const at_face *f, bool exact);
void at_main_say_wrong(at_text *out, const at_face *f, const char *when);
/* Around a call whose parallel loops run apart; letters: of the array of each tensor. */
void at_file_begin_apart(at_text *out, const at_face *f, const char *letters);
void at_file_end_apart(at_text *out, const at_face *f);

/* ---- times (check_time.c) -------------------------------------------------------------------- */

void at_main_time_helpers(at_text *out);
void at_main_peaks(at_arena *a, at_text *out, const at_face *faces, int n); /* of each target */
void at_main_time(at_arena *a, at_text *out, const at_face *f, bool exact);

#endif
