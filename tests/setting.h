/* tests/setting.h: numbers that the environment gives a test. */
#ifndef AT_TESTS_SETTING_H
#define AT_TESTS_SETTING_H

#include <stdlib.h>

static inline long setting(const char *name, long otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtol(s, NULL, 10) : otherwise;
}

#endif
