/* cli/trial_note.h: lines about single trials while a search runs. */
#ifndef AT_CLI_TRIAL_NOTE_H
#define AT_CLI_TRIAL_NOTE_H

#include "cli/options.h"
#include "cli/progress.h"

typedef struct at_notes {
    const at_options *options;
    const char *log;               /* where the records are */
    bool seen[AT_ERR_UNKNOWN + 1]; /* kinds of failure */
} at_notes;

/* Of a trial just measured, number tally->done: the first failure of each kind in full, with the
 * command that reproduces it; with --verbose every failure and every better one; with --debug every
 * trial, in the words of AutoTVM's debug log. */
void at_note_trial(at_notes *n, at_session *s, const at_tally *tally, const at_record *r,
                   bool is_better);
/* What to do about a run all of whose trials failed: of the commonest kind. */
/* What helps against this kind, as the end of a message: "; --timeout ..."; "" where nothing does.
 */
const char *at_failure_remedy(int error_no);
const char *at_failure_advice(const at_tally *tally);

#endif
