/* base/base.h: what every other folder stands on and nothing of tuning: status and error, arena,
 * growable vector, text buffer, PCG32, hash, clock, files, JSON, and the integer/float expressions
 * that sizes, filters and computations are written in.
 *
 * Ownership words used in all headers: *takes* (the callee frees it), *borrows* (only until the
 * call returns, unless said otherwise), *returns owned* (the caller frees it). What an arena
 * allocates lives until that arena is reset or freed. Out of memory aborts with a message. */
#ifndef AT_BASE_H
#define AT_BASE_H

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/numbers.h"
#include "base/system.h"
#include "base/json.h"
#include "base/type.h"
#include "base/expr.h"

#endif
