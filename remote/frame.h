/* remote/frame.h: what a search and an agent say to each other: messages as bytes. Both sides may
 * be on machines of any kind: numbers are little-endian, texts have a length, nothing is longer
 * than a limit, and what arrives is believed nothing. */
#ifndef AT_REMOTE_FRAME_H
#define AT_REMOTE_FRAME_H

#include "engine/engine.h"
#include "records/records.h"

/* Goes up with what is said. */
enum { AT_FRAME_VERSION = 8 };
/* A task may bring a file along. */
enum { AT_FRAME_MOST_BYTES = 8 << 20, AT_FRAME_MOST_TASK_BYTES = 64 << 20 };
/* What an agent writes first, on a line of its own: login shells greet before. */
#define AT_FRAME_MAGIC "autotune-agent-1"
enum { AT_FRAME_MOST_GREETING = 1 << 16 }; /* bytes before it */

typedef enum at_frame_type {
    AT_FRAME_HELLO = 1, /* agent, first: what it is */
    AT_FRAME_TASK,      /* search: what trials will be of */
    AT_FRAME_READY,     /* agent: as of AT_FAR_JOINED */
    AT_FRAME_REFUSED,   /* agent: text says why not, and that is its end */
    AT_FRAME_TRIAL,     /* search */
    AT_FRAME_RESULT,    /* agent */
    AT_FRAME_FINAL,     /* search */
    AT_FRAME_COMPARE,   /* search: READY again, with another comparison */
    AT_FRAME_TURNS,     /* agent: the final's lines */
    AT_FRAME_TOLD,      /* agent: text for the user */
    AT_FRAME_ALIVE,     /* both, when there is nothing else to say: renews the lease */
    AT_FRAME_ASK,       /* search: who is at work there? */
    AT_FRAME_STATES,    /* agent: a line of JSON each */
    AT_FRAME_BYE,       /* search: that is all */
    AT_FRAME_END
} at_frame_type;

/* All that any of them holds; which has what is said by the table in frame.c. Texts are never NULL
 * where they were read. */
typedef struct at_frame {
    uint32_t type;
    /* HELLO */
    const char *version, *node, *cpu;
    uint32_t pid;
    /* TRIAL, RESULT */
    uint64_t search;
    uint32_t epoch, attempt;
    uint64_t number;
    const char *entity; /* as in a record: {"entity": [...]} */
    double best_s;
    at_record result;    /* RESULT: as result.h says */
    const char *records; /* READY: a line of a log; FINAL: lines */
    double budget_s;
    const char *anchor, *objective; /* READY: as in at_far_event; "": none */
    /* REFUSED, TOLD, TURNS, STATES */
    const char *text;
    /* TASK */
    double lease_s;
    const char *template_name, *template_hash, *template_file, *template_text; /* "": built in */
    const char *template_files, *program;      /* as in at_far_task */
    const char *args, *sparsity, *block, *isa; /* "": not given */
    const char *second;                        /* as in at_far_task; "": none */
    uint32_t compiler, packing, cache, threads, jobs, paranoid, sandbox, objective_asked;
    uint64_t read_bytes; /* as weights_bytes of the options */
    uint64_t seed, runs, repeat;
    double min_repeat_ms, timeout_s, cooldown_s, max_error, prune;
    const char *weight_file, *weight; /* [weight_bytes]; "": none */
    int weight_bytes;
    at_weight_form form; /* of what that file holds */
} at_frame;

/* Appended to out. AT_E_USAGE: it is longer than a frame may be. */
at_status at_frame_put(at_text *out, const at_frame *f, at_error *err);

/* How many bytes of data are the next frame, which is read into *f, its texts copied to a; 0: more
 * are needed. AT_E_INPUT: that is no frame, or one of another version. */
at_status at_frame_get(at_arena *a, const char *data, size_t len, size_t *taken, at_frame *f,
                       at_error *err);
/* How many bytes are greetings and the magic line behind them; 0: more are needed. AT_E_INPUT:
 * there are too many. */
at_status at_frame_greeting(const char *data, size_t len, size_t *taken, at_error *err);

#endif
