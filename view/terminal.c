/* view/terminal.c: what the environment says about the terminal; escape sequences. */
#include "view/view.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool colored[3]; /* by file descriptor: stdout, stderr */
static at_verbosity verbosity_now = AT_VERBOSITY_NORMAL;

static const char *const sequences[AT_STYLE_COUNT] = {
    [AT_STYLE_NONE] = "\033[0m",
    [AT_STYLE_STRONG] = "\033[1m",
    [AT_STYLE_FAINT] = "\033[2m",
    [AT_STYLE_GOOD] = "\033[32m",
    [AT_STYLE_WARNING] = "\033[33m",
    [AT_STYLE_BAD] = "\033[31m",
    [AT_STYLE_SERIES] = "\033[36m",
    "\033[33m",
    "\033[35m",
    "\033[32m",
    "\033[34m",
    "\033[37m",
    [AT_STYLE_POINTS] = "\033[2;36m",
    "\033[2;33m",
    "\033[2;35m",
    "\033[2;32m",
    "\033[2;34m",
    "\033[2;37m",
};

static bool is_dumb(void) {
    const char *term = getenv("TERM");
    return !term || !*term || !strcmp(term, "dumb");
}

void at_terminal_setup(at_color color, at_verbosity verbosity) {
    const char *no_color = getenv("NO_COLOR");
    bool wanted = !is_dumb() && !(no_color && *no_color);
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        colored[fd] = color == AT_COLOR_ALWAYS || (color == AT_COLOR_AUTO && wanted && isatty(fd));
    verbosity_now = verbosity;
}

at_verbosity at_terminal_verbosity(void) { return verbosity_now; }

const char *at_style_begin(const FILE *f, at_style s) {
    return colored[f == stderr ? STDERR_FILENO : STDOUT_FILENO] ? sequences[s] : "";
}

void at_text_add_styled(at_text *out, const FILE *f, at_style s, const char *text) {
    at_text_addf(out, "%s%s%s", at_style_begin(f, s), text, at_style_begin(f, AT_STYLE_NONE));
}

static int from_environment(const char *name, int otherwise) {
    const char *text = getenv(name);
    long n = text ? strtol(text, NULL, 10) : 0;
    return n > 0 && n < 10000 ? (int)n : otherwise;
}

int at_terminal_columns(FILE *f) {
    struct winsize w;
    if (ioctl(fileno(f), TIOCGWINSZ, &w) == 0 && w.ws_col > 0) return w.ws_col;
    return from_environment("COLUMNS", 80);
}

int at_terminal_rows(FILE *f) {
    struct winsize w;
    if (ioctl(fileno(f), TIOCGWINSZ, &w) == 0 && w.ws_row > 0) return w.ws_row;
    return from_environment("LINES", 24);
}

bool at_terminal_can_redraw(FILE *f) { return isatty(fileno(f)) && !is_dumb(); }

bool at_terminal_is_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *term = getenv("TERM"), *locale = NULL;
    if (term && (!strcmp(term, "dumb") || !strcmp(term, "linux"))) return false;
    for (int i = 0; i < 3 && !(locale && *locale); i++) locale = getenv(names[i]);
    return !locale || !*locale || strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
}

/* ---- the status line ------------------------------------------------------------------------ */

static volatile int line_is_shown;

bool at_status_line_is_shown(void) { return line_is_shown; }

/* Bytes of the text that fill no more than so many columns. */
static int bytes_within(const char *text, int columns) {
    int n = 0;
    for (; text[n]; n++)
        if (((unsigned char)text[n] & 0xc0) != 0x80 && columns-- == 0) break;
    return n;
}

void at_status_line(const char *text) {
    int columns = at_terminal_columns(stderr) - 1;
    fprintf(stderr, "\r%.*s\033[J\r", bytes_within(text, columns), text);
    fflush(stderr);
    line_is_shown = 1;
}

void at_status_line_clear(void) {
    if (!line_is_shown) return;
    fputs("\r\033[J", stderr);
    fflush(stderr);
    line_is_shown = 0;
}

void at_status_line_end(void) {
    if (line_is_shown) fputc('\n', stderr);
    line_is_shown = 0;
}

void at_status_note(const char *text) {
    bool wanted = verbosity_now == AT_VERBOSITY_NORMAL || verbosity_now == AT_VERBOSITY_VERBOSE;
    if (wanted && at_terminal_can_redraw(stderr)) at_status_line(text);
}
