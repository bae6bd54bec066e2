/* records/extra.c: a record's member "autotune", which is ours, to text and back;
 * docs/notes/records.md lists its fields. */
#include "records/records_int.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- its texts ------------------------------------------------------------------------------- */

typedef struct text_field {
    const char *name;
    size_t offset;
    /* One of a few words, whose number is there; the text itself only of words not among them. */
    const char *const *words; /* the last is NULL, and means those */
    size_t number;
} text_field;

#define TEXT(type, name, member)                                                                   \
    { name, offsetof(type, member), NULL, 0 }
static const text_field context_texts[] = {
    TEXT(at_context, "cpu", cpu),
    TEXT(at_context, "isa", isa),
    TEXT(at_context, "compiler", compiler),
    TEXT(at_context, "packing", packing),
    TEXT(at_context, "cache", cache),
    TEXT(at_context, "pattern", pattern),
    TEXT(at_context, "template", template_hash),
    TEXT(at_context, "machine", machine),
};
static const text_field extra_texts[] = {
    TEXT(at_extra, "version", version),
    TEXT(at_extra, "compiler_version", compiler_version),
    TEXT(at_extra, "cpu_flags", cpu_flags),
    TEXT(at_extra, "sandbox", sandbox),
    TEXT(at_extra, "tuner", tuner),
    TEXT(at_extra, "part", part),
    {"sample_kind", offsetof(at_extra, sample_word), at_samples_words,
     offsetof(at_extra, sample_kind)},
    {"check", offsetof(at_extra, check_word), at_check_words, offsetof(at_extra, check)},
    TEXT(at_extra, "error", error),
    TEXT(at_extra, "code_hash", code_hash),
};

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static const char **text_in(void *owner, const text_field *f) {
    return (const char **)((char *)owner + f->offset);
}

static unsigned *number_in(void *owner, const text_field *f) {
    return (unsigned *)((char *)owner + f->number);
}

static const char *text_of(const void *owner, const text_field *f) {
    const char *s = *(const char *const *)((const char *)owner + f->offset);
    const char *word = f->words ? f->words[*number_in((void *)owner, f)] : NULL;
    if (word) return word;
    return s ? s : "";
}

bool at_context_is_of_other_template(const at_context *c, const char *template_hash) {
    return *c->template_hash && strcmp(c->template_hash, template_hash) != 0;
}

/* Names go in with the values, and empty ones stay out: a field added later, where it is not
 * known, leaves the hashes of old records as they are. */
void at_context_hash(const at_context *c, char out[33]) {
    at_hash h;
    at_hash_init(&h);
    for (int i = 0; i < COUNT(context_texts); i++) {
        const char *value = text_of(c, &context_texts[i]);
        if (!*value) continue;
        at_hash_add_str(&h, context_texts[i].name);
        at_hash_add_str(&h, value);
    }
    if (c->threads) {
        char number[16];
        snprintf(number, sizeof number, "%d", c->threads);
        at_hash_add_str(&h, "threads");
        at_hash_add_str(&h, number);
    }
    at_hash_hex(&h, out);
}

/* ---- printing ------------------------------------------------------------------------------- */

/* "name": inside an object that began at `begin`, behind what is there. */
static void add_name(at_text *out, size_t begin, const char *name) {
    at_text_add(out, out->len > begin ? ", \"" : "\"");
    at_text_add(out, name);
    at_text_add(out, "\": ");
}

static void add_texts(at_text *out, size_t begin, const void *owner, const text_field *fields,
                      int n) {
    for (int i = 0; i < n; i++) {
        const char *value = text_of(owner, &fields[i]);
        if (!*value) continue;
        add_name(out, begin, fields[i].name);
        at_text_add_json_string(out, value);
    }
}

void at_add_doubles(at_text *out, const double *x, int n) {
    at_text_add(out, "[");
    for (int i = 0; i < n; i++) {
        if (i) at_text_add(out, ", ");
        at_text_add_double(out, x[i]);
    }
    at_text_add(out, "]");
}

static void add_positive(at_text *out, size_t begin, const char *name, double x) {
    if (!(x > 0) || isinf(x)) return;
    add_name(out, begin, name);
    at_text_add_double(out, x);
}

static const char *name_of_peak(const at_extra *e) {
    return e->in_bytes ? "bandwidth_gbytes_per_s" : e->of_dots ? "dot_peak_gflops" : "peak_gflops";
}

/* Smaller ones than `least` mean that there is none. */
static void add_int(at_text *out, size_t begin, const char *name, int64_t x, int64_t least) {
    if (x < least) return;
    add_name(out, begin, name);
    at_text_add_int(out, x);
}

static void add_trial(at_text *out, size_t begin, const at_trial_id *t) {
    add_name(out, begin, "trial");
    at_text_addf(out,
                 "{\"search\": \"%016llx\", \"epoch\": %d, \"number\": %lld, \"attempt\": %d, "
                 "\"asked\": %lld}",
                 (unsigned long long)t->search, t->epoch, (long long)t->number, t->attempt,
                 (long long)t->asked);
}

static void add_pairs(at_text *out, size_t begin, const at_paired *p) {
    if (!(p->of_first > 0)) return;
    add_name(out, begin, "pairs");
    at_text_addf(out, "{\"anchor\": %d, \"ratio\": ", p->anchor);
    at_text_add_double(out, p->ratio);
    at_text_add(out, ", \"of_first\": ");
    at_text_add_double(out, p->of_first);
    if (p->of_first_error > 0) {
        at_text_add(out, ", \"of_first_error\": ");
        at_text_add_double(out, p->of_first_error);
    }
    at_text_add(out, ", \"first\": ");
    at_text_add_json_string(out, p->first);
    if (p->num_ratios) {
        at_text_add(out, ", \"ratios\": ");
        at_add_doubles(out, p->ratios, p->num_ratios);
    }
    if (*p->states) {
        at_text_add(out, ", \"states\": ");
        at_text_add_json_string(out, p->states);
    }
    at_text_add(out, p->is_bracketed ? ", \"bracketed\": true}" : "}");
}

static void add_accuracy(at_text *out, size_t begin, const at_accuracy *x) {
    if (!x->is_known) return;
    add_name(out, begin, "accuracy");
    at_text_add(out, "{\"max_error\": ");
    at_text_add_double(out, x->max_error);
    at_text_add(out, ", \"rms_error\": ");
    at_text_add_double(out, x->rms_error);
    at_text_add(out, "}");
}

void at_extra_print(at_text *out, const at_extra *e) {
    at_text_add(out, "{");
    size_t begin = out->len;
    add_texts(out, begin, e, extra_texts, COUNT(extra_texts));
    /* Other readers hold numbers in doubles: a seed that does not fit one is a text. */
    if (e->seed || (e->tuner && *e->tuner)) {
        bool fits = e->seed <= UINT64_C(1) << 53;
        add_name(out, begin, "seed");
        at_text_addf(out, fits ? "%llu" : "\"%llu\"", (unsigned long long)e->seed);
    }
    if (e->num_samples) {
        add_name(out, begin, "samples_s");
        at_add_doubles(out, e->samples_s, e->num_samples);
    }
    add_int(out, begin, "number", e->number, 1);
    add_int(out, begin, "repeat", e->number ? e->num_samples : 0, 1);
    add_positive(out, begin, "min_repeat_ms", e->min_repeat_ms);
    add_positive(out, begin, e->in_bytes ? "gbytes_per_s" : "gflops", e->gflops);
    add_positive(out, begin, name_of_peak(e), e->peak_gflops);
    add_positive(out, begin, "of_limit", e->of_limit);
    add_accuracy(out, begin, &e->accuracy);
    add_pairs(out, begin, &e->pairs);
    add_int(out, begin, "same_as", e->same_as, 0);
    if (e->trial.search) add_trial(out, begin, &e->trial);
    add_name(out, begin, "context");
    at_text_add(out, "{");
    size_t context = out->len;
    add_texts(out, context, &e->context, context_texts, COUNT(context_texts));
    add_int(out, context, "threads", e->context.threads, 1);
    char hash[33];
    if (!*e->context_hash) at_context_hash(&e->context, hash);
    at_text_addf(out, "}, \"context_hash\": \"%s\"}", *e->context_hash ? e->context_hash : hash);
}

/* ---- parsing -------------------------------------------------------------------------------- */

static void take_text(void *owner, const text_field *f, const char *text) {
    unsigned n = 0;
    *text_in(owner, f) = text;
    if (!f->words) return;
    while (f->words[n] && strcmp(f->words[n], text)) n++;
    *number_in(owner, f) = n;
}

static at_status read_texts(void *owner, const at_json *from, const text_field *fields, int n,
                            const char *place, at_error *err) {
    for (int i = 0; i < n; i++) {
        const at_json *v = at_json_get(from, fields[i].name);
        if (v && v->kind != AT_JSON_STRING)
            return at_fail(err, AT_E_INPUT, "%s.%s is not a text", place, fields[i].name);
        take_text(owner, &fields[i], v ? v->string : "");
    }
    return AT_OK;
}

at_status at_read_doubles(at_arena *a, const at_json *from, const char *place, const double **out,
                          int *n, at_error *err) {
    if (!from || from->kind != AT_JSON_ARRAY)
        return at_fail(err, AT_E_INPUT, "%s is not an array", place);
    double *x = AT_NEW_ARRAY(a, double, from->count);
    int i = 0;
    for (const at_json *v = from->child; v; v = v->next) {
        if (v->kind != AT_JSON_NUMBER)
            return at_fail(err, AT_E_INPUT, "%s[%d] is not a number", place, i);
        x[i++] = v->number;
    }
    *out = x;
    *n = i;
    return AT_OK;
}

static at_status read_double(const at_json *object, const char *name, double *out, at_error *err) {
    const at_json *v = at_json_get(object, name);
    if (v && v->kind != AT_JSON_NUMBER)
        return at_fail(err, AT_E_INPUT, "autotune.%s is not a number", name);
    *out = v ? v->number : 0;
    return AT_OK;
}

/* A whole number from 1 to INT32_MAX; 0 where there is none. */
static at_status read_int(const at_json *object, const char *name, const char *place, int most,
                          int *out, at_error *err) {
    const at_json *v = at_json_get(object, name);
    if (v && !(v->is_int && v->integer > 0 && v->integer <= most))
        return at_fail(err, AT_E_INPUT, "%s.%s is not a number from 1 to %d", place, name, most);
    *out = v ? (int)v->integer : 0;
    return AT_OK;
}

static at_status read_seed(const at_json *v, uint64_t *out, at_error *err) {
    char number[24] = "";
    const char *spelled = number;
    char *end;
    *out = 0;
    if (!v) return AT_OK;
    if (v->kind == AT_JSON_STRING) spelled = v->string;
    else if (v->is_int) snprintf(number, sizeof number, "%lld", (long long)v->integer);
    errno = 0;
    *out = strtoull(spelled, &end, 10);
    if (*spelled < '0' || *spelled > '9' || *end || errno)
        return at_fail(err, AT_E_INPUT, "autotune.seed is not a whole number from 0");
    return AT_OK;
}

static at_status read_trial(const at_json *v, at_trial_id *out, at_error *err) {
    const at_json *search = at_json_get(v, "search"), *epoch = at_json_get(v, "epoch");
    const at_json *number = at_json_get(v, "number"), *asked = at_json_get(v, "asked");
    *out = (at_trial_id){0};
    if (!v) return AT_OK;
    if (!at_json_is(search, AT_JSON_STRING) || strlen(search->string) != 16 ||
        strspn(search->string, "0123456789abcdef") != 16 || !number || !number->is_int ||
        number->integer < 0 || !asked || !asked->is_int || asked->integer <= number->integer ||
        !epoch)
        return at_fail(
            err, AT_E_INPUT,
            "autotune.trial is not a search of 16 hexadecimal digits with epoch, number, "
            "attempt and asked");
    AT_TRY(read_int(v, "epoch", "autotune.trial", INT32_MAX, &out->epoch, err));
    AT_TRY(read_int(v, "attempt", "autotune.trial", INT32_MAX, &out->attempt, err));
    if (!out->attempt) out->attempt = 1;
    out->search = strtoull(search->string, NULL, 16);
    out->number = number->integer;
    out->asked = asked->integer;
    return AT_OK;
}

static bool is_positive(const at_json *v) {
    return at_json_is(v, AT_JSON_NUMBER) && v->number > 0 && !isinf(v->number);
}

static bool are_states(const char *s) {
    at_state state;
    while (*s && at_state_from_letter(*s, &state)) s++;
    return !*s;
}

static at_status read_pairs(at_arena *a, const at_json *v, at_paired *out, at_error *err) {
    *out = (at_paired){.states = "", .first = ""};
    if (!v) return AT_OK;
    const at_json *anchor = at_json_get(v, "anchor"), *ratios = at_json_get(v, "ratios");
    const at_json *ratio = at_json_get(v, "ratio"), *of_first = at_json_get(v, "of_first");
    const at_json *first = at_json_get(v, "first"), *states = at_json_get(v, "states");
    const at_json *bracketed = at_json_get(v, "bracketed"),
                  *unsure = at_json_get(v, "of_first_error");
    if (!anchor || !anchor->is_int || anchor->integer < 0 || anchor->integer > INT32_MAX)
        return at_fail(err, AT_E_INPUT, "autotune.pairs.anchor is not a number from 0");
    if (!is_positive(ratio) || !is_positive(of_first))
        return at_fail(err, AT_E_INPUT, "autotune.pairs has no ratio above 0, or no of_first");
    if (unsure && !is_positive(unsure))
        return at_fail(err, AT_E_INPUT, "autotune.pairs.of_first_error is not above 0");
    if (!at_json_is(first, AT_JSON_STRING))
        return at_fail(err, AT_E_INPUT, "autotune.pairs.first is not a text");
    if (ratios)
        AT_TRY(at_read_doubles(a, ratios, "autotune.pairs.ratios", &out->ratios, &out->num_ratios,
                               err));
    for (int i = 0; i < out->num_ratios; i++)
        if (!(out->ratios[i] > 0) || isinf(out->ratios[i]))
            return at_fail(err, AT_E_INPUT, "autotune.pairs.ratios[%d] is not above 0", i);
    if (states && (states->kind != AT_JSON_STRING || !are_states(states->string) ||
                   strlen(states->string) != (size_t)out->num_ratios))
        return at_fail(err, AT_E_INPUT,
                       "autotune.pairs.states is not a letter a, c, m or u for "
                       "each of its ratios");
    out->anchor = (int)anchor->integer;
    out->ratio = ratio->number;
    out->of_first = of_first->number;
    out->of_first_error = unsure ? unsure->number : 0;
    out->first = first->string;
    if (states) out->states = states->string;
    out->is_bracketed = at_json_is(bracketed, AT_JSON_BOOL) && bracketed->boolean;
    return AT_OK;
}

/* Logs of before November 2026 have roots of means of equal squares that were rounded up. */
static bool is_at_most(double rms, double most) { return rms >= 0 && rms <= most * (1 + 1e-12); }

static at_status read_accuracy(const at_json *v, at_accuracy *out, at_error *err) {
    const at_json *most = at_json_get(v, "max_error"), *rms = at_json_get(v, "rms_error");
    *out = (at_accuracy){0};
    if (!v) return AT_OK;
    if (!at_json_is(most, AT_JSON_NUMBER) || !at_json_is(rms, AT_JSON_NUMBER) ||
        !is_at_most(rms->number, most->number))
        return at_fail(err, AT_E_INPUT,
                       "autotune.accuracy is not a max_error and an rms_error from 0 up to it");
    *out = (at_accuracy){true, most->number, fmin(rms->number, most->number)};
    return AT_OK;
}

at_status at_extra_read(at_arena *a, const at_json *from, at_extra *e, at_error *err) {
    e->present = from != NULL;
    AT_TRY(read_texts(e, from, extra_texts, COUNT(extra_texts), "autotune", err));
    AT_TRY(read_seed(at_json_get(from, "seed"), &e->seed, err));
    const at_json *samples = at_json_get(from, "samples_s");
    if (samples)
        AT_TRY(
            at_read_doubles(a, samples, "autotune.samples_s", &e->samples_s, &e->num_samples, err));
    AT_TRY(read_int(from, "number", "autotune", INT32_MAX, &e->number, err));
    AT_TRY(read_double(from, "min_repeat_ms", &e->min_repeat_ms, err));
    e->in_bytes = at_json_get(from, "gbytes_per_s") || at_json_get(from, "bandwidth_gbytes_per_s");
    AT_TRY(read_double(from, e->in_bytes ? "gbytes_per_s" : "gflops", &e->gflops, err));
    e->of_dots = at_json_get(from, "dot_peak_gflops") != NULL;
    AT_TRY(read_double(from, name_of_peak(e), &e->peak_gflops, err));
    AT_TRY(read_double(from, "of_limit", &e->of_limit, err));
    AT_TRY(read_accuracy(at_json_get(from, "accuracy"), &e->accuracy, err));
    AT_TRY(read_pairs(a, at_json_get(from, "pairs"), &e->pairs, err));
    const at_json *same_as = at_json_get(from, "same_as");
    if (same_as && !(same_as->is_int && same_as->integer >= 0))
        return at_fail(err, AT_E_INPUT, "autotune.same_as is not an index");
    e->same_as = same_as ? same_as->integer : -1;
    AT_TRY(read_trial(at_json_get(from, "trial"), &e->trial, err));

    const at_json *context = at_json_get(from, "context");
    if (context && context->kind != AT_JSON_OBJECT)
        return at_fail(err, AT_E_INPUT, "autotune.context is not an object");
    AT_TRY(read_texts(&e->context, context, context_texts, COUNT(context_texts), "autotune.context",
                      err));
    AT_TRY(
        read_int(context, "threads", "autotune.context", AT_MAX_THREADS, &e->context.threads, err));
    /* The hash as written: a later version may know more of the context than is read here. */
    const at_json *hash = at_json_get(from, "context_hash");
    if (!from) return AT_OK;
    if (!hash) at_context_hash(&e->context, e->context_hash);
    else if (hash->kind != AT_JSON_STRING || strlen(hash->string) != 32 ||
             strspn(hash->string, "0123456789abcdef") != 32)
        return at_fail(err, AT_E_INPUT, "autotune.context_hash is not of 32 hexadecimal digits");
    else strcpy(e->context_hash, hash->string);
    return AT_OK;
}
