/* tests/tuners/searches.c: see searches.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "searches.h"

at_space *options_space(at_arena *a, const int *lengths, int num, const char *filter) {
    at_error err;
    at_space *s = at_space_new(a);
    for (int k = 0; k < num; k++) {
        at_text list = {0};
        char name[2] = {(char)('a' + k), 0};
        for (int i = 0; i < lengths[k]; i++) at_text_addf(&list, "%s%d", i ? ", " : "[", i);
        at_text_add(&list, "]");
        if (at_space_option(s, name, list.data, &err) != AT_OK) fail_msg("%s", err.text);
        at_text_free(&list);
    }
    if (filter && at_space_filter(s, filter, &err) != AT_OK) fail_msg("%s", err.text);
    return s;
}

at_trial trial_of(const at_space *s, int64_t index) {
    int64_t digits[8];
    double score = 100;
    at_space_digits(s, index, digits);
    for (int k = 0; k < at_space_num_knobs(s); k++) {
        double at = (double)(digits[k] + 1) / (double)at_space_knob_len(s, k);
        score /= 1 + 4 * (at - 0.6) * (at - 0.6) + 0.03 * (double)(digits[k] % 3);
    }
    bool valid = index % 7 != 3;
    return (at_trial){index, valid, valid ? score : 0, false};
}

at_tuner *new_tuner(const char *name, at_space *s, at_tuner_options o) {
    at_tuner *t;
    at_error err;
    if (at_tuner_new(name, s, &o, &t, &err) != AT_OK) fail_msg("%s", err.text);
    return t;
}

bool absent(const char *name) {
    const at_tuner_class *row;
    return at_tuner_find(name, &row, NULL) != AT_OK;
}

int run_search(const char *name, at_space *s, at_tuner_options o, int batch, order how, int most,
               int64_t *out) {
    at_tuner *t = new_tuner(name, s, o);
    int n = 0, told = 0;
    while (n < most) {
        int want = batch < most - n ? batch : most - n;
        int made = at_tuner_next(t, out + n, want);
        assert_in_range(made, 0, want);
        n += made;
        if (!made && told == n) break;
        if (how == LATE) {
            at_trial trial = trial_of(s, out[told++]);
            at_tuner_update(t, &trial, 1);
            continue;
        }
        for (int i = told; i < n; i++) {
            at_trial trial = trial_of(s, out[how == REVERSED ? n - 1 - (i - told) : i]);
            at_tuner_update(t, &trial, 1);
        }
        told = n;
    }
    at_tuner_free(t);
    return n;
}

void check_each_once(const at_space *s, int64_t begin, int64_t end, const int64_t *got, int n) {
    int valid = 0;
    for (int64_t i = begin; i < end; i++) {
        int times = 0;
        for (int k = 0; k < n; k++) times += got[k] == i;
        assert_int_equal(times, at_space_is_valid(s, i));
        valid += times;
    }
    assert_int_equal(valid, n); /* and none outside */
}
