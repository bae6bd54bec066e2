/* cli/sparsity_plot.h: plot --against sparsity: from which share of pruned blocks on a layer is
 * faster. */
#ifndef AT_CLI_SPARSITY_PLOT_H
#define AT_CLI_SPARSITY_PLOT_H

#include "cli/options.h"

/* Of the logs that are the operands: as text, as JSON or into a file. AT_E_NO_VALID: they hold no
 * valid record with a sparse weight. */
at_status at_plot_sparsities(const at_options *o, at_arena *a, at_error *err);

#endif
