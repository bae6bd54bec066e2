/* tests/fuzz/fuzz.h: readers of foreign texts and bytes, fed with anything. A target is one reader
 * and what must hold of whatever it accepts; a fault is AT_BUG or the sanitizers' to report.
 *
 * `make fuzz` runs each target under libFuzzer: one program, the name it is called by chooses
 * (fuzz.c). `make test` runs all of them for a moment on seeds and mutations (test_fuzz_smoke.c).
 * A new target is one file and one row of FUZZ_TARGETS. */
#ifndef AT_TESTS_FUZZ_H
#define AT_TESTS_FUZZ_H

#include "base/base.h"

typedef struct fuzz_target {
    const char *name;
    void (*run)(const uint8_t *data, size_t size);
    bool (*seed)(int i, at_text *out); /* an input worth starting from; false: there are no more */
    int cost;                          /* of a run: make test does so many times fewer */
} fuzz_target;

#define FUZZ_TARGETS(T)                                                                            \
    T(ansor)                                                                                       \
    T(apply)                                                                                       \
    T(args)                                                                                        \
    T(compute)                                                                                     \
    T(config)                                                                                      \
    T(convert)                                                                                     \
    T(expr)                                                                                        \
    T(frame)                                                                                       \
    T(filter)                                                                                      \
    T(head)                                                                                        \
    T(json)                                                                                        \
    T(layers)                                                                                      \
    T(log)                                                                                         \
    T(message)                                                                                     \
    T(mtx)                                                                                         \
    T(npy)                                                                                         \
    T(onnx) T(page) T(pick) T(plot) T(record) T(shown) T(space) T(speeds) T(steps) T(te) T(tree)

#define FUZZ_DECLARE(name) extern const fuzz_target fuzz_##name;
FUZZ_TARGETS(FUZZ_DECLARE)
extern const fuzz_target *const fuzz_targets[]; /* NULL-terminated */

/* data as text, up to its first NUL, in memory of exactly that size; free() it. */
char *fuzz_text(const uint8_t *data, size_t size);
/* Input number i that fuzzing found worth keeping, from tests/fuzz/corpus/NAME.txt: one per line,
 * as in C strings. AT_FUZZ_KEEP=FOLDER build-fuzz/fuzz_NAME prints a folder of inputs so. */
bool fuzz_kept(const fuzz_target *t, int i, at_text *out);
/* For `seed`: text number i of a NULL-terminated list. */
bool fuzz_seed_of(const char *const *texts, int i, at_text *out);
/* JSON prints what is no UTF-8 as U+FFFD: such texts do not come back as they were. */
bool fuzz_is_utf8(const char *text);
/* The two spellings must be the same. */
void fuzz_expect_same(const at_text *first, const at_text *again);

/* Changes a few places of an input in `most` bytes of memory; returns its new size (mutate.c). */
size_t fuzz_mutate(const fuzz_target *t, at_rng *rng, uint8_t *data, size_t size, size_t most);

/* What libFuzzer calls (fuzz.c), and what it offers. Arguments of the program: a folder of inputs,
 * which the seeds are written to. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

#endif
