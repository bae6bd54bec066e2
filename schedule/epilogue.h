/* schedule/epilogue.h: E9, element-wise stages behind the output of a computation
 * (edit_epilogue.c): what an operator's author would write by hand. */
#ifndef AT_SCHEDULE_EPILOGUE_H
#define AT_SCHEDULE_EPILOGUE_H

#include "schedule/schedule.h"

typedef enum at_epilogue {
#define AT_EPILOGUE(id, name, text, help, type) AT_EPILOGUE_##id,
#include "schedule/epilogue.def"
#undef AT_EPILOGUE
    AT_EPILOGUES
} at_epilogue;
const char *at_epilogue_name(at_epilogue e); /* "relu" */
const char *at_epilogue_text(at_epilogue e); /* what becomes of an element: "x + bias[c]" */
const char *at_epilogue_help(at_epilogue e); /* "plus a number per channel" */
at_type at_epilogue_type(at_epilogue e);     /* the output's behind it; AT_TYPE_COUNT: as before */
/* The name of the only output where that is a sum, which E6 makes a copy of first, else NULL.
 * AT_E_INPUT: there are several outputs. */
at_status at_edit_output_sum(const at_compute *c, const char **sum, at_error *err);
/* The same text in one spelling without blanks. AT_E_INPUT: it is none, or says nothing of x. */
at_status at_epilogue_spell_text(at_arena *a, const char *text, const char **out, at_error *err);
at_status at_epilogue_spell(at_arena *a, const at_expr *e, const char **out, at_error *err);
/* E9: the only output's elements, x in the text, become what it says as they are stored. What that
 * needs is declared right before the output: NAME[c] in the text is a weight with an element per
 * channel (the output's axes along which the weight differs), any other NAME an input of the
 * output's shape; inputs: their names, NULL behind the last. A name that is taken gets a number.
 * order: how the output's axes make up the plain tensor, or NULL. Leaves stay as they are, so that
 * every tree over c is one over *out. */
at_status at_edit_epilogue(at_arena *a, const at_compute *c, const int *order, const char *text,
                           at_type type, const at_compute **out, const char *const **inputs,
                           at_error *err);

#endif
