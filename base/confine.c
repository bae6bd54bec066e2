/* base/confine.c: from a call on, this process can do nothing but compute: a filter in the kernel
 * (seccomp) lets through the system calls of a short table. The only user of libseccomp. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What an argument of a call must be. */
typedef enum test { ANY, IS, IS_NOT, HAS_BITS } test;
typedef enum operand { OF_ROW, OWN_PROCESS, TALK } operand; /* which number it is compared with */

typedef struct argument {
    unsigned index;
    test test;
    operand which;
    uint64_t value; /* OF_ROW */
} argument;

typedef struct allowed {
    int call;
    argument arguments[2];
} allowed;

#define CALL(name) SCMP_SYS(name)
#define THREAD_FLAGS (CLONE_VM | CLONE_THREAD | CLONE_SIGHAND)

/* docs/notes/security.md tells why each is here. */
static const allowed table[] = {
    /* Memory. What is shared with a file stays read-only: no descriptor but the talk's is open for
     * writing. */
    {CALL(mmap), {{0}}},
    {CALL(munmap), {{0}}},
    {CALL(mremap), {{0}}},
    {CALL(mprotect), {{0}}},
    {CALL(madvise), {{0}}},
    {CALL(brk), {{0}}},
    /* Time. */
    {CALL(clock_gettime), {{0}}},
    {CALL(clock_getres), {{0}}},
    {CALL(clock_nanosleep), {{0}}},
    {CALL(getrusage), {{0}}},
    {CALL(setitimer), {{0}}},
    {CALL(restart_syscall), {{0}}},
    /* Threads of this process. */
    {CALL(clone), {{0, HAS_BITS, OF_ROW, THREAD_FLAGS}}},
    {CALL(futex), {{0}}},
    {CALL(set_robust_list), {{0}}},
    {CALL(rseq), {{0}}},
    {CALL(membarrier), {{0}}},
    {CALL(set_tid_address), {{0}}},
    {CALL(gettid), {{0}}},
    {CALL(getpid), {{0}}},
    {CALL(getcpu), {{0}}},
    {CALL(sched_yield), {{0}}},
    {CALL(sched_getaffinity), {{0}}},
    {CALL(sched_setaffinity), {{0, IS, OF_ROW, 0}}},
    {CALL(prlimit64), {{0, IS, OF_ROW, 0}, {2, IS, OF_ROW, 0}}},
    {CALL(getrandom), {{0}}},
    /* Signals to itself, and handlers that the program and its threads set while they go on. */
    {CALL(tgkill), {{0, IS, OWN_PROCESS, 0}}},
    {CALL(rt_sigaction), {{0, IS_NOT, OF_ROW, SIGSYS}}},
    {CALL(rt_sigprocmask), {{0}}},
    {CALL(rt_sigreturn), {{0}}},
    {CALL(sigaltstack), {{0}}},
    /* Descriptors that are open: they are read-only but for the one that it talks through. */
    {CALL(read), {{0}}},
    {CALL(pread64), {{0}}},
    {CALL(lseek), {{0}}},
    {CALL(fstat), {{0}}},
    {CALL(newfstatat), {{3, IS, OF_ROW, AT_EMPTY_PATH}}},
    {CALL(fcntl), {{1, IS, OF_ROW, F_DUPFD_CLOEXEC}}},
    {CALL(close), {{0}}},
    {CALL(poll), {{0}}},
    {CALL(ppoll), {{0}}},
    {CALL(recvfrom), {{0, IS, TALK, 0}}},
    {CALL(recvmsg), {{0, IS, TALK, 0}}},
    {CALL(sendmsg), {{0, IS, TALK, 0}}},
    {CALL(exit), {{0}}},
    {CALL(exit_group), {{0}}},
};

/* A sanitizer's words go to standard error, and it looks around first. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static struct scmp_arg_cmp comparison(const argument *a, int talk_fd) {
    uint64_t value = a->which == OWN_PROCESS ? (uint64_t)getpid()
                     : a->which == TALK      ? (uint64_t)talk_fd
                                             : a->value;
    if (a->test == HAS_BITS) return SCMP_CMP(a->index, SCMP_CMP_MASKED_EQ, value, value);
    return SCMP_CMP(a->index, a->test == IS_NOT ? SCMP_CMP_NE : SCMP_CMP_EQ, value);
}

/* Negative errno, as libseccomp has it. A call that this architecture has not got is no rule. */
static int allow(scmp_filter_ctx filter, const allowed *row, int talk_fd) {
    struct scmp_arg_cmp comparisons[2];
    unsigned n = 0;
    for (int i = 0; i < 2 && row->arguments[i].test != ANY; i++) {
        if (row->arguments[i].which == TALK && talk_fd < 0) return 0;
        comparisons[n++] = comparison(&row->arguments[i], talk_fd);
    }
    int failed = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, row->call, n, comparisons);
    return failed == -EDOM ? 0 : failed;
}

static int fill(scmp_filter_ctx filter, const at_confinement *c) {
    int failed = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_TRAP);
    /* Whatever threads there are already. */
    if (!failed) failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    for (size_t i = 0; i < sizeof table / sizeof *table && !failed; i++)
        failed = allow(filter, &table[i], c->talk_fd);
    /* The C library goes on with clone, whose flags a filter can see. */
    if (!failed) failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), CALL(clone3), 0);
    for (int fd = 0; fd < 64 && !failed; fd++)
        if (c->writes >> fd & 1 || (SANITIZED && fd == STDERR_FILENO))
            failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, CALL(write), 1,
                                      SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)fd));
    if (!failed && SANITIZED)
        failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, CALL(openat), 1,
                                  SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, 0));
    if (!failed && SANITIZED) failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, CALL(readlink), 0);
    return failed;
}

bool at_confine(const at_confinement *c, char *why, size_t why_bytes) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
    int failed = filter ? fill(filter, c) : -ENOMEM;
    if (!failed) failed = seccomp_load(filter);
    if (filter) seccomp_release(filter);
    if (failed) snprintf(why, why_bytes, "%s", strerror(-failed));
    return !failed;
}

const char *at_call_name(int number, char *text, size_t text_bytes) {
    char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
    if (name) snprintf(text, text_bytes, "%s", name);
    else snprintf(text, text_bytes, "system call %d", number);
    free(name);
    return text;
}
