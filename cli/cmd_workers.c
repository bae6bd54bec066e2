/* cli/cmd_workers.c: agents, as commands of their own, and who they are. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/cache_folder.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/json_out.h"
#include "remote/remote.h"

/* Whatever else is printed here goes to standard error. */
at_status at_cmd_agent(const at_options *o, at_error *err) {
    (void)o;
    at_catch_interrupts();
    int out = fcntl(fileno(stdout), F_DUPFD_CLOEXEC, 3);
    if (out < 0 || dup2(fileno(stderr), STDOUT_FILENO) < 0)
        return at_fail(err, AT_E_BUG, "agent: standard output: %s", strerror(errno));
    at_status status = at_agent_main(STDIN_FILENO, out, &at_interrupted, err);
    close(out);
    return status;
}

static void told(const char *text) { at_warn(NULL, text); }

/* To whoever has typed the command, and looks at nothing until there is a search. */
static void waits(const char *path) {
    at_text text = {0};
    if (!isatty(STDERR_FILENO)) return;
    at_text_add(&text, "autotune: waits for searches: autotune ... --on dir:");
    at_text_add_visible(&text, path);
    at_text_add(&text, "; Ctrl-C ends it\n");
    at_say(&text);
}

at_status at_cmd_work(const at_options *o, at_error *err) {
    int served = 0;
    at_catch_interrupts();
    if (!*o->operands[0])
        return at_fail(err, AT_E_USAGE,
                       "work \"\": PATH names a directory of yours, for --on dir:PATH");
    AT_TRY(at_work_main(o->operands[0], o->idle_s, o->once, &at_interrupted, waits, told, &served,
                        err));
    if (at_interrupted) return at_fail_stopped(err);
    if (!o->json) return AT_OK;
    at_out out = at_out_object();
    at_out_int(&out, "searches", served);
    return at_out_print(&out, err);
}

static void add_worker(at_text *out, const at_worker_state *w) {
    const char *parts[] = {w->place, *w->place ? "  " : "", w->host, "  ", w->cpu};
    if (w->error) {
        at_text_add_visible(out, w->place);
        at_text_add(out, "  ");
        at_text_add_visible(out, w->error);
        at_text_add(out, "\n");
        return;
    }
    for (int i = 0; i < 5; i++) at_text_add_visible(out, parts[i]);
    at_text_addf(out, "  process %d  ", w->pid);
    at_text_add_visible(out, *w->task ? w->task : "waits");
    if (w->peak_gflops > 0) at_text_addf(out, "  peak %.1f", w->peak_gflops);
    if (w->last_gflops > 0)
        at_text_addf(out, "  last %.2f, %.0f s ago", w->last_gflops, w->last_s > 0 ? w->last_s : 0);
    at_text_add(out, "\n");
}

static void add_cache(at_text *out, const at_cache_state *c, bool clean) {
    if (!c->path) return;
    at_text_add(out, clean ? "removed from cache " : "cache ");
    at_text_add_visible(out, c->path);
    at_text_addf(out, ": %d file%s, %.1f MB%s\n", c->files, at_plural(c->files),
                 (double)c->bytes * 1e-6, c->files && !clean ? "; --clean removes them" : "");
}

static at_status print_text(const at_worker_state *w, int n, const at_cache_state *cache,
                            bool clean, at_error *err) {
    at_text out = {0};
    for (int i = 0; i < n; i++) add_worker(&out, &w[i]);
    if (!n) at_text_add(&out, "no workers\n");
    add_cache(&out, cache, clean);
    return at_print(&out, err);
}

static at_status print_json(const at_worker_state *w, int n, const at_cache_state *cache,
                            at_error *err) {
    at_out out = at_out_object();
    at_out_begin(&out, "workers", '[');
    for (int i = 0; i < n; i++, w++) {
        at_out_begin(&out, NULL, '{');
        at_out_string(&out, "place", w->place);
        at_out_string(&out, "error", w->error);
        at_out_string(&out, "host", w->host);
        at_out_string(&out, "cpu", w->cpu);
        at_out_int(&out, "pid", w->pid);
        at_out_string(&out, "task", w->task);
        at_out_double(&out, "peak_gflops", w->peak_gflops);
        at_out_double(&out, "last_gflops", w->last_gflops);
        at_out_double(&out, "last_seconds_ago", w->last_s);
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    at_out_begin(&out, "cache", '{');
    at_out_string(&out, "path", cache->path);
    at_out_int(&out, "files", cache->files);
    at_out_int(&out, "bytes", cache->bytes);
    at_out_end(&out, '}');
    return at_out_print(&out, err);
}

at_status at_cmd_workers(const at_options *o, at_error *err) {
    at_worker_state *w;
    int n;
    at_catch_interrupts();
    at_arena *a = at_arena_new();
    at_cache_state cache;
    at_status status = at_workers_list(a, o->on.items, o->on.num, &at_interrupted, &w, &n, err);
    if (status == AT_OK) status = at_cache_look(a, o->clean, &cache, err);
    if (status == AT_OK)
        status = o->json ? print_json(w, n, &cache, err) : print_text(w, n, &cache, o->clean, err);
    for (int i = 0; i < n && status == AT_OK; i++)
        if (w[i].error) status = at_fail(err, AT_E_INPUT, "--on %s: %s", w[i].place, w[i].error);
    at_arena_free(a);
    return status;
}
