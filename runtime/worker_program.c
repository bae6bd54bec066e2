/* runtime/worker_program.c: the worker as a program of its own, which the library starts: the
 * program that the library is part of is not ours to start again. */
#include <stdio.h>

#include "runtime/runtime.h"

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    fputs(
        "autotune-worker runs kernels for libautotune, which starts it; autotune is the program\n",
        stderr);
    return 2;
}
