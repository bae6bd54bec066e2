/* runtime/npy_write.c: an array as NumPy's file of one. */
#include "runtime/runtime_int.h"

void at_npy_print(at_text *out, const char *descr, int num_dims, const int64_t *dims,
                  const void *elements, size_t bytes) {
    enum { BEFORE = 10, MULTIPLE = 64 }; /* what stands before the header; where elements begin */
    at_text header = {0};
    at_text_addf(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < num_dims; i++) at_text_addf(&header, "%lld, ", (long long)dims[i]);
    at_text_add(&header, "), }");
    while ((BEFORE + header.len + 1) % MULTIPLE) at_text_add(&header, " ");
    at_text_add(&header, "\n");
    const char length[] = {(char)(header.len & 255), (char)(header.len >> 8)};
    at_text_addn(out, "\x93NUMPY\x01", 8);
    at_text_addn(out, length, sizeof length);
    at_text_addn(out, at_text_str(&header), header.len);
    at_text_addn(out, elements, bytes);
    at_text_free(&header);
}
