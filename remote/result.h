/* remote/result.h: what one trial found, between an agent and a search. All else that its record
 * says is as in the record that the agent sent when it was ready. */
#ifndef AT_REMOTE_RESULT_H
#define AT_REMOTE_RESULT_H

#include "remote/frame.h"

/* A frame about a trial, and the trial that a frame is about. */
at_frame at_trial_frame(at_frame_type type, const at_trial_id *id);
at_trial_id at_frame_trial(const at_frame *f);
/* Of this trial; borrows r. */
at_frame at_result_frame(const at_trial_id *id, const at_record *r);
/* The record and its trial, as far as the agent tells; texts and numbers are the frame's, and of
 * its configuration there is the index alone. false: no agent says such a thing. */
bool at_result_read(const at_frame *f, const at_record *ready, at_record *out, at_trial_id *id);

#endif
