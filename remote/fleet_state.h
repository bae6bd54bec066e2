/* remote/fleet_state.h: the workers of a search, for the files that are parts of it (fleet*.c). */
#ifndef AT_REMOTE_FLEET_STATE_H
#define AT_REMOTE_FLEET_STATE_H

#include "remote/gate.h"
#include "remote/places.h"
#include "remote/remote.h"

/* Those that come in through a directory included. */
enum { AT_FLEET_WORKERS = 4096 };

typedef enum at_fleet_phase {
    AT_FLEET_DOWN,    /* to be started at retry_ns */
    AT_FLEET_STARTED, /* it has not said what it is */
    AT_FLEET_GREETED, /* it has the task */
    AT_FLEET_READY,
    AT_FLEET_GONE /* for good */
} at_fleet_phase;

typedef struct at_fleet_worker {
    int number;
    const at_spot *spot;
    const char *name;
    const char *box; /* of a directory: its folder */
    at_fleet_phase state;
    at_link link;
    bool ends; /* its process was told to; until kill_ns it may do so by itself */
    int64_t kill_ns;
    int64_t heard_ns, said_ns, retry_ns;
    int failures;
    bool was_there, has_left, is_useless;
    bool has_worked;    /* was ready once */
    bool compares;      /* it was asked to, and is ready once more then */
    bool is_queued;     /* to be heard */
    bool waits_to_send; /* epoll tells when more can be written */
    bool is_put;        /* something for it waits in the link for at_fleet_flush */
    char *told;         /* for the user; owned */
    char *node, *cpu;
    at_arena *arena; /* of the record that it sent when it was ready */
    at_record ready;
} at_fleet_worker;

typedef struct at_fleet_door {
    const at_spot *spot;
    at_gate *gate;
    at_fleet_worker *step; /* a process that starts those who come in; NULL: nobody of ours */
} at_fleet_door;

struct at_fleet {
    at_far far;
    at_arena *arena;
    at_spots spots;
    double lease_s;
    at_arena *task_arena;
    at_frame task; /* as it is sent */
    const at_json *task_args;
    bool has_turned; /* from another task to this one: what is said may be of that */
    int cores;       /* of a worker */
    at_fleet_worker *workers[AT_FLEET_WORKERS];
    int num_workers;
    int epoll;                   /* -1: none */
    int queue[AT_FLEET_WORKERS]; /* [num_queued] from first on, in a circle: who has something to
                                    say */
    int first, num_queued;
    int put[AT_FLEET_WORKERS]; /* [num_put]: for whom something waits to be sent */
    int num_put;
    int64_t looked_ns;   /* at all workers */
    bool looks_at_files; /* of some whose file system does not tell */
    at_fleet_door *gates;
    int num_gates;
    char *program; /* to be sent where it is missing */
    size_t program_bytes;
};

/* ---- a worker's course (fleet_worker.c) ------------------------------------------------------ */

/* Not started; as long as the fleet. */
at_fleet_worker *at_fleet_add(at_fleet *f, const at_spot *spot, const char *name);
void at_fleet_start(at_fleet *f, at_fleet_worker *w);
/* What comes from it is heard of; a file that is closed is not watched any more. */
void at_fleet_watch(at_fleet *f, const at_fleet_worker *w);
/* Where a pipe is full, that there is room again is waited for. */
void at_fleet_watch_room(at_fleet *f, at_fleet_worker *w);
void at_fleet_enqueue(at_fleet *f, at_fleet_worker *w); /* it has something to say */
bool at_fleet_is_open(const at_fleet_worker *w);
/* A worker that waits in Slurm's queue says nothing, and that is fine. */
bool at_fleet_is_silent(const at_fleet *f, const at_fleet_worker *w);
void at_fleet_say(at_fleet *f, at_fleet_worker *w, const at_frame *frame);
/* As at_fleet_say, with whatever else is put until at_fleet_flush. */
void at_fleet_put(at_fleet *f, at_fleet_worker *w, const at_frame *frame);
void at_fleet_flush(at_fleet *f);
void at_fleet_tell(at_fleet_worker *w, const char *text); /* to the user, with the next event */
/* It is reached again after a pause, unless it cannot be of use, or it fails again and again. */
void at_fleet_lose(at_fleet *f, at_fleet_worker *w, const char *why);
void at_fleet_shut(at_fleet *f, at_fleet_worker *w);
/* Whether its process is over, or made to be. */
bool at_fleet_has_ended(at_fleet_worker *w);
at_gate *at_fleet_gate(const at_fleet *f, const at_spot *s); /* NULL: none */

/* ---- what it says (fleet_hear.c) ------------------------------------------------------------- */

/* The next event of a worker; what it has said beyond that stays for the next time. false: none. */
bool at_fleet_hear(at_fleet *f, at_fleet_worker *w, at_arena *a, at_far_event *out);

/* ---- what it is told to measure (fleet_task.c) ----------------------------------------------- */

/* AT_E_USAGE, AT_E_INPUT: it cannot be done elsewhere. */
at_status at_fleet_task(at_fleet *f, const at_far_task *t, at_error *err);

#endif
