/* view/figures.c: figures with their units, and the names of things, in the words of every command.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "sketch/sketch.h"
#include "view/view.h"

void at_text_add_decimals(at_text *out, double x, int decimals) {
    if (fabs(x) < 1e15) at_text_addf(out, "%.*f", decimals, x);
    else at_text_addf(out, "%.4g", x);
}

void at_text_add_time(at_text *out, double seconds) {
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    int i = 0;
    /* What is rounded up to 1000 of a unit is 1.000 of the next, to 10.000 is 10.00. */
    while (i < 3 && seconds < units[i].unit * 0.99995) i++;
    double x = seconds / units[i].unit;
    int decimals = x < 9.9995 ? 3 : x < 99.995 ? 2 : x < 999.95 ? 1 : 0;
    at_text_add_decimals(out, x, decimals);
    at_text_addf(out, " %s", units[i].name);
}

const char *at_unit_of_speed(bool in_bytes) { return in_bytes ? "GB/s" : "GFLOP/s"; }
const char *at_name_of_peak(bool in_bytes, bool of_dots) {
    return in_bytes ? "bandwidth" : of_dots ? "dot peak" : "FMA peak";
}

void at_text_add_share(at_text *out, double share) {
    double x = share * 100;
    at_text_add_decimals(out, x, x < 1 ? 2 : 1);
    at_text_add(out, " %");
}

void at_text_add_record_task(at_text *out, const char *task, const at_json *args) {
    at_text_add_visible(out, task);
    at_text_add(out, " ");
    at_json_print(out, args);
}

static bool begins_with_word(const char *text, const char *word) {
    const size_t n = strlen(word);
    return !strncmp(text, word, n) && text[n] == ' ';
}

void at_text_add_record_name(at_text *out, const char *task, const at_json *args) {
    at_arena *a = at_arena_new();
    at_task *t;
    const char *label = args->count && at_task_of_record(a, task, args, &t, NULL) == AT_OK
                            ? at_task_title(a, t)
                            : NULL; /* without arguments it says no more than the name */
    if (label) {
        const char *name = at_task_row(t)->name;
        at_text_add_visible(out, label);
        if (!begins_with_word(label, name)) {
            at_text_add(out, ", ");
            at_text_add_visible(out, name);
        }
    } else if (args->count) at_text_add_record_task(out, task, args);
    else at_text_add_visible(out, task);
    at_arena_free(a);
}

void at_text_add_context(at_text *out, const at_context *c) {
    bool packs = *c->packing; /* a kernel that somebody wrote does not */
    const char *const parts[] = {
        c->cpu, ", ", c->compiler, ", ", c->isa, packs ? ", weights packed " : "", c->packing};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) at_text_add_visible(out, parts[i]);
    at_text_addf(out, ", %d thread%s", c->threads, at_plural(c->threads));
}

const char *at_failure_name(int error_no) {
    if (!error_no) return "unchecked";
    return error_no == AT_NUM_FAILURES - 1 ? "other" : at_err_no_name(error_no);
}

/* In local time, to the second. */
static void add_moment(at_text *out, double seconds) {
    char text[32] = "?";
    struct tm tm;
    time_t t = (time_t)seconds;
    if (seconds > 0 && seconds < 1e11 && localtime_r(&t, &tm))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    at_text_add(out, text);
}

void at_text_add_span(at_text *out, double first_s, double last_s) {
    add_moment(out, first_s);
    at_text_add(out, " to ");
    add_moment(out, last_s);
}
