/* tests/codegen/points.h: programs that tests look at: points of every template, and of every
 * sketch of examples/te. AT_SEED chooses others. */
#ifndef AT_TESTS_CODEGEN_POINTS_H
#define AT_TESTS_CODEGEN_POINTS_H

#include "tests/any_task.h"
#include "tests/setting.h"

#include <dirent.h>

/* Looks at the program of one point, which lives in a; what: its name. */
typedef void use_point(at_arena *a, const at_task *t, const at_config *c, const at_program *p,
                       const char *what);

/* So many valid points of a range of the task's space; there is one at least. Returns how many. */
static inline long points_of(const at_task *t, int64_t begin, int64_t end, long count,
                             use_point *use) {
    at_rng rng;
    long done = 0;
    at_rng_seed(&rng, (uint64_t)setting("AT_SEED", 1), 2);
    for (long tries = 0; done < count && tries < 20 * count; tries++) {
        int64_t index = begin + (int64_t)at_rng_below(&rng, (uint64_t)(end - begin));
        at_arena *a = at_arena_new();
        at_config c;
        at_program *p;
        if (at_space_is_valid(at_task_space(t), index) &&
            at_config_at(a, at_task_space(t), index, &c, NULL) == AT_OK &&
            at_task_program(a, t, &c, &p, NULL) == AT_OK) {
            use(a, t, &c, p,
                at_format(a, "%s %s %lld", at_task_row(t)->name, at_task_args_text(t),
                          (long long)index));
            done++;
        }
        at_arena_free(a);
    }
    if (!done) fail_msg("%s %lld: no program", at_task_row(t)->name, (long long)begin);
    return done;
}

static inline long points_of_templates(long each, use_point *use) {
    long done = 0;
    for (int i = 0; i < at_template_count(); i++) {
        at_arena *a = at_arena_new();
        const at_task *t = any_task(a, at_template_at(i)->name, "");
        done += points_of(t, 0, at_space_range_length(at_task_space(t)), each, use);
        at_arena_free(a);
    }
    return done;
}

/* path: of a .te file. names: adds those of the sketches, a line each; or NULL. */
static inline long points_of_sketches(const char *path, const char *args, long each, use_point *use,
                                      at_text *names) {
    at_arena *a = at_arena_new();
    const at_task *t = any_task(a, path, args);
    const at_space *space = at_task_space(t);
    long done = 0;
    for (int i = 0; i < at_task_num_sketches(t); i++) {
        done += points_of(t, at_space_part_begin(space, i), at_space_part_begin(space, i + 1), each,
                          use);
        if (names) at_text_addf(names, "%s\n", at_task_sketch_name(t, i));
    }
    at_arena_free(a);
    return done;
}

/* Of AT_FEWER=6 files one, by its name; AT_SEED chooses others. */
static inline bool is_chosen(const char *file) {
    unsigned sum = (unsigned)setting("AT_SEED", 1);
    for (; *file; file++) sum = sum * 31 + (unsigned char)*file;
    return sum % (unsigned)setting("AT_FEWER", 1) == 0;
}

/* Of all files in examples/te and tests/te. */
static inline long points_of_examples(long each, use_point *use, at_text *names) {
    static const char *const folders[] = {"examples/te", "tests/te"};
    long done = 0;
    for (int i = 0; i < 2; i++) {
        DIR *d = opendir(folders[i]);
        assert_non_null(d);
        for (struct dirent *e; (e = readdir(d));) {
            at_arena *a = at_arena_new();
            const char *path = at_format(a, "%s/%s", folders[i], e->d_name);
            if (strstr(e->d_name, ".te") && is_chosen(e->d_name))
                done += points_of_sketches(path, "", each, use, names);
            at_arena_free(a);
        }
        closedir(d);
    }
    return done;
}

#endif
