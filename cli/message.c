/* cli/message.c: what people read. */
#include "cli/message.h"

#include "cli/terminal.h"

void at_warn(void *unused, const char *text) {
    (void)unused;
    if (at_terminal_verbosity() == AT_VERBOSITY_QUIET) return;
    at_status_line_clear();
    fprintf(stderr, "autotune: %swarning:%s %s\n", at_style_begin(stderr, AT_STYLE_WARNING),
            at_style_begin(stderr, AT_STYLE_NONE), text);
}

void at_say(const char *text) {
    if (at_terminal_verbosity() == AT_VERBOSITY_QUIET) return;
    at_status_line_clear();
    fputs(text, stderr);
}

void at_say_error(const char *text) {
    at_status_line_clear();
    fprintf(stderr, "%sautotune:%s %s\n", at_style_begin(stderr, AT_STYLE_BAD),
            at_style_begin(stderr, AT_STYLE_NONE), text);
}

void at_text_add_time(at_text *out, double seconds) {
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    int i = 0;
    while (i < 3 && seconds < units[i].unit) i++;
    double x = seconds / units[i].unit;
    at_text_addf(out, "%.*f %s", x < 10 ? 3 : x < 100 ? 2 : x < 1000 ? 1 : 0, x, units[i].name);
}

void at_text_add_share(at_text *out, double share) {
    double x = share * 100;
    at_text_addf(out, "%.*f %%", x < 1 ? 2 : 1, x);
}
