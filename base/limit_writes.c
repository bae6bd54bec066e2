/* base/limit_writes.c: from a call on, this process and those that it starts write below a few
 * folders only (Landlock, where the kernel has it). Source: Linux, Documentation/userspace-api/
 * landlock.rst. */
#include "base/base.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Since the first version; what later ones know besides stays as it is. */
#define MAKE                                                                                       \
    (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |    \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | \
     LANDLOCK_ACCESS_FS_MAKE_SYM)
#define REMOVE (LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE)
#define WRITE (LANDLOCK_ACCESS_FS_WRITE_FILE | MAKE | REMOVE)

/* A folder that is not there cannot be written to. */
static bool allow(int rules, const char *folder) {
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return true;
    struct landlock_path_beneath_attr below = {.allowed_access = WRITE, .parent_fd = fd};
    long failed = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
    close(fd);
    return !failed;
}

bool at_limit_writes(const char *const *folders, int n) {
    struct landlock_ruleset_attr handled = {.handled_access_fs = WRITE};
    int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    if (rules < 0) return false;
    bool done = true;
    for (int i = 0; i < n && done; i++) done = allow(rules, folders[i]);
    done = done && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
    return done;
}
