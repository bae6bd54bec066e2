/* remote/link.h: frames to and from one peer, over the pipes of a process or the files of a drop
 * box. Nothing here waits: whoever has several peers polls at_link_fds. */
#ifndef AT_REMOTE_LINK_H
#define AT_REMOTE_LINK_H

#include <poll.h>
#include <sys/types.h>

#include "remote/frame.h"

enum { AT_LAST_WORDS = 2048 };

typedef struct at_link {
    int in, out;          /* -1: none */
    int errors;           /* standard error of the process; -1: none */
    pid_t pid;            /* of the process; 0: none */
    struct at_drop *drop; /* drop_box.h; NULL: pipes */
    bool greets;          /* the peer's magic line is still to come */
    bool is_closed;       /* nothing more will come */
    bool owns_pipes;
    bool takes_tasks;    /* which may be longer than all else that is accepted */
    at_text got, unsent; /* of what came, and what is to go, so much is done with: */
    size_t taken, sent;
    char last_words[AT_LAST_WORDS]; /* the end of what came on errors */
} at_link;

/* Of no peer yet. */
static inline at_link at_link_none(void) { return (at_link){.in = -1, .out = -1, .errors = -1}; }
/* Pipes that are there already; borrowed. */
void at_link_of_pipes(at_link *l, int in, int out);
/* Starts a program with its standard files on pipes, and has it sent a signal where the calling
 * thread ends without a word: SIGTERM; or SIGINT, of which srun lets a task that runs end by itself
 * (SIGTERM has it killed) and gives up what still waits for nodes. AT_E_BUG */
at_status at_link_start(at_link *l, char *const argv[], int orphan_signal, at_error *err);
/* Adds what to poll for. */
enum { AT_LINK_FDS = 4 };
int at_link_fds(const at_link *l, struct pollfd *out);
/* What the program said last on errors; "": nothing. */
const char *at_link_last_line(at_link *l);
/* Reads what there is and writes what can be written. */
void at_link_pump(at_link *l);
/* The two halves; of different threads, where each is one's own. */
void at_link_pump_in(at_link *l);
void at_link_pump_out(at_link *l);
bool at_link_has_unsent(const at_link *l);
/* Whether at_link_fds tell of what comes; else it must be looked for again and again. */
bool at_link_is_told(const at_link *l);
/* Appends a frame to what is to be sent. AT_E_USAGE: it is too long. */
at_status at_link_send(at_link *l, const at_frame *f, at_error *err);
void at_link_send_raw(at_link *l, const void *data, size_t len);
/* The next frame that has come whole; *there false: none. Texts live in a. AT_E_INPUT: garbage. */
at_status at_link_receive(at_link *l, at_arena *a, at_frame *f, bool *there, at_error *err);
/* Tells a process to end by closing its input. */
void at_link_hang_up(at_link *l);
/* Whether its process is over; it is taken note of once. */
bool at_link_is_over(at_link *l);
/* Frees everything; a process that is still there is killed, with its group. */
void at_link_close(at_link *l);

#endif
