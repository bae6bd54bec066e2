/* base/err_no.c: AutoTVM's numbers for what became of a trial, in words. */
#include "base/base.h"

static const char *const words[] = {"ok",    "invalid",         "compile", "compile", "crash",
                                    "wrong", "compile-timeout", "timeout", "unknown"};

const char *at_err_no_name(int error_no) {
    int known = (int)(sizeof words / sizeof words[0]);
    return words[error_no >= 0 && error_no < known ? error_no : AT_ERR_UNKNOWN];
}
