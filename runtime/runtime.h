/* runtime/runtime.h: CPU facts, the shared tensor store, compilers, and the worker that compiles,
 * runs, checks and times kernels.
 *
 * The worker is this same executable started again with the hidden verb `--worker`, or, where this
 * is a library in the program of others, one that was installed with it; it has no
 * thread of ours but its own, is pinned to its core, limits its own memory, and dies with its
 * parent. A job is complete in itself: C text, machine-code tiles, tensor table, sizes, limits; so
 * a test can inject any faulty kernel. The parent watches the time and kills; a lost worker costs
 * one try. Source of the compiling rules: libtcc as measured (own executable arena, -nostdlib
 * -nostdinc -Werror). */
#ifndef AT_RUNTIME_H
#define AT_RUNTIME_H

#include "runtime/cpu.h"
#include "runtime/inputs.h"
#include "runtime/job.h"
#include "runtime/worker.h"

#endif
