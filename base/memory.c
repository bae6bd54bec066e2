/* base/memory.c: there is none left. */
#include "base/base.h"

#include <unistd.h>

enum {
#define AT_STATUS(code, exit_code, text) EXIT_##code = exit_code,
#include "base/status.def"
#undef AT_STATUS
};

_Noreturn void at_out_of_memory(size_t size_bytes) {
    if (size_bytes) fprintf(stderr, "autotune: out of memory (%zu bytes asked)\n", size_bytes);
    else fputs("autotune: out of memory\n", stderr);
    _exit(EXIT_AT_E_BUG);
}
