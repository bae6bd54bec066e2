/* cli/isas.h: --isas, the instruction sets that a file of kernels is for. */
#ifndef AT_CLI_ISAS_H
#define AT_CLI_ISAS_H

#include "cli/options.h"
#include "engine/engine.h"

enum { AT_MOST_ISAS = 16 };
/* Names with commas between: each once, in this order. */
at_status at_read_isas(const char *list, const at_target **isas, int *n, at_error *err);
/* AT_E_USAGE: other options contradict it. */
at_status at_check_isas(const at_options *o, at_error *err);

#endif
