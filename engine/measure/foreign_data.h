/* engine/measure/foreign_data.h: a kernel without a computation: its data, and the outputs as they
 * should be. */
#ifndef AT_ENGINE_FOREIGN_DATA_H
#define AT_ENGINE_FOREIGN_DATA_H

#include "engine/measure/session.h"

/* Does no text say what the outputs are? And no reference or file either? */
bool at_foreign_has_no_text(const at_session *s);
bool at_foreign_is_unchecked(const at_session *s);
/* Values of inputs, before the dataset knows whether it is exact. AT_E_INPUT: nothing tells what is
 * right, or a file does not fit. */
at_status at_foreign_give(at_session *s, at_dataset *d, at_error *err);
/* Fills the expected outputs and their limits: from files, or by the kernel's reference.
 * AT_E_INPUT */
at_status at_foreign_expect(at_session *s, at_error *err);

#endif
