/* runtime/runtime_int.h: what the files of this folder share: messages between parent and worker,
 * and the steps of a job inside the worker (load, place, pack, poison, run, check, time). */
#ifndef AT_RUNTIME_INT_H
#define AT_RUNTIME_INT_H

#include "runtime/runtime.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/types.h>

#define NS_PER_S 1000000000LL

/* ---- store (tensors.c) ---------------------------------------------------------------------- */

/* Open for reading only: workers have it. */
int at_store_read_fd(const at_store *s);
/* The same file under a number that the worker can inherit, should this program have been started
 * with stdin, stdout or stderr closed. Takes fd; -1 stays -1. */
int at_fd_above_stdio(int fd);
int64_t at_store_bytes(const at_store *s); /* size of the file, a multiple of the page size */

/* ---- input files (npy.c, npz.c, mtx.c, input_sparse.c) -------------------------------------- */

/* An array file: little-endian, C order, all of it there. data lies in the file's bytes. */
typedef struct at_npy {
    const char *what; /* in errors */
    char descr[32];
    bool fortran;
    int num_dims;
    int64_t dims[AT_INPUT_DIMS], count, item_bytes;
    const char *data;
} at_npy;
at_status at_npy_open(const char *what, const char *bytes, size_t len, at_npy *out, at_error *err);
/* Its elements, which are finite floats, or integers; AT_E_INPUT for another type. */
at_status at_npy_floats(at_arena *a, const at_npy *x, const float **out, at_error *err);
at_status at_npy_integers(at_arena *a, const at_npy *x, const int64_t **out, at_error *err);

at_status at_input_npz(at_arena *a, const char *path, at_input *out, at_error *err);

typedef struct at_entry {
    int32_t row, column;
    float value;
} at_entry;
/* Entries within a matrix, which are put in order; dims are set. AT_E_INPUT: one occurs twice. */
at_status at_input_of_entries(at_arena *a, const char *what, at_entry *entries, int64_t n,
                              bool valued, at_input *out, at_error *err);

/* ---- CPUs (cpu.c) --------------------------------------------------------------------------- */

const cpu_set_t *at_cpus_given(void); /* before at_cpu_leave; valid until the next call */

/* ---- time limits (awake.c) ------------------------------------------------------------------ */

/* For deadlines: stands still while this process is stopped or the machine asleep. */
int64_t at_awake_ns(void);
/* Whether that happened since: what was measured meanwhile says nothing. */
typedef struct at_nap {
    int64_t stopped_ns, slept_ns;
} at_nap;
at_nap at_nap_begin(void);
bool at_napped(const at_nap *since);
/* poll() for a short while: 1 something is there, 0 nothing yet (look at what else may have
 * happened, and wait again), or one of these. deadline_ns as of at_awake_ns; 0: none. */
enum { AT_WAIT_LATE = -1, AT_WAIT_FAILED = -2 };
int at_wait(struct pollfd *p, int n, int64_t deadline_ns);

/* ---- messages (proto.c) ---------------------------------------------------------------------
 *
 * Each is a head (magic, type, length) and a payload. Parent and worker are of the same version, so
 * plain structures travel as they are; strings and arrays follow them as padded pieces. */

/* What both must agree on: a number that goes up when messages change, and the sizes of what they
 * hold. */
enum { AT_PROTOCOL = 8, AT_PROTOCOL_BYTES = 96 };
void at_protocol_text(char out[AT_PROTOCOL_BYTES]);
/* So much of an outcome is sent: up to its last pair. */
size_t at_outcome_bytes(const at_outcome *o);

typedef enum at_msg_type {
    AT_MSG_READY = 1, /* worker: at_ready */
    AT_MSG_JOB,       /* parent: at_encode_job */
    AT_MSG_ANCHOR,    /* parent: the same, to be kept */
    AT_MSG_AHEAD,     /* parent: the same, its code only; worker: done, well or not */
    AT_MSG_COMPILED,  /* worker: compiled, the run begins */
    AT_MSG_AGAIN,     /* worker: so does one more run, which has the time limit for itself */
    AT_MSG_OUTPUT,  /* worker: at_output_head, then elements that nobody has expected values for */
    AT_MSG_OUTCOME, /* worker: at_outcome */
    AT_MSG_CRASH,   /* worker: at_crash, its last word */
    AT_MSG_PEAK,    /* parent: at_peak_job; worker: double, GFLOP/s or GB/s */
    AT_MSG_END
} at_msg_type;

typedef struct at_ready {
    char why_not[256];    /* the worker is none; empty: it is one */
    char unconfined[128]; /* why kernels may do more than compute; empty: they may not */
} at_ready;

/* A share of an output, for its place in the store. */
enum { AT_OUTPUT_BYTES = 1 << 20 }; /* behind the head, at most */
typedef struct at_output_head {
    int64_t buf, begin; /* which buffer of the job, and from which of its bytes on */
    int64_t run;        /* 0: the first; above: that of at_job.cover_runs, from 1 on */
} at_output_head;

typedef struct at_peak_job {
    int vector_set;
    int threads;
    bool of_dots;                      /* of dot products of bytes */
    int64_t read_bytes, written_bytes; /* of the bandwidth that is asked for instead; 0: of none */
} at_peak_job;

typedef enum at_io { AT_IO_OK, AT_IO_CLOSED, AT_IO_TIMEOUT, AT_IO_STOPPED, AT_IO_GARBLED } at_io;

typedef struct at_channel {
    int fd;
    int64_t deadline_ns;      /* at_awake_ns() beyond which waiting ends; 0: never */
    const volatile int *stop; /* may be NULL */
    int pass_fd;              /* is sent along, and stays the sender's; 0: none */
} at_channel;

typedef struct at_msg {
    at_msg_type type;
    size_t size_bytes, cap_bytes;
    char *data; /* malloc'd, reused by the next receive */
    int fd;     /* that came along, closed by the next receive; 0: none */
} at_msg;

at_io at_msg_send(const at_channel *c, at_msg_type type, const void *data, size_t size_bytes);
at_io at_msg_receive(const at_channel *c, at_msg *m);
void at_encode_job(const at_job *job, int64_t store_bytes, at_text *out);
/* The size of the store that its offsets are for; false if the message is not a job. */
bool at_job_store_bytes(const at_msg *m, int64_t *bytes);
/* Takes m->fd; pointers in *job lead into m->data; false if the message is not a job. */
bool at_decode_job(at_msg *m, at_job *job);

/* ---- running a system compiler (keeper.c) ---------------------------------------------------- */

typedef struct at_compilation {
    char **argv, **env;
    /* To be made for it, and gone afterwards; NULL: it runs where this process does, is no compiler
     * of a text, may take the time of many cores, and what it prints is heard, too. */
    const char *folder;
    const char *source; /* is kernel.c in it, NULL: none; the object is expected as kernel.so */
    const char *entry;  /* is entry.c in it, NULL: none */
    double timeout_s;
    int64_t room_bytes; /* that must be left in the folder besides, else AT_E_OUTPUT */
    const volatile int *stop;
} at_compilation;
typedef struct at_compiled {
    at_io io;   /* OK: it has ended; TIMEOUT; STOPPED; CLOSED: its keeper was killed, once more may
                   help */
    int status; /* as of waitpid */
    int64_t core_ns; /* that it and all it started took of their cores */
    int object;      /* a file in memory, owned; 0: there is none */
    at_text text;    /* what it said, owned */
} at_compiled;
/* AT_E_OUTPUT, AT_E_BUG: this machine has no folder, room, process, descriptor for it. */
at_status at_compiler_run(const at_compilation *c, at_compiled *out, at_error *err);
/* A new name below TMPDIR. AT_E_OUTPUT */
at_status at_compiler_folder(at_arena *a, const char *compiler, char **folder, at_error *err);

/* ---- the control (control.c) ----------------------------------------------------------------- */

extern const char *const at_control_source;
/* The control in place of a job: its buffers, no more workspace than it needs, not timed. object:
 * of gcc and clang, else NULL; bufs: as many as the job has. */
void at_control_job(const at_job *job, const char *object, at_buf *bufs, at_job *out);

/* ---- crashes (crash.c) ---------------------------------------------------------------------- */

typedef enum at_phase { AT_PHASE_IDLE, AT_PHASE_COMPILE, AT_PHASE_PACK, AT_PHASE_RUN } at_phase;

/* Where the kernel finds one buffer, or the workspace. [span, span_end) encloses it with the slack
 * that is ours and must stay as filled; it equals the buffer where there is none (inputs in the
 * store). */
typedef struct at_place {
    char *start;
    int64_t size_bytes;
    char *span, *span_end;
} at_place;

#define AT_CRASH_NOWHERE (-1)
#define AT_CRASH_STACK (-2)

typedef struct at_crash {
    int signal, code;
    at_phase phase;
    int is_page_fault, is_write, is_jump; /* a bool that was overwritten must not be looked at */
    uint64_t address;
    int place;        /* nearest buffer; num_bufs: the workspace; or one of AT_CRASH_* */
    int64_t distance; /* bytes from its start if negative, else from its end; INT64_MIN: inside */
    int call;         /* of SIGSYS: the system call that was refused */
    int blob;         /* the faulting instruction's tile, -1: other code */
    int64_t blob_offset;
} at_crash;

/* Worker: reports SIGSEGV and its kin to fd as AT_MSG_CRASH and ends the process. */
void at_crash_watch(int fd);
/* What the reports are about; places are borrowed until the next call. */
void at_crash_phase(at_phase phase);
void at_crash_places(const at_place *places, int n);
/* A confined process opens no file, but the loader asks for its object by name before it runs
 * anything of it: the next openat, and no other, gets a copy of fd. 0: none does. */
void at_crash_answer_open(int fd);
/* Parent: the report as text. */
void at_crash_text(const at_crash *c, const at_job *job, char *text, size_t text_size);

#endif
