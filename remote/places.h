/* remote/places.h: what --on names, as the programs that reach it. */
#ifndef AT_REMOTE_PLACES_H
#define AT_REMOTE_PLACES_H

#include "base/base.h"

typedef enum at_place_kind {
    AT_PLACE_LOCAL,
    AT_PLACE_SSH,
    AT_PLACE_SLURM,
    AT_PLACE_DIR
} at_place_kind;

/* One worker of a process each; of a directory: as many as come. A step for several nodes has no
 * worker of its own: it starts those that come in through the directory, which is a spot, too. */
typedef struct at_spot {
    at_place_kind kind;
    const char *name;    /* for people: "ssh:board" */
    const char *host;    /* ssh */
    const char *path;    /* dir; slurm: one step for all nodes, whose workers come in there */
    int nodes;           /* slurm: of the step */
    const char *program; /* slurm: where the nodes find this program */
    const char *const *options; /* slurm: of srun; NULL behind the last */
} at_spot;
typedef AT_VEC(at_spot) at_spots;

/* Appends those that a text names. AT_E_USAGE */
at_status at_places_parse(at_arena *a, const char *text, at_spots *out, at_error *err);
/* The command that starts an agent there, which uses so many cores; NULL behind the last
 * word. Not for directories. AT_E_BUG: this program's own file cannot be read. */
at_status at_place_command(at_arena *a, const at_spot *s, int cores, char ***argv, at_error *err);

/* ssh: what the other side says where the program must be sent first, and where it is of no use. */
#define AT_PLACE_MISSING "autotune-agent-missing"
#define AT_PLACE_OTHER "autotune-agent-other"
/* This program's file. AT_E_BUG */
at_status at_own_program(at_arena *a, char **bytes, size_t *len, at_error *err);

#endif
