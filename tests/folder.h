/* tests/folder.h: a folder of its own, which a group of tests begins and ends with. */
#ifndef AT_TESTS_FOLDER_H
#define AT_TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>

static char folder[] = "/tmp/autotune-test-XXXXXX";

static inline int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state) {
    char command[sizeof folder + 8];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

#endif
