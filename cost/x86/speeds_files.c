/* cost/x86/speeds_files.c: the files of measured speeds beside it, which lie in the program as they
 * are. */
#include "cost/x86/cores.h"

#define KEPT(name)                                                                                 \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global at_x86_speeds_" #name "\n"                                                    \
            ".hidden at_x86_speeds_" #name "\n"                                                    \
            "at_x86_speeds_" #name ":\n"                                                           \
            ".incbin \"cost/x86/speeds_" #name ".json\"\n"                                         \
            ".byte 0\n"                                                                            \
            ".popsection\n")

KEPT(sapphirerapids);
KEPT(znver3);
KEPT(znver5);
