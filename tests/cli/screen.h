/* tests/cli/screen.h: a program on a terminal of ours, and what a person would see of it. */
#ifndef AT_SCREEN_H
#define AT_SCREEN_H

#include "base/base.h"

enum { SCREEN_LINES = 400, SCREEN_LENGTH = 1000 };

/* Lines as they were written, broken where the terminal ends only when they are shown, so that
 * another width breaks them elsewhere: a terminal that reflows. */
typedef struct screen {
    int master; /* of the pseudo terminal */
    int pid;
    int columns;
    char text[SCREEN_LINES][SCREEN_LENGTH];
    int line, column; /* the cursor */
    int lines;
    int widest;      /* the most columns that a line was drawn with that is drawn again later */
    int redrawn;     /* times */
    char escape[32]; /* begun */
    at_text raw;
} screen;

/* Starts a shell command there. */
void screen_start(screen *s, const char *command, int columns);
/* Takes in what comes until the text was seen; false: the program ended before, or after 20 s. */
bool screen_until(screen *s, const char *text);
void screen_resize(screen *s, int columns);
void screen_type(screen *s, const char *keys);
int screen_end(screen *s); /* reads to the end; exit status, or 128 + signal */

#endif
