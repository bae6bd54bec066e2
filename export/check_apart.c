/* export/check_apart.c: parallel loops in the main of an emitted file, as runtime/par_apart.c has
 * them in a worker: a race is found every time, where with threads it is a matter of luck. */
#include "export/check_int.h"

static const char helper[] =
    "/* What a check run of parallel loops may write. */\n"
    "static struct {\n"
    "    char *at, *before, *first;\n"
    "    unsigned long bytes;\n"
    "} at_written[%d];\n"
    "static int at_num_written, at_runs_apart, at_conflicts;\n\n"
    "static void at_may_write(void *p, unsigned long bytes) {\n"
    "    char *two = malloc(2 * bytes + 1);\n"
    "    if (!two) exit(1);\n"
    "    at_written[at_num_written].at = p, at_written[at_num_written].bytes = bytes;\n"
    "    at_written[at_num_written].before = two, at_written[at_num_written++].first = two + "
    "bytes;\n"
    "}\n\n"
    "static void at_end_apart(void) {\n"
    "    while (at_num_written) free(at_written[--at_num_written].before);\n"
    "    at_runs_apart = 0;\n}\n\n"
    "/* Turns of a parallel loop in two groups, by each bit of their numbers, from the same "
    "memory:\n"
    " * what one turn needs of another is not there, and what both write differs. */\n"
    "static void at_for_apart(void (*body)(long i, int thread, void *context), long n,\n"
    "                         void *context) {\n"
    "    for (int bit = 0; n > 0 && (!bit || (n - 1) >> bit); bit++) {\n"
    "        for (int k = 0; k < at_num_written; k++)\n"
    "            memcpy(at_written[k].before, at_written[k].at, at_written[k].bytes);\n"
    "        for (int group = 0; group < 2; group++) {\n"
    "            for (long i = n; i-- > 0;)\n"
    "                if ((i >> bit & 1) == group) body(i, group, context);\n"
    "            for (int k = 0; k < at_num_written && !group; k++) {\n"
    "                memcpy(at_written[k].first, at_written[k].at, at_written[k].bytes);\n"
    "                memcpy(at_written[k].at, at_written[k].before, at_written[k].bytes);\n"
    "            }\n"
    "        }\n"
    "        for (int k = 0; k < at_num_written; k++) {\n"
    "            char *now = at_written[k].at, *before = at_written[k].before;\n"
    "            const char *first = at_written[k].first;\n"
    "            for (unsigned long i = 0; i < at_written[k].bytes; i++) {\n"
    "                if (first[i] == before[i]) continue;\n"
    "                at_conflicts += now[i] != before[i] && now[i] != first[i];\n"
    "                now[i] = first[i];\n"
    "            }\n"
    "            if ((n - 1) >> (bit + 1)) memcpy(now, before, at_written[k].bytes);\n"
    "        }\n"
    "    }\n}\n\n";

void at_file_apart_helper(int most, at_text *out) {
    if (most) at_text_addf(out, helper, most + 2); /* the workspace, and what is packed */
}

static void may_write(at_text *out, const at_face_tensor *t, char letter, int i) {
    const int bytes = letter == 'g' ? 8 : (int)at_type_bytes(t->type);
    const int64_t n = letter == 'c' ? at_face_elements_in_blocks(t) : t->elements;
    at_text_addf(out, "    at_may_write(%c%d, %lldUL * %d);\n", letter, i, (long long)n, bytes);
}

void at_file_begin_apart(at_text *out, const at_face *f, const char *letters) {
    for (int i = f->num_inputs; i < f->num; i++) may_write(out, &f->tensors[i], letters[i], i);
    at_text_addf(out, "    at_may_write(workspace, %s_workspace_bytes(1));\n", f->of->name);
    if (f->packs) at_text_addf(out, "    at_may_write(packed, %s_packed_bytes());\n", f->of->name);
    at_text_add(out, "    at_runs_apart = 1;\n");
}

void at_file_end_apart(at_text *out, const at_face *f) {
    at_text_addf(out,
                 "    at_end_apart();\n"
                 "    if (at_conflicts) {\n"
                 "        printf(\"%s: two turns of a parallel loop write different values to one "
                 "place\\n\");\n        return 1;\n    }\n",
                 f->of->name);
}
