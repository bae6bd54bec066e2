/* export/check_cover.c: winners of few long rows in the main of an emitted file: they go from place
 * to place (at_cover), and the kernel and the reference run again each time. */
#include "export/check_int.h"

static const char offset_helper[] =
    "/* Of an element of a row: digits of both numbers, the last one first. */\n"
    "static long at_offset(long at, int rows, int axes, const long *extent, const long *stride,\n"
    "                      long row, long place) {\n"
    "    for (int i = axes; i-- > 0;) {\n"
    "        long *n = i < rows ? &row : &place;\n"
    "        at += *n % extent[i] * stride[i];\n"
    "        *n /= extent[i];\n"
    "    }\n"
    "    return at;\n}\n\n";

void at_file_cover_helper(at_text *out) { at_text_add(out, offset_helper); }

static int input_of(const at_face *f, const at_cover *x) {
    int at = -1;
    for (int i = 0; i < f->num_inputs; i++)
        if (f->tensors[i].tensor == x->tensor) at = i;
    AT_ASSERT(at >= 0);
    return at;
}

static void list(at_text *out, const char *name, const int64_t *x, int n) {
    at_text_addf(out, "    static const long %s[] = {", name);
    for (int i = 0; i < n; i++) at_text_addf(out, "%s%lldL", i ? ", " : "", (long long)x[i]);
    at_text_add(out, "};\n");
}

/* A loop over the rows of cover `number`, at the element that wins in this run. */
static void begin_rows(at_text *out, const at_cover *x) {
    const int64_t groups = (x->terms + x->group - 1) / x->group;
    at_text_add(out, "    {\n");
    list(out, "extent", x->extent, x->axes);
    list(out, "stride", x->stride, x->axes);
    at_text_addf(
        out,
        "    for (long row = 0; row < %1$lldL; row++) {\n"
        "        long group = (run + row * %8$lldL) %% %2$lldL, place = group * %3$lldL + "
        "group * 5 %% %3$lldL;\n"
        "        if (run < %9$d) place = run %% 2 ? run / 2 %% %7$lldL : %7$lldL - 1 - run "
        "/ 2 %% %7$lldL;\n"
        "        long at = at_offset(%4$lldL, %5$d, %6$d, extent, stride, row, place < "
        "%7$lldL ? place : %7$lldL - 1);\n",
        (long long)x->rows, (long long)groups, (long long)x->group, (long long)x->base, x->row_axes,
        x->axes, (long long)x->terms, (long long)x->between, AT_COVER_ENDS);
}

void at_file_begin_cover(at_text *out, const at_face *f, const at_draw *draw) {
    for (int k = 0; k < draw->covers.len; k++) {
        const at_cover *x = &draw->covers.data[k];
        at_text_addf(out, "    static %s kept%d[%lldL];\n",
                     at_type_of(f->tensors[input_of(f, x)].type)->c, k, (long long)x->rows);
    }
    at_text_addf(out, "    for (long run = 0; run < %lldL; run++) {\n",
                 (long long)at_cover_runs(draw));
    for (int k = 0; k < draw->covers.len; k++) {
        const at_cover *x = &draw->covers.data[k];
        const int i = input_of(f, x);
        const at_type_facts *type = at_type_of(f->tensors[i].type);
        begin_rows(out, x);
        at_text_addf(out, "        kept%d[row] = b%d[at];\n        b%d[at] = ", k, i, i);
        at_file_add_cast(out, f->tensors[i].type);
        at_text_addf(out, "(%s(%.17g + %.17g * (double)(row %% %lldL)));\n    }\n    }\n",
                     type->is_int ? "" : "(float)", x->value, x->unit, (long long)x->different);
    }
}

void at_file_end_cover(at_text *out, const at_face *f, const at_draw *draw) {
    for (int k = draw->covers.len; k-- > 0;) {
        begin_rows(out, &draw->covers.data[k]);
        at_text_addf(out, "        b%d[at] = kept%d[row];\n    }\n    }\n",
                     input_of(f, &draw->covers.data[k]), k);
    }
    at_text_add(out, "    }\n");
}
