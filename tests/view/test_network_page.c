/* The page of a network's run: boxes are as wide as their time, and lie where memory does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "view/view.h"

typedef struct box {
    int group;
    double x, y, width, height;
} box;

enum { MOST_BOXES = 16 };

/* Boxes of the picture, each with a title that holds this text. */
static int boxes_of(const char *page, const char *picture, const char *title, box *out) {
    const char *at = strstr(page, picture), *end = at ? strstr(at, "</svg>") : NULL;
    int n = 0;
    assert_non_null(end);
    for (at = strstr(at, "<rect class=\"f"); at && at < end;
         at = strstr(at + 1, "<rect class=\"f")) {
        const char *told = strstr(at, "<title>"), *told_end = strstr(at, "</title>");
        const char *found = strstr(told, title);
        if (!found || found > told_end) continue;
        assert_true(n < MOST_BOXES);
        assert_int_equal(sscanf(at,
                                "<rect class=\"f%d\" x=\"%lf\" y=\"%lf\" width=\"%lf\" "
                                "height=\"%lf\">",
                                &out[n].group, &out[n].x, &out[n].y, &out[n].width, &out[n].height),
                         5);
        n++;
    }
    return n;
}

static bool is_near(double x, double y) { return fabs(x - y) < 0.02; }

static void a_page(void **state) {
    (void)state;
    static const char *const groups[] = {"convolutions", "the rest"};
    static const at_net_page_step before[] = {{"conv <a>", 0, 4e-3}, {"pool", 1, 2e-3}},
                                  after[] = {{"conv <a>", 0, 1e-3}, {"pool", 1, 2e-3}};
    static const at_net_page_block blocks[] = {{"value", 0, 0, 1, 0, 1000000},
                                               {"room", 1, 1, 1, 1000000, 3000000}};
    static const at_net_page_run runs[] = {{"before", before, 2, blocks, 1},
                                           {"after", after, 2, blocks, 2}};
    static const at_net_page_kind kinds[] = {{"pool", 1, 2e-3, 0, 0.25, "L2"},
                                             {"conv <a>", 1, 1e-3, 12.5, 0, NULL}};
    const at_net_page page = {.name = "net.onnx",
                              .about = "2 parts & more",
                              .program = "autotune",
                              .groups = groups,
                              .num_groups = 2,
                              .runs = runs,
                              .num_runs = 2,
                              .kinds = kinds,
                              .num_kinds = 2};
    at_text out = {0};
    box conv[MOST_BOXES], pool[MOST_BOXES], value[MOST_BOXES], room[MOST_BOXES];
    at_network_page(&out, &page);
    const char *text = at_text_str(&out);
    assert_non_null(strstr(text, "<title>autotune: net.onnx</title>"));
    assert_non_null(strstr(text, "2 parts &amp; more"));
    assert_null(strstr(text, "<a>"));

    assert_int_equal(boxes_of(text, "parts along time", "conv &lt;a&gt;: ", conv), 2);
    assert_int_equal(boxes_of(text, "parts along time", "pool: 2 ms", pool), 2);
    assert_true(is_near(conv[0].width, 4 * conv[1].width));
    assert_true(is_near(pool[0].width, pool[1].width) && is_near(pool[0].width * 2, conv[0].width));
    for (int i = 0; i < 2; i++) assert_true(is_near(conv[i].x + conv[i].width, pool[i].x));
    assert_true(conv[0].x == conv[1].x && conv[1].y >= conv[0].y + conv[0].height);
    assert_true(conv[0].group == 0 && pool[0].group == 1);

    /* A picture of each run; steps of the last one take 1 and 2 ms. */
    const char *first = strstr(text, "<h2>Memory along time, before</h2>"),
               *last = strstr(text, "<h2>Memory along time, after</h2>");
    assert_true(first && last > first);
    assert_int_equal(boxes_of(first, "memory along time", "value: 1 MB", value), 1);
    assert_int_equal(boxes_of(first, "memory along time", "room: 3 MB", room), 0);
    assert_true(is_near(value->x, conv[0].x) && is_near(value->width, conv[0].width * 1.5));
    assert_int_equal(boxes_of(last, "memory along time", "value: 1 MB", value), 1);
    assert_int_equal(boxes_of(last, "memory along time", "room: 3 MB", room), 1);
    assert_true(is_near(value->width * 2, room->width * 3));
    assert_true(is_near(value->x + value->width, room->x + room->width));
    assert_true(is_near(room->y + room->height, value->y) &&
                is_near(value->height * 3, room->height));

    assert_non_null(strstr(text,
                           "<td class=\"text\">pool</td><td>1</td><td>2.000</td><td>66.7 %</td>"
                           "<td></td><td>25 %</td><td class=\"by\">L2</td>"));
    at_text_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_page)};
    return cmocka_run_group_tests_name("view/network_page", tests, NULL, NULL);
}
