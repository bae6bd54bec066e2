/* templates/typed.c: templates whose argument names types of elements, "u8s8u8": of the data, the
 * weight and the output. Rules derive the trees of these. */
#include <string.h>

#include "templates/template_int.h"

/* The argument's text; "": it has none. */
static const char *text_of(at_template *t, const char *call, const char *argument) {
    const arg *a = at_template_has_text(t, call, argument)
                       ? at_args_find(t, argument, strlen(argument))
                       : NULL;
    return a && a->kind == ARG_TEXT ? a->form->string : "";
}

int at_is_typed(at_template *t, const char *argument) {
    return *text_of(t, "at_is_typed", argument) != 0;
}

const char *at_argument_type(at_template *t, const char *argument, int i) {
    const char *rest = text_of(t, "at_argument_type", argument);
    for (int n; *rest; rest += n, i--) {
        int type = -1;
        for (n = 0; type < 0 && rest[n];) type = at_type_find(rest, ++n);
        if (i == 0 && type >= 0) return at_type_of((at_type)type)->name;
    }
    return at_type_of(AT_F32)->name;
}

static bool is_int(const char *type) {
    return at_type_of((at_type)at_type_find(type, (int)strlen(type)))->is_int;
}

const char *at_sum_type(at_template *t, const char *argument) {
    return is_int(at_argument_type(t, argument, 0)) ? "s32" : "f32";
}

const char *at_typed_output(at_template *t, const char *argument, const at_typed *x) {
    const char *type = at_argument_type(t, argument, 2), *sum = at_sum_type(t, argument);
    if (!is_int(sum) || !strcmp(type, sum))
        return at_textf(t, "out[%s] : %s = %s\n", x->axes, type, x->value);
    const char *value = at_textf(t, "%s*scale[%s] + zero[%s]", x->value, x->channel, x->channel);
    return at_textf(t, "scale[%s] : weight\nzero[%s] : weight\nout[%s] : %s = %s\n", x->channels,
                    x->channels, x->axes, type,
                    is_int(type) ? at_textf(t, "round(%s)", value) : value);
}
