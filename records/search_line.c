/* records/search_line.c: the comment line at the beginning of a search. */
#include "records/records_int.h"

#include <string.h>

void at_search_line_print(at_text *out, uint64_t search, int epoch) {
    at_text_addf(out, "search {\"search\": \"%016llx\", \"epoch\": %d}", (unsigned long long)search,
                 epoch);
}

bool at_search_line_read(const char *comment, int *epoch) {
    static const char head[] = "search {";
    if (strncmp(comment, head, strlen(head)) != 0) return false;
    at_arena *a = at_arena_new();
    const at_json *v, *number = NULL;
    const char *json = comment + strlen(head) - 1;
    if (at_json_parse(a, json, strlen(json), &v, NULL) == AT_OK) number = at_json_get(v, "epoch");
    bool is_one = number && number->is_int && number->integer > 0 && number->integer < INT32_MAX;
    if (is_one) *epoch = (int)number->integer;
    at_arena_free(a);
    return is_one;
}
