/* remote/fleet_hear.c: what workers say becomes events of the search. */
#include <stdlib.h>
#include <string.h>

#include "remote/fleet_state.h"
#include "remote/result.h"

typedef at_fleet_worker worker;
typedef at_fleet fleet;

/* The other side has no such program yet, or never will. */
static void look_for_words(fleet *f, worker *w) {
    at_text *got = &w->link.got;
    if (w->state != AT_FLEET_STARTED || !w->link.greets || w->spot->kind != AT_PLACE_SSH ||
        !got->len)
        return;
    if (strstr(got->data, "\n" AT_PLACE_OTHER " ")) {
        w->is_useless = true;
        at_fleet_lose(f, w,
                      "its architecture is another one; install autotune there, and start it by "
                      "dir: or slurm:program=");
        return;
    }
    char *missing = strstr(got->data, "\n" AT_PLACE_MISSING "\n");
    if (!missing) return;
    at_error err;
    if (!f->program && at_own_program(f->arena, &f->program, &f->program_bytes, &err) != AT_OK) {
        at_fleet_lose(f, w, err.text);
        return;
    }
    at_text_clear(got);
    at_link_send_raw(&w->link, f->program, f->program_bytes);
}

static void greet(fleet *f, worker *w, const at_frame *frame) {
    if (strcmp(frame->version, AT_VERSION) != 0) {
        at_text text = {0};
        at_text_addf(&text, "its agent is of version %.40s, this program of " AT_VERSION,
                     frame->version);
        w->is_useless = true;
        at_fleet_lose(f, w, at_text_str(&text));
        at_text_free(&text);
        return;
    }
    free(w->node), free(w->cpu);
    w->node = strdup(frame->node);
    w->cpu = strdup(frame->cpu);
    AT_NEED(w->node && w->cpu);
    w->state = AT_FLEET_GREETED;
    w->was_there = true;
    at_fleet_say(f, w, &f->task);
}

static bool read_record(at_arena *a, const char *text, at_record *out) {
    size_t n = strcspn(text, "\n");
    const char *line = at_strndup(a, text, n);
    return at_record_parse(a, line, n, out, NULL) == AT_OK && out->extra.present;
}

static bool is_of_task(const fleet *f, const at_record *r) {
    return !strcmp(r->extra.context.template_hash, f->task.template_hash) &&
           at_args_equal(r->args, f->task_args);
}

/* Of a task that it has turned from. */
static bool is_late(const fleet *f, const worker *w, at_frame_type type) {
    return f->has_turned && w->state == AT_FLEET_GREETED &&
           (type == AT_FRAME_RESULT || type == AT_FRAME_TURNS);
}

/* true: *out is an event of it. */
static bool take_frame(fleet *f, worker *w, at_arena *a, const at_frame *frame, at_far_event *out) {
    bool fine = true;
    out->kind = AT_FAR_NOTHING;
    if (is_late(f, w, frame->type)) return false;
    switch (frame->type) {
    case AT_FRAME_HELLO:
        if (w->state == AT_FLEET_STARTED) greet(f, w, frame);
        return false;
    case AT_FRAME_READY:
        if (w->state == AT_FLEET_READY && !w->compares) return false; /* delivered twice */
        fine = (w->state == AT_FLEET_GREETED || w->compares) &&
               read_record(a, frame->records, &out->record);
        if (!fine) break;
        if (f->has_turned && !is_of_task(f, &out->record)) return false;
        at_arena_reset(w->arena);
        read_record(w->arena, frame->records, &w->ready);
        out->kind = AT_FAR_JOINED;
        out->anchor = frame->anchor;
        out->objective = frame->objective;
        w->state = AT_FLEET_READY;
        w->has_worked = true;
        w->compares = false;
        break;
    case AT_FRAME_RESULT:
        out->kind = AT_FAR_RESULT;
        fine = w->state == AT_FLEET_READY &&
               at_result_read(frame, &w->ready, &out->record, &out->trial);
        w->failures = 0;
        break;
    case AT_FRAME_TURNS:
        out->kind = AT_FAR_TURNS;
        out->text = frame->text;
        break;
    case AT_FRAME_TOLD:
        out->kind = AT_FAR_TOLD;
        out->text = at_format(a, "%s: %s", w->name, at_visible(a, frame->text));
        break;
    case AT_FRAME_REFUSED: {
        const char *why = at_visible(a, frame->text);
        /* One that has worked may find its cores taken, by its own end before, for a while. */
        w->is_useless |= !w->has_worked;
        at_fleet_lose(f, w, why);
        at_fleet_tell(w, at_format(a, "%s: %s", w->name, why));
        return false;
    }
    default: return false;
    }
    if (!fine) at_fleet_lose(f, w, "what it says makes no sense");
    return fine;
}

/* What happened to a worker that is not something it said. */
static bool take_state(worker *w, at_arena *a, at_far_event *out) {
    if (w->has_left) {
        w->has_left = false;
        out->kind = AT_FAR_LEFT;
        return true;
    }
    if (!w->told) return false;
    out->kind = AT_FAR_TOLD;
    out->text = at_strdup(a, w->told);
    free(w->told);
    w->told = NULL;
    return true;
}

bool at_fleet_hear(fleet *f, worker *w, at_arena *a, at_far_event *out) {
    bool pumped = false;
    if (take_state(w, a, out)) return true;
    while (at_fleet_is_open(w)) {
        at_frame frame;
        at_error err;
        bool there;
        if (at_link_receive(&w->link, a, &frame, &there, &err) != AT_OK) {
            at_fleet_lose(f, w, err.text);
        } else if (there) {
            w->heard_ns = at_now_ns();
            if (take_frame(f, w, a, &frame, out)) return true;
        } else if (!pumped) {
            at_link_pump(&w->link);
            look_for_words(f, w);
            at_link_pump_out(&w->link);
            if (at_fleet_is_open(w)) at_fleet_watch_room(f, w);
            pumped = true;
        } else {
            if (w->link.is_closed) at_fleet_lose(f, w, "it ended");
            else if (at_fleet_is_silent(f, w)) at_fleet_lose(f, w, "it is not heard of any more");
            break;
        }
    }
    return take_state(w, a, out);
}
