/* Workers that turn from one search to another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "remote/remote.h"
#include "tests/arena.h"

/* Events until no worker is left, or `most` of them; how many say that worker 0 has left. */
static int count_left(const at_far *far, int most, at_status *status, at_error *err) {
    int left = 0;
    *status = AT_OK;
    for (int i = 0; i < most && *status == AT_OK; i++) {
        at_far_event e;
        *status = far->next(far->self, arena, 0.2, &e, err);
        if (*status == AT_OK && e.kind == AT_FAR_LEFT) left += e.worker == 0;
    }
    return left;
}

/* A search whose turn comes again hears of a worker that went for good while another one had its
 * turn: it would wait for it. */
static void gone_meanwhile(void **state) {
    (void)state;
    static const char *const places[] = {"ssh:nowhere"};
    const at_engine_options o = {0};
    const at_request q = {.template_name = "dense"};
    const at_far_task task = {.options = &o,
                              .request = &q,
                              .template_name = "dense",
                              .files = "",
                              .program = "",
                              .args = "{}",
                              .template_hash = ""};
    at_fleet *f;
    at_status status;
    at_error err = {0};
    setenv("PATH", "/nonexistent", 1); /* no ssh */
    assert_int_equal(at_fleet_new(places, 1, AT_LEASE_S, &f, &err), AT_OK);
    const at_far *far = at_fleet_far(f);
    assert_int_equal(far->begin(far->self, &task, &err), AT_OK);
    assert_int_equal(count_left(far, 600, &status, &err), 0);
    assert_int_equal(status, AT_E_BUG);
    assert_non_null(strstr(err.text, "no worker is left"));
    assert_int_equal(far->begin(far->self, &task, &err), AT_OK);
    assert_int_equal(count_left(far, 2, &status, &err), 1);
    far->end(far->self);
    at_fleet_free(f);
}

/* An ssh that ends before it was asked is told, and ends nothing; a broken pipe of standard output
 * does as before. */
static void no_answer(void **state) {
    (void)state;
    static const char *const places[] = {"ssh:nowhere"};
    volatile int stop = 0;
    at_worker_state *w;
    at_error err = {0};
    int n;
    setenv("PATH", "/nonexistent", 1);
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(at_workers_list(arena, places, 1, &stop, &w, &n, &err), AT_OK);
    assert_int_equal(n, 1);
    assert_string_equal(w->place, "ssh:nowhere");
    assert_non_null(strstr(w->error, "it ended: "));
    assert_null(strpbrk(w->error, "\r\n"));
    assert_true(signal(SIGPIPE, SIG_IGN) == SIG_DFL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_answer),
                                       cmocka_unit_test(gone_meanwhile)};
    return cmocka_run_group_tests_name("remote/fleet", tests, make_arena, free_arena);
}
