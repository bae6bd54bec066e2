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

/* Unless one of them says otherwise. */
static bool locale_is_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (int i = 0; i < 3 && !(locale && *locale); i++) locale = getenv(names[i]);
    return !locale || !*locale || strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
}

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

/* ---- writing --------------------------------------------------------------------------------- */

void at_text_add_style(at_text *out, at_style s) {
    const char mark[] = {0, (char)('A' + s)};
    at_text_addn(out, mark, sizeof mark);
}

void at_text_add_styled(at_text *out, at_style s, const char *text) {
    at_text_add_style(out, s);
    at_text_add_visible(out, text);
    at_text_add_style(out, AT_STYLE_NONE);
}

/* Bytes from 0x80 on mean something else to a terminal that does not speak UTF-8: some of them are
 * C1 there. */
static bool is_ascii_only(const FILE *f) { return !locale_is_utf8() && isatty(fileno((FILE *)f)); }

/* What is written to f for a text. */
static void render(at_text *out, const FILE *f, const at_text *text) {
    const char *p = at_text_str(text), *end = p + text->len;
    bool color = colored[f == stderr ? STDERR_FILENO : STDOUT_FILENO], ascii = is_ascii_only(f);
    char spelled[AT_VISIBLE_BYTES];
    while (p < end) {
        size_t plain = 0;
        while (p + plain < end && p[plain] >= ' ' && p[plain] <= '~') plain++;
        at_text_addn(out, p, plain);
        p += plain;
        if (p == end) return;
        int style = !*p && end - p > 1 ? p[1] - 'A' : -1;
        if (style >= 0 && style < AT_STYLE_COUNT) {
            at_text_add(out, color ? sequences[style] : "");
            p += 2;
            continue;
        }
        const char *from = p;
        int32_t c = at_utf8_next(&p, end);
        int n = at_visible_next(&from, end, true, spelled);
        if (ascii && c >= 0x80) at_text_addf(out, "\\u%04x", (unsigned)c);
        else at_text_addn(out, spelled, (size_t)n);
    }
}

/* At once: stderr has no buffer, and what others write there must not come between. */
bool at_terminal_write(FILE *f, const at_text *text) {
    at_text out = {0};
    render(&out, f, text);
    bool ok = fwrite(at_text_str(&out), 1, out.len, f) == out.len && fflush(f) != EOF;
    at_text_free(&out);
    return ok;
}

/* ---- the terminal ---------------------------------------------------------------------------- */

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
    const char *term = getenv("TERM");
    if (term && (!strcmp(term, "dumb") || !strcmp(term, "linux"))) return false;
    return locale_is_utf8();
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
    at_text line = {0}, cut = {0}, out = {0};
    at_text_add_visible(&line, text);
    at_text_addn(&cut, at_text_str(&line), (size_t)bytes_within(at_text_str(&line), columns));
    at_text_add(&out, "\r");
    render(&out, stderr, &cut);
    at_text_add(&out, "\033[J\r");
    fwrite(out.data, 1, out.len, stderr);
    line_is_shown = 1;
    at_text_free(&line);
    at_text_free(&cut);
    at_text_free(&out);
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
