/* tests/cli/product.h: a computation that tests of the program begin with. */
#ifndef AT_TESTS_CLI_PRODUCT_H
#define AT_TESTS_CLI_PRODUCT_H

static const char product[] = "# product\n"
                              "args N=24, L=20, M=32\n"
                              "A[N, L] : input\n"
                              "B[L, M] : weight\n"
                              "C[N, M] : input\n"
                              "mul[i:N, j:M] = sum(k:L) A[i, k] * B[k, j]\n"
                              "out[i:N, j:M] = mul[i, j] + C[i, j]\n";

#endif
