#include "tests/codegen/support.h"

#include <stdio.h>
#include <stdlib.h>

char folder[] = "/tmp/autotune-codegen-XXXXXX";

int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

int remove_folder(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}
