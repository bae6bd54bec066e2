/* tests/codegen/objdump.h: a tile's machine code read back by GNU's objdump. */
#ifndef AT_TESTS_OBJDUMP_H
#define AT_TESTS_OBJDUMP_H

#include "codegen/tile/tile.h"

/* What objdump reads up to the return: a line per instruction without padding, jumps by the number
 * of the instruction they go to. file: where the code is written for it. */
void disassemble(at_arena *a, const at_tile *t, const char *file, at_text *out);
/* Fails at the first line that differs. */
void compare_lines(const char *found, const char *wanted, const char *what);
void skip_without_objdump(void);

#endif
