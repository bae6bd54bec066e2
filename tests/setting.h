/* tests/setting.h: numbers that the environment gives a test. */
#ifndef AT_TESTS_SETTING_H
#define AT_TESTS_SETTING_H

#include <stdlib.h>

static inline long setting(const char *name, long otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtol(s, NULL, 10) : otherwise;
}

/* How many random points: what the environment says by that name; else `usual`, of which
 * AT_FEWER=6, as builds with sanitizers have it, leaves a sixth. */
static inline long how_many(const char *name, long usual) {
    const long fewer = setting("AT_FEWER", 1);
    return setting(name, (usual + fewer - 1) / fewer);
}

#endif
