/* tests/folder.h: a folder of its own, which a group of tests begins and ends with, or works in. */
#ifndef AT_TESTS_FOLDER_H
#define AT_TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/autotune-test-XXXXXX", folder_before[4096];

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

static inline int enter_folder(void **state) {
    return !getcwd(folder_before, sizeof folder_before) || make_folder(state) || chdir(folder);
}

static inline int leave_folder(void **state) {
    return chdir(folder_before) || remove_folder(state);
}

#endif
