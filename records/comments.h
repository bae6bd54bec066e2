/* records/comments.h: lines that begin with '#', which AutoTVM reads over: what a log says about
 * its searches besides their trials. Each kind can be read and printed. What is read is owned by
 * the arena that is given. */
#ifndef AT_RECORDS_COMMENTS_H
#define AT_RECORDS_COMMENTS_H

#include "records/record.h"

/* What a comment line about a task begins with: NAME, and of an object what task and context they
 * are about (comment_line.c). */
void at_comment_begin(at_text *out, const char *name, const char *task, const at_json *args,
                      const char *context_hash);
/* A comment line about a finalist (final_line.c): all its rounds; before 0.9 there was one line a
 * round. */
typedef struct at_final_line {
    const char *task, *context_hash;
    const at_json *args, *entity;
    int64_t index; /* -1: not said */
    at_turns turns;
    bool in_bytes;           /* peaks are GB/s */
    const at_config *config; /* to be printed: its entity */
} at_final_line;
/* false: it is another comment, or torn. Owned by arena. */
bool at_final_line_read(at_arena *a, const char *comment, at_final_line *out);
/* "search {json}": a search over several workers was begun, for the epoch-th time with this log;
 * false: it is another comment. */
bool at_search_line_read(const char *comment, int *epoch);
void at_search_line_print(at_text *out, uint64_t search, int epoch); /* without '#' and '\n' */
/* "#final {json}\n" */
void at_final_line_print(at_text *out, const at_final_line *l);
/* How far an anchor is from the first of its chain in one state. */
typedef struct at_scale {
    int pairs; /* 0: it was not seen in that state */
    double link, link_error;
    double of_first, first_s;
} at_scale;
/* A comment line about an anchor (anchor_line.c), "#anchor {json}": what trials behind it are timed
 * against. What lines say is never changed by later ones. */
typedef struct at_anchor_line {
    const char *task, *context_hash, *code_hash;
    const at_json *args, *entity;
    int64_t index;               /* -1: not said */
    int number;                  /* 0, 1, 2, ... within its task and context */
    int linked_to;               /* the anchor it was timed against; -1: it begins a chain */
    int links;                   /* from it to the first of its chain */
    int pairs;                   /* of the link */
    double link, link_error;     /* log(its time / the other's), and half of its 95 % interval */
    double of_first;             /* its time over that of the first of its chain, by the links, */
    double of_first_error;       /* and how unsure these are: link_error, of all of them together */
    const char *first;           /* code hash of that one */
    double first_s;              /* time of that one: what records' ratios are made times with */
    double peak_gflops;          /* FMA peak of the core then; 0: not known */
    at_state state;              /* in which that and the link were measured; UNKNOWN: in any */
    at_scale by[AT_STATE_COUNT]; /* of each state by itself; of its pairs, link, ... as above */
    const char
        *second_code; /* of a second kernel, the same for all workers of a search; "": none */
    double second, second_error; /* as link and link_error, of that one to the first of its chain */
    const at_config *config;     /* to be printed: its entity */
} at_anchor_line;
/* false: it is another comment, or torn. Owned by arena. */
bool at_anchor_line_read(at_arena *a, const char *comment, at_anchor_line *out);
void at_anchor_line_print(at_text *out, const at_anchor_line *l); /* without '#' and '\n' */

/* A comment line about what a search estimates with (speeds_line.c), "#speeds {json}": the first
 * one of a task and context, when its log begins. */
typedef struct at_speeds_line {
    const char *task, *context_hash;
    const at_json *args, *machine; /* machine: as a table of speeds is printed */
} at_speeds_line;
/* false: it is another comment, or torn. Owned by arena. */
bool at_speeds_line_read(at_arena *a, const char *comment, at_speeds_line *out);

/* A comment line about which state counts (objective.c), "#objective {json}": the first one of a
 * task and context, when its log begins. */
typedef struct at_objective_line {
    const char *task, *context_hash;
    const at_json *args;
    at_objective objective;
    bool by_probes;               /* nobody said which */
    double share[AT_STATE_COUNT]; /* of the time: of the states that were seen then */
} at_objective_line;
/* false: it is another comment, or torn. Owned by arena. */
bool at_objective_line_read(at_arena *a, const char *comment, at_objective_line *out);
void at_objective_line_print(at_text *out, const at_objective_line *l); /* without '#' and '\n' */

/* Numbers strings 0, 1, 2, ... in order of first appearance (keys.c). */
typedef struct at_key_map {
    at_arena *arena;
    AT_VEC(const char *) keys;
    int *slots; /* [cap], open addressing: number + 1, or 0 */
    int cap;
} at_key_map;
int at_key_map_find(const at_key_map *m, const char *key); /* -1 if absent */
int at_key_map_add(at_key_map *m, const char *key);

/* What finals say, by context, workload and entity (final.c). */
typedef struct at_finals {
    at_key_map keys, comments;
    AT_VEC(struct at_finalist_lines) of; /* [keys] */
} at_finals;
void at_finals_init(at_finals *f, at_arena *a);
/* Told each comment line (at_log_reader_on_comment); comments that are no finals are ignored. */
void at_finals_add(void *finals, const char *comment, int64_t line);
/* How r is named there; of ours only. */
void at_finals_key(at_text *out, const at_record *r);
/* The number of the finalist that r is, below finals.of.len; -1: none. */
int at_finals_find(const at_finals *f, const at_record *r);
/* Sets r's finals, which live as long as f's arena. */
void at_finals_apply(const at_finals *f, at_record *r);
/* Finalist number i, by one of its lines, and its finals, ascending by when they began. */
const at_turns *at_finals_get(const at_finals *f, int i, at_final_line *who, int *num_finals);
/* The comment lines that are about r, as they were. */
void at_finals_print(at_text *out, const at_finals *f, const at_record *r);

#endif
