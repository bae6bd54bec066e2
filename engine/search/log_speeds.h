/* engine/search/log_speeds.h: the speeds that a search estimates with stand in its log (#speeds
 * lines), so that it goes on as it began, whatever the machine's table is by then.
 * docs/notes/records.md
 */
#ifndef AT_ENGINE_LOG_SPEEDS_H
#define AT_ENGINE_LOG_SPEEDS_H

#include "engine/search/config_cost.h"
#include "engine/measure/known_results.h"

/* Before the first proposal: m estimates with the speeds of the log; of one that begins now, with
 * those that are known of this machine, which are written to it (log may be NULL). AT_E_OUTPUT */
at_status at_speeds_begin(at_session *s, at_known *known, at_log *log, at_cost_model *m,
                          at_error *err);

#endif
