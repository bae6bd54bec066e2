/* A product of two matrices gives what plain loops give, whatever is left of blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/code.h"

enum { MOST = 13 };

static void test_sizes(void **state) {
    (void)state;
    float a[MOST * MOST], b[MOST * MOST], out[MOST * MOST + 1];
    for (int i = 0; i < MOST * MOST; i++) {
        a[i] = (float)(i * 7 % 11 - 5);
        b[i] = (float)(i * 5 % 13 - 6);
    }
    for (int rows = 1; rows <= 5; rows++)
        for (int columns = 1; columns <= 9; columns++)
            for (int terms = 1; terms <= MOST; terms++) {
                out[rows * columns] = 77;
                at_products(a, b, out, rows, terms, columns);
                for (int r = 0; r < rows; r++)
                    for (int c = 0; c < columns; c++) {
                        float s = 0;
                        for (int k = 0; k < terms; k++) s += a[r * terms + k] * b[c * terms + k];
                        assert_true(out[r * columns + c] == s);
                    }
                assert_true(out[rows * columns] == 77);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
