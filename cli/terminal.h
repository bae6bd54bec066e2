/* cli/terminal.h: how the outputs look: colours, width, characters, and how much is said. Set once,
 * from the options and the environment. */
#ifndef AT_CLI_TERMINAL_H
#define AT_CLI_TERMINAL_H

#include "base/base.h"

typedef enum at_color { AT_COLOR_AUTO, AT_COLOR_ALWAYS, AT_COLOR_NEVER } at_color;
typedef enum at_verbosity {
    AT_VERBOSITY_QUIET,
    AT_VERBOSITY_NORMAL,
    AT_VERBOSITY_VERBOSE,
    AT_VERBOSITY_DEBUG
} at_verbosity;

/* Auto: where the output is a terminal, TERM is not dumb and NO_COLOR is not set. */
void at_terminal_setup(at_color color, at_verbosity verbosity);
at_verbosity at_terminal_verbosity(void);

enum { AT_SERIES_COLORS = 6 };
typedef enum at_style {
    AT_STYLE_NONE,
    AT_STYLE_STRONG,
    AT_STYLE_FAINT,
    AT_STYLE_GOOD,
    AT_STYLE_WARNING,
    AT_STYLE_BAD,
    AT_STYLE_SERIES,                                      /* + 0 .. AT_SERIES_COLORS-1 */
    AT_STYLE_POINTS = AT_STYLE_SERIES + AT_SERIES_COLORS, /* the same, fainter */
    AT_STYLE_COUNT = AT_STYLE_POINTS + AT_SERIES_COLORS
} at_style;
/* What begins the style on that output (NONE: ends every style), "" where it has no colour. */
const char *at_style_begin(const FILE *f, at_style s);
void at_text_add_styled(at_text *out, const FILE *f, at_style s, const char *text);

/* Columns and rows of the terminal behind f; else what COLUMNS and LINES say, else 80 and 24. */
int at_terminal_columns(FILE *f);
int at_terminal_rows(FILE *f);
/* May lines be moved about and redrawn there? */
bool at_terminal_can_redraw(FILE *f);
/* Can it show characters beyond ASCII? So it is unless locale or terminal say otherwise. */
bool at_terminal_is_utf8(void);

/* The status line: one line on stderr that is drawn again in place, cut where the terminal ends.
 * The cursor waits at its beginning, so that what is left of it can be cleared even where a
 * narrower terminal has broken it into several. Whoever else writes to stderr clears it first. */
void at_status_line(const char *text);
void at_status_line_clear(void);
/* What is being done, on a terminal, until something else is said; not with --quiet or --debug. */
void at_status_note(const char *text);
void at_status_line_end(void); /* keeps what it shows, and goes on below */
bool at_status_line_is_shown(void);

#endif
