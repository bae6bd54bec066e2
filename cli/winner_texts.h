/* cli/winner_texts.h: a log's winner made once more, for its texts and what bounds it. */
#ifndef AT_CLI_WINNER_TEXTS_H
#define AT_CLI_WINNER_TEXTS_H

#include "view/view.h"

/* options: the engine's. Where its kernel cannot be made here, nothing is known. */
void at_winner_texts_of(const void *options, at_arena *a, const at_record *r, at_winner_texts *out);

#endif
