/* sketch/ansor_workloads.c: the computations that TVM's te_workload registers, and a product with a
 * sum, as Ansor numbers their stages: tensors stand in the order of its stages, and axes have its
 * names. Each has a line "## NAME LEAST" in ansor_workloads.te, and is a .te text from there to the
 * next. Source: TVM 0.12 to 0.19, python/tvm/meta_schedule/testing/te_workload.py. */
#include <stdlib.h>
#include <string.h>

#include "sketch/ansor_int.h"

extern const char ansor_workloads[];
AT_TEXT_OF_FILE(ansor_workloads, "sketch/ansor_workloads.te");

/* The first one from there on; false: there is none. */
static bool next_workload(const char *from, ansor_workload *out) {
    static const char mark[] = "## ";
    const char *head = strstr(from, mark);
    char *text;
    if (!head) return false;
    out->name = head + strlen(mark);
    out->name_length = (int)strcspn(out->name, " ");
    out->least = (int)strtol(out->name + out->name_length, &text, 10);
    const char *end = strstr(text, mark);
    out->text = text;
    out->length = end ? (size_t)(end - text) : strlen(text);
    return true;
}

bool ansor_find_workload(const char *name, ansor_workload *out) {
    const char *from = ansor_workloads;
    for (; next_workload(from, out); from = out->text)
        if (strlen(name) == (size_t)out->name_length && !strncmp(name, out->name, strlen(name)))
            return true;
    return false;
}

void ansor_add_workloads(at_text *out) {
    ansor_workload w;
    for (const char *from = ansor_workloads; next_workload(from, &w); from = w.text)
        at_text_addf(out, "%s%.*s", from > ansor_workloads ? ", " : "", w.name_length, w.name);
}
