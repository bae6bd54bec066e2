/* tests/codegen/support.h: calls that must succeed, a folder for files of compilers. */
#ifndef AT_TESTS_CODEGEN_SUPPORT_H
#define AT_TESTS_CODEGEN_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/codegen_int.h"
#include "schedule/schedule.h"
#include "tests/cpu.h"
#include "tests/schedule/examples.h"

#define CALL(call)                                                                                 \
    do {                                                                                           \
        at_error err = {.status = AT_OK};                                                          \
        if ((call) != AT_OK) fail_msg("%s", err.text);                                             \
    } while (0)

/* Made before and removed behind a group of tests. */
extern char folder[];
int make_folder(void **state);
int remove_folder(void **state);

/* A program in its notations; sizes "N=1 Y=35" become symbols. */
typedef struct program {
    const char *name, *sizes, *compute, *tree;
} program;
at_program *program_of(at_arena *a, const program *p); /* built and verified */
/* The same, lowered until that pass, verified after each. */
at_low *lowered_for(at_arena *a, const program *p, at_dialect dialect, const at_target *target,
                    const char *until);

/* A 3x3 convolution as im2col and a product, whose last panel may be a shorter one. */
#define CONV_COMPUTE                                                                               \
    "data[N, H, W, CI] : input\n"                                                                  \
    "weight[X, K]      : weight\n"                                                                 \
    "im2col[y:Y, k:K]  = inside ? data[n, ih, iw, c] : 0\n"                                        \
    "    where {n, h:H, w:W} = y, {kh:3, kw:3, c:CI} = k,\n"                                       \
    "          ih = h + kh - 1, iw = w + kw - 1,\n"                                                \
    "          inside = 0 <= ih && ih < H && 0 <= iw && iw < W\n"                                  \
    "packw[p:(X + B - 1)/B, k:K, b:B] = x < X ? weight[x, k] : 0\n"                                \
    "    where x = p*B + b\n"                                                                      \
    "acc[y:Y, x:X]     = sum(k:K) im2col[y, k] * packw[x/B, k, x%B]\n"
#define CONV_SIZES(co, xo, xi)                                                                     \
    "N=1 H=5 W=7 CI=3 Y=35 K=27 k9=9 ci=3 yt=1 yo=5 yi=7 ko=9 ki=3 xt=1 X=" #co " xo=" #xo         \
    " xi=" #xi " B=" #xi
#define PLAIN "out[y:Y, x:X] = acc[y, x]\n"

#endif
