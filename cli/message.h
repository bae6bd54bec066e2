/* cli/message.h: warnings on stderr, and figures with their units. */
#ifndef AT_CLI_MESSAGE_H
#define AT_CLI_MESSAGE_H

#include "base/base.h"

/* Both on stderr, not with --quiet. "autotune: warning: text"; has the face that log readers call.
 */
void at_warn(void *unused, const char *text);
/* Whole lines of the caller's, '\n' and styles included. */
void at_say(const char *text);
/* "autotune: text", said whatever was asked for. */
void at_say_error(const char *text);
void at_text_add_time(at_text *out, double seconds); /* "1.234 ms", four significant digits */
void at_text_add_share(at_text *out, double share);  /* "98.4 %", of a share between 0 and 1 */

#endif
