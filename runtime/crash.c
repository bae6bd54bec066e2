/* runtime/crash.c: the last word of a worker whose kernel crashed: signal, address, the buffer it
 * lies beside and the tile it happened in. The handler only computes and sends; the parent makes
 * the text. */
#include "runtime/arch.h"
#include "runtime/code.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEAR_BYTES (4 << 20) /* an address further from every buffer than this tells nothing */

static struct {
    int fd;
    volatile at_phase phase;
    const at_place *places;
    int num_places;
    uint64_t stack_low, stack_high;
    volatile int opened; /* what the next openat gets; 0: nothing */
} watch;

static void locate(at_crash *c) {
    c->place = AT_CRASH_NOWHERE;
    uint64_t best = NEAR_BYTES;
    for (int i = 0; i < watch.num_places; i++) {
        uint64_t start = (uint64_t)(uintptr_t)watch.places[i].start;
        uint64_t end = start + (uint64_t)watch.places[i].size_bytes;
        uint64_t off = c->address < start  ? start - c->address
                       : c->address >= end ? c->address - end
                                           : 0;
        bool inside = c->address >= start && c->address < end;
        if (!inside && (off > best || (off == best && c->place >= 0))) continue;
        best = off;
        c->place = i;
        c->distance = inside ? INT64_MIN : c->address < start ? -(int64_t)off : (int64_t)off;
        if (inside) return;
    }
    if (c->place < 0 && c->address >= watch.stack_low && c->address < watch.stack_high) {
        c->place = AT_CRASH_STACK;
    }
}

static _Noreturn void tell(const at_crash *c) {
    at_channel channel = {.fd = watch.fd, .deadline_ns = at_awake_ns() + NS_PER_S};
    at_msg_send(&channel, AT_MSG_CRASH, c, sizeof *c);
    _exit(128 + c->signal);
}

/* A system call that the filter has refused. What it points to may be anywhere: nobody looks. */
static void on_refused(int signal, siginfo_t *info, void *context) {
    if (info->si_syscall == SYS_openat && watch.opened) {
        at_arch_call_return(context, fcntl(watch.opened, F_DUPFD_CLOEXEC, 0));
        watch.opened = 0;
        return;
    }
    at_fault fault = at_arch_fault(signal, context);
    at_crash c = {.signal = signal, .phase = watch.phase, .call = info->si_syscall};
    c.place = AT_CRASH_NOWHERE;
    c.blob = at_tcc_blob_at(fault.instruction, &c.blob_offset);
    tell(&c);
}

static void on_crash(int signal, siginfo_t *info, void *context) {
    at_fault fault = at_arch_fault(signal, context);
    at_crash c = {.signal = signal, .code = info->si_code, .phase = watch.phase};
    bool has_address = signal != SIGABRT;
    c.address = has_address ? (uint64_t)(uintptr_t)info->si_addr : 0;
    c.is_page_fault = fault.is_page_fault;
    c.is_write = fault.is_write;
    c.is_jump = c.is_page_fault && c.address == fault.instruction;
    if (c.is_page_fault) locate(&c);
    else c.place = AT_CRASH_NOWHERE;
    c.blob = at_tcc_blob_at(fault.instruction, &c.blob_offset);
    tell(&c);
}

void at_crash_watch(int fd) {
    /* Large enough for the register state that AVX-512 and AMX put on it. */
    static char stack[1 << 16];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    struct rlimit limit;
    watch.fd = fd;
    watch.stack_high = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    getrlimit(RLIMIT_STACK, &limit);
    /* A frame larger than what is left misses the stack by its own size. */
    watch.stack_low = watch.stack_high - limit.rlim_cur - NEAR_BYTES;
    sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_sigaction = on_crash,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
    action.sa_sigaction = on_refused;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSYS, &action, NULL);
}

void at_crash_phase(at_phase phase) { watch.phase = phase; }

void at_crash_places(const at_place *places, int n) {
    watch.places = places;
    watch.num_places = n;
}

void at_crash_answer_open(int fd) { watch.opened = fd; }

/* ---- the parent's side ---------------------------------------------------------------------- */

static void add_where(at_text *t, const at_crash *c, const at_job *job) {
    const char *verb = c->is_jump ? "jump" : c->is_write ? "write" : "read";
    at_text_addf(t, " at 0x%llx, %s", (unsigned long long)c->address, verb);
    if (c->place == AT_CRASH_STACK) at_text_add(t, " beyond the stack");
    else if (c->address < 4096) at_text_add(t, " through a null pointer");
    if (c->place < 0 || c->place > job->num_bufs) return;
    const char *name = c->place == job->num_bufs ? "workspace" : job->bufs[c->place].name;
    if (c->distance == INT64_MIN) at_text_addf(t, " inside %s, which is read-only", name);
    else if (c->distance < 0)
        at_text_addf(t, " %lld bytes before %s", -(long long)c->distance, name);
    else if (c->distance > 0)
        at_text_addf(t, " %lld bytes behind the end of %s", (long long)c->distance, name);
    else at_text_addf(t, " right at the end of %s", name);
}

void at_crash_text(const at_crash *c, const at_job *job, char *text, size_t text_size) {
    at_text t = {0};
    char name[64];
    if (c->signal == SIGSYS) {
        at_text_addf(&t, "%s called %s, and may do nothing but compute",
                     c->phase == AT_PHASE_COMPILE ? "loading the kernel" : "the kernel",
                     at_call_name(c->call, name, sizeof name));
    } else {
        if (c->phase == AT_PHASE_COMPILE) at_text_add(&t, "the compiler crashed: ");
        at_text_add(&t, at_signal_name(c->signal));
    }
    if (c->is_page_fault) add_where(&t, c, job);
    else if (c->signal == SIGFPE && c->code == FPE_INTDIV) at_text_add(&t, ", integer division");
    else if (c->signal == SIGILL) at_text_add(&t, ", illegal instruction");
    else if (c->signal == SIGSEGV) at_text_add(&t, ", address misaligned or not canonical");
    if (c->blob >= 0 && c->blob < job->num_blobs) {
        at_text_addf(&t, ", in %s+0x%llx", job->blobs[c->blob].symbol,
                     (unsigned long long)c->blob_offset);
    } else if (c->phase == AT_PHASE_PACK) {
        at_text_add(&t, ", in the pack function");
    }
    snprintf(text, text_size, "%s", at_text_str(&t));
    at_text_free(&t);
}
