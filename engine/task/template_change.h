/* engine/task/template_change.h: records that were measured with another version of their template.
 * What an entity means, and how fast it is, may be another matter since. */
#ifndef AT_ENGINE_TEMPLATE_CHANGE_H
#define AT_ENGINE_TEMPLATE_CHANGE_H

#include "records/records.h"
#include "templates/task.h"

/* A record of the task. Foreign ones, and those that do not say, count as unchanged. */
bool at_is_of_changed_template(const at_record *r, const at_task *task);
/* "3 records were measured with another version of conv2d and are not used; ..." Lives in a. */
const char *at_changed_text(at_arena *a, const char *path, int64_t count, const char *name);

#endif
