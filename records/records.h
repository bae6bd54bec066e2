/* records/records.h: the log. One AutoTVM 0.2 JSON line per trial, with one extra member of ours;
 * reading is tolerant, writing is exact. docs/notes/records.md lists the fields. */
#ifndef AT_RECORDS_H
#define AT_RECORDS_H

#include "records/words.h"      /* states, and their words */
#include "records/record.h"     /* a trial and its result */
#include "records/log.h"        /* logs: reading, appending */
#include "records/comments.h"   /* what logs say besides trials */
#include "records/best.h"       /* choosing */
#include "records/summary.h"    /* looking */
#include "records/formats.h"    /* other tuners' files */
#include "records/space_file.h" /* recorded spaces */

#endif
