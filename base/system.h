/* base/system.h: clock, signals, files, locks, and code of others. */
#ifndef AT_BASE_SYSTEM_H
#define AT_BASE_SYSTEM_H

#include "base/text.h"

/* ---- clock, signals and files (os.c)
 * ---------------------------------------------------------------------- */

int64_t at_now_ns(void);                   /* CLOCK_MONOTONIC */
double at_seconds_since(int64_t start_ns); /* on that clock */
double at_wall_time_s(void);               /* seconds since the epoch */
const char *at_signal_name(int signal);    /* "SIGSEGV"; "signal 40" if unnamed */
/* Opens for reading without waiting for anybody: a pipe must have a writer, or get one within two
 * seconds. AT_E_INPUT names path and reason; a directory is none to read. */
at_status at_open_input(const char *path, int *fd, at_error *err);
/* As at_open_input of a file alone: a device may never end. */
at_status at_open_file(const char *path, int *fd, at_error *err);
/* Whole file of at most so many bytes, NUL-terminated, owned by arena. AT_E_INPUT names path and
 * reason. */
at_status at_read_file(at_arena *a, const char *path, size_t most_bytes, char **text, size_t *len,
                       at_error *err);
/* The same of what is open, as path is named in errors; takes fd. */
at_status at_read_open(at_arena *a, int fd, const char *path, size_t most_bytes, char **text,
                       size_t *len, at_error *err);
at_status at_read_stdin(at_arena *a, size_t most_bytes, char **text, size_t *len, at_error *err);

/* ---- files that a file names (below.c) ------------------------------------------------------- */

/* Does a name lead into the folder of what names it, or below? No absolute path, no "..". */
bool at_leads_below(const char *location);
/* Opens it step by step, so that no part of the way is a link; -1: *why. */
int at_open_below(const char *folder, const char *location, const char **why);
const char *at_folder_of(at_arena *a, const char *path); /* "." where path has none */

/* The user's folder for what can be made again, as the XDG base directory specification has it;
 * NULL: there is none, nor a home to make it in. */
const char *at_cache_folder(at_arena *a);
/* Makes the folders that path lies in, for this user alone; path is changed meanwhile. */
at_status at_make_folder(char *path, at_error *err);

/* ---- output files (output.c) ----------------------------------------------------------------- */

/* Whether a file of another kind is replaced, too. */
typedef enum at_force {
    AT_FORCE_NO,
    AT_FORCE_YES,
    AT_FORCE_OFFERED, /* no, but --force would: the refusal says so */
} at_force;
/* What may be replaced. */
typedef struct at_output_rules {
    const char *kind; /* "log": what the verb writes, in words */
    bool (*is_kind)(const char *head,
                    size_t len); /* of the first 64 KiB, NUL behind; NULL: all are */
    at_force force;
    bool is_derived; /* a name that the user did not give: no symbolic link is followed */
    bool is_locked;  /* by the caller, who holds at_open_locked of it */
} at_output_rules;
typedef struct at_output at_output;
/* A file that appears whole or not at all: what is added goes to a file beside path, and the old
 * one stays as it was until the commit. It keeps its mode. A symbolic link is followed: the file
 * behind it is replaced. Devices, pipes and /dev/stdout are written in place, at the commit.
 * rules (may be NULL: any file may be replaced) is borrowed. AT_E_USAGE: an existing file is of
 * another kind; AT_E_LOCKED: a run is writing it; AT_E_OUTPUT. */
at_status at_output_open(const char *path, const at_output_rules *rules, at_output **out,
                         at_error *err);
at_status at_output_add(at_output *f, const void *data, size_t len, at_error *err);
/* All of them are on the disk before the first appears under its name. */
at_status at_output_commit(at_output *const *files, int n, at_error *err);
void at_output_close(at_output *f); /* takes; drops what was not committed; NULL is fine */
/* All of this in one call. */
at_status at_write_output(const char *path, const at_output_rules *rules, const char *text,
                          size_t len, at_error *err);
at_status at_write_file(const char *path, const char *text, size_t len, at_error *err);
/* Whether they are one file: by name, by a hard link or by a symbolic one. */
bool at_same_file(const char *x, const char *y);
/* What stands behind the last slash. */
const char *at_base_name(const char *path);
/* The same without its ending: net of nets/net.onnx. */
const char *at_base_stem(at_arena *a, const char *path);
/* Does the path end so, behind at least one byte? */
bool at_ends_in(const char *path, const char *ending);

/* ---- locks (lock.c) -------------------------------------------------------------------------- */

/* Is there a folder for the file, which may be new, and may files be made in it? AT_E_OUTPUT */
at_status at_check_folder(const char *path, at_error *err);
/* Opens (flags as of open) and locks a file; closing gives the lock back. *fd = -1: it is not there
 * and flags do not make it. What is no regular file is opened and not locked. AT_E_LOCKED names the
 * owner; AT_E_OUTPUT. */
at_status at_open_locked(const char *path, int flags, int *fd, at_error *err);
/* Whether path still is the file of fd: it may have been deleted or replaced. */
bool at_is_still_there(int fd, const char *path);

/* ---- when to end (halt.c) -------------------------------------------------------------------- */

/* Whether somebody asked for an end: a signal handler, or another thread. flag may be NULL. */
static inline bool at_is_set(const volatile int *flag) {
    return flag && __atomic_load_n(flag, __ATOMIC_RELAXED);
}
/* All that this thread does is to end once *stop is set (NULL: by nobody), and half a second after
 * end_ns on the clock of at_now_ns (0: never). Both are none at first. */
typedef struct at_halt {
    const volatile int *stop;
    int64_t end_ns;
} at_halt;
void at_halt_when(const at_halt *when);
at_halt at_halt_now(void); /* as it was told last */
bool at_halts(void);
/* The same for who was given a flag of his own; NULL: what he does is short, and not to be stopped.
 */
bool at_is_stopped(const volatile int *flag);
/* AT_E_INTERRUPTED, or, where the time is over, AT_E_NO_VALID. */
at_status at_fail_stopped(at_error *err);
/* Whether what has failed with s has ended for no other reason. */
bool at_is_end(at_status s);

/* ---- foreign code (attempt.c) ---------------------------------------------------------------- */

typedef enum at_attempt_end {
    AT_ATTEMPT_DONE,
    AT_ATTEMPT_CRASHED,
    AT_ATTEMPT_EXITED, /* it ended the process */
    AT_ATTEMPT_TIMEOUT,
    AT_ATTEMPT_MEMORY,  /* it took more than 1 GiB */
    AT_ATTEMPT_STOPPED, /* *stop was set, or Ctrl-C reached the child */
    AT_ATTEMPT_REFUSED, /* it called what computing does not need; its number is the signal's */
    AT_ATTEMPT_NO_PROCESS
} at_attempt_end;
/* Runs f in a child process that dies with this one; what it does there leaves no trace but how it
 * ended. confined: it may do nothing but compute, where the system can hold it to that. An abort
 * (AT_BUG) counts as done: it comes again where it is seen. stop may be NULL. */
at_attempt_end at_attempt(void (*f)(void *ctx), void *ctx, bool confined, double timeout_s,
                          const volatile int *stop, int *signal_number);
/* AT_E_INPUT "crashed: SIGSEGV", "did not end within 10 s; ...", ...; AT_E_INTERRUPTED; AT_OK where
 * it is done. */
at_status at_attempt_fail(at_attempt_end end, int signal_number, double timeout_s, at_error *err);

/* What code that is confined may do beside computing (confine.c). */
typedef struct at_confinement {
    int talk_fd;     /* a socket that it sends and receives messages through; -1: none */
    uint64_t writes; /* descriptors that it may write to, as bits */
} at_confinement;
/* From now on the kernel refuses every system call of this process that computing does not need: a
 * refused one is a SIGSYS whose siginfo has its number. Files, sockets and processes are out of
 * reach; memory, time and threads of its own are not. There is no way back. All descriptors should
 * be read-only by then but for those named. false: this system has no such filter; why tells. */
bool at_confine(const at_confinement *c, char *why, size_t why_bytes);
/* From now on this process, and what it starts, writes, makes and removes files only below these
 * folders (limit_writes.c); what is open stays open. false: this system cannot. */
bool at_limit_writes(const char *const *folders, int n);
/* The name of a system call, "openat". Returns text. */
const char *at_call_name(int number, char *text, size_t text_bytes);

#define AT_MAX_THREADS 1024 /* that a kernel may run on */

#endif
