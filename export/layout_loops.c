/* export/layout_loops.c: a tensor from the task's own layout into blocks, or back. */
#include "export/export_int.h"

/* Axes of one element are left out, and those that go on where the next one ends are joined. */
static int axes_of(const at_face *f, const at_face_tensor *t, int64_t *extent, int64_t *stride) {
    const at_program *p = f->of->program;
    int n = p->compute->tensors[t->tensor].num_axes, count = 0;
    int64_t plain[64], step = 1;
    for (int i = n - 1; i >= 0; i--) {
        int axis = t->order ? t->order[i] : i;
        plain[axis] = step;
        step *= p->extents[t->tensor][axis];
    }
    for (int i = 0; i < n; i++) {
        int64_t e = p->extents[t->tensor][i];
        if (e == 1) continue;
        if (count && stride[count - 1] == plain[i] * e) {
            extent[count - 1] *= e;
            stride[count - 1] = plain[i];
            continue;
        }
        extent[count] = e;
        stride[count++] = plain[i];
    }
    return count;
}

/* An element out of the tensor's range ends the function. */
static void checked_element(at_text *out, const at_face_tensor *t, int indent, const char *place) {
    at_text_addf(out, "%*sif (", indent, "");
    if (t->is_s64) at_text_addf(out, "from[%s] < %lldLL || ", place, (long long)t->given.lo);
    at_text_addf(out,
                 "from[%s] > %lldLL) return 1;\n%*selse *to++ = (%s)from[%s];\n    return 0;\n",
                 place, (long long)t->given.hi, indent, "", at_type_of(t->type)->c, place);
}

/* static void NAME_order_TENSOR(const float *from, float *to), of the tensor's type; of a checked
 * tensor static int, 0 where all elements are in range. */
void at_layout_loops(at_text *out, const at_face *f, const at_face_tensor *t) {
    const char *type = at_type_of(t->type)->c;
    int64_t extent[64], stride[64];
    int n = axes_of(f, t, extent, stride);
    at_text_addf(out, "static %s %s_order_%s(const %s *from, %s *to) {\n",
                 t->is_checked ? "int" : "void", f->of->name, t->name, at_face_c_type(t), type);
    if (t->elements == 0) {
        at_text_addf(out, "    (void)from, (void)to;\n%s}\n\n",
                     t->is_checked ? "    return 0;\n" : "");
        return;
    }
    at_text plain = {0};
    for (int i = 0; i < n; i++) {
        at_text_addf(out, "%*sfor (long i%d = 0; i%d < %lldL; i%d++)\n", 4 * (i + 1), "", i, i,
                     (long long)extent[i], i);
        at_text_addf(&plain, "%si%d", i ? " + " : "", i);
        if (stride[i] != 1) at_text_addf(&plain, " * %lldL", (long long)stride[i]);
    }
    if (!n) at_text_add(&plain, "0");
    if (t->is_checked) {
        checked_element(out, t, 4 * (n + 1), at_text_str(&plain));
        at_text_add(out, "}\n\n");
    } else
        at_text_addf(out,
                     t->is_output ? "%*sto[%s] = *from++;\n}\n\n" : "%*s*to++ = from[%s];\n}\n\n",
                     4 * (n + 1), "", at_text_str(&plain));
    at_text_free(&plain);
}
