/* records/words.c: the words that records use for a few states, spelled once. */
#include "records/records_int.h"

#include <string.h>

const char *const at_check_words[AT_CHECK_OTHER + 1] = {
    [AT_CHECK_NONE] = "",       [AT_CHECK_UNCHECKED] = "unchecked", [AT_CHECK_FAILED] = "failed",
    [AT_CHECK_EXACT] = "exact", [AT_CHECK_TOLERANCE] = "tolerance", [AT_CHECK_NOTHING] = "nothing"};
const char *const at_samples_words[AT_SAMPLES_OTHER + 1] = {[AT_SAMPLES_NONE] = "",
                                                            [AT_SAMPLES_FULL] = "full",
                                                            [AT_SAMPLES_SINGLE] = "single",
                                                            [AT_SAMPLES_AT_LEAST] = "at_least"};

const char *const at_pruned_text = "pruned";
const char *const at_part_anchor = "anchor";
static const char *const packings[AT_PACKING_COUNT] = {"ahead", "inline"};
static const char *const caches[AT_CACHE_COUNT] = {"hot", "cold", "weights-cold"};

static const char *const outcomes[AT_ERR_UNKNOWN + 1] = {[AT_ERR_NONE] = "ok",
                                                         [AT_ERR_INSTANTIATION] = "invalid",
                                                         [AT_ERR_COMPILE_HOST] = "compile",
                                                         [AT_ERR_COMPILE_DEVICE] = "compile",
                                                         [AT_ERR_RUNTIME] = "crash",
                                                         [AT_ERR_WRONG_ANSWER] = "wrong",
                                                         [AT_ERR_BUILD_TIMEOUT] = "compile-timeout",
                                                         [AT_ERR_RUN_TIMEOUT] = "timeout",
                                                         [AT_ERR_UNKNOWN] = "unknown"};

const char *at_err_no_name(int error_no) {
    return outcomes[error_no >= 0 && error_no <= AT_ERR_UNKNOWN ? error_no : AT_ERR_UNKNOWN];
}

/* -1: none of them. */
static int find(const char *const *words, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (!strcmp(words[i], name)) return i;
    return -1;
}

const char *at_packing_name(at_packing p) { return packings[p]; }

bool at_packing_from_name(const char *name, at_packing *out) {
    int i = find(packings, AT_PACKING_COUNT, name);
    if (i >= 0) *out = (at_packing)i;
    return i >= 0;
}

const char *at_cache_name(at_cache c) { return caches[c]; }

bool at_cache_from_name(const char *name, at_cache *out) {
    int i = find(caches, AT_CACHE_COUNT, name);
    if (i >= 0) *out = (at_cache)i;
    return i >= 0;
}

const char *at_extra_check(const at_extra *e) {
    const char *word = e->check == AT_CHECK_OTHER ? e->check_word : at_check_words[e->check];
    return word ? word : "";
}

bool at_record_is_trial(const at_record *r) {
    return !r->extra.part || strcmp(r->extra.part, at_part_anchor) != 0;
}

bool at_record_is_pruned(const at_record *r) {
    const char *text = r->extra.error;
    return r->error_no == AT_ERR_INSTANTIATION && text && !strcmp(text, at_pruned_text);
}

static const char *const states[AT_STATE_COUNT] = {"unknown", "alone", "company", "mixed"};

const char *at_state_name(at_state s) { return states[s]; }
char at_state_letter(at_state s) { return states[s][0]; }

static const char *const objectives[AT_OBJECTIVE_COUNT] = {"", "alone", "company", "typical"};

const char *at_objective_name(at_objective o) { return objectives[o]; }

bool at_objective_from_name(const char *name, at_objective *out) {
    int i = find(objectives + 1, AT_OBJECTIVE_COUNT - 1, name);
    if (i >= 0) *out = (at_objective)(i + 1);
    return i >= 0;
}

bool at_state_from_letter(char letter, at_state *out) {
    for (int i = 0; i < AT_STATE_COUNT; i++)
        if (states[i][0] == letter) return *out = (at_state)i, true;
    return false;
}
