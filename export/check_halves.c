/* export/check_halves.c: floats of 16 bits in the main of an emitted file: inputs are floats that
 * are cut to them, outputs are compared as numbers. */
#include "export/check_int.h"

static const char f16_cut[] =
    "static unsigned short at_cut_to_f16(float x) {\n"
    "    union { float f; unsigned u; } y = {x < 0 ? -x : x};\n"
    "    y.f *= 0x1p-112f;\n"
    "    return (unsigned short)(y.u >> 13 | (x < 0 ? 0x8000 : 0));\n}\n\n";

static const char f16_value[] =
    "static float at_value_of_f16(unsigned short x) {\n"
    "    union { unsigned u; float f; } y = {(unsigned)(x & 0x7fff) << 13};\n"
    "    y.f *= 0x1p112f;\n"
    "    if ((x & 0x7c00) == 0x7c00) y.u |= 0x7f800000;\n"
    "    return x & 0x8000 ? -y.f : y.f;\n}\n\n";

static const char bf16_cut[] = "static unsigned short at_cut_to_bf16(float x) {\n"
                               "    union { float f; unsigned u; } y = {x};\n"
                               "    return (unsigned short)(y.u >> 16);\n}\n\n";

static const char bf16_value[] = "static float at_value_of_bf16(unsigned short x) {\n"
                                 "    union { unsigned u; float f; } y = {(unsigned)x << 16};\n"
                                 "    return y.f;\n}\n\n";

void at_file_half_helpers(const at_face *faces, int n, at_text *out) {
    bool comes[AT_TYPE_COUNT] = {false}, leaves[AT_TYPE_COUNT] = {false};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < faces[i].num; k++) {
            const at_face_tensor *t = &faces[i].tensors[k];
            (t->is_output ? leaves : comes)[t->type] = true;
        }
    if (comes[AT_F16]) at_text_add(out, f16_cut);
    if (leaves[AT_F16]) at_text_add(out, f16_value);
    if (comes[AT_BF16]) at_text_add(out, bf16_cut);
    if (leaves[AT_BF16]) at_text_add(out, bf16_value);
}

void at_file_add_cast(at_text *out, at_type type) {
    if (at_type_is_half(type)) at_text_addf(out, "at_cut_to_%s", at_type_of(type)->name);
    else at_text_addf(out, "(%s)", at_type_of(type)->c);
}

void at_file_fill_halves(at_text *out, const at_face_tensor *t, int at, const at_text *floats) {
    at_text_addf(out,
                 "    {\n    float *f = at_allocate(%lldUL * 4);\n%s"
                 "    for (long i = 0; i < %lldL; i++) b%d[i] = at_cut_to_%s(f[i]);\n"
                 "    free(f);\n    }\n",
                 (long long)t->elements, at_text_str(floats), (long long)t->elements, at,
                 at_type_of(t->type)->name);
}
