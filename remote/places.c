/* remote/places.c: "local:2", "ssh:user@host,host2", "slurm:nodes=4,partition=p", "dir:/path". */
#include "remote/places.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { MOST_SPOTS = 1024, MOST_PROGRAM_BYTES = 256 << 20 };

static at_spot *add(at_arena *a, at_spots *out, at_place_kind kind, const char *name) {
    at_spot *s = at_push(a, out);
    *s = (at_spot){.kind = kind, .name = name};
    return s;
}

static at_status count_of(const char *what, const char *text, long *n, at_error *err) {
    char *end;
    *n = strtol(text, &end, 10);
    if (isdigit((unsigned char)*text) && !*end && *n >= 1 && *n <= MOST_SPOTS) return AT_OK;
    return at_fail(err, AT_E_USAGE, "--on %s: a number from 1 to %d is expected", what, MOST_SPOTS);
}

static at_status parse_local(at_arena *a, const char *text, const char *rest, at_spots *out,
                             at_error *err) {
    long n = 1;
    if (rest) AT_TRY(count_of(text, rest, &n, err));
    for (long i = 0; i < n; i++)
        add(a, out, AT_PLACE_LOCAL, n > 1 ? at_format(a, "local.%ld", i) : "local");
    return AT_OK;
}

/* A name that ssh would take for an option, or a shell for more, is none. */
static bool is_host(const char *s, size_t n) {
    if (!n || *s == '-') return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr("@.-_:%[]", s[i])) return false;
    return true;
}

static at_status parse_ssh(at_arena *a, const char *text, const char *rest, at_spots *out,
                           at_error *err) {
    for (const char *p = rest ? rest : "";; p++) {
        size_t n = strcspn(p, ",");
        if (!is_host(p, n))
            return at_fail(err, AT_E_USAGE,
                           "--on %s: hosts are expected, ssh:user@host,host2, as ssh takes them",
                           text);
        const char *host = at_strndup(a, p, n);
        add(a, out, AT_PLACE_SSH, at_format(a, "ssh:%s", host))->host = host;
        p += n;
        if (!*p) return AT_OK;
    }
}

/* As every node finds it. */
static at_status whole_path(at_arena *a, const char *path, const char **out, at_error *err) {
    char here[PATH_MAX];
    *out = path;
    if (*path == '/') return AT_OK;
    if (!getcwd(here, sizeof here)) return at_fail(err, AT_E_INPUT, "no current folder");
    *out = at_format(a, "%s/%s", here, path);
    return AT_OK;
}

static const char *const slurm_options[] = {"partition",  "account",     "qos",      "time",
                                            "constraint", "reservation", "nodelist", "exclude",
                                            "mem",        NULL};

static at_status parse_slurm(at_arena *a, const char *text, const char *rest, at_spots *out,
                             at_error *err) {
    AT_VEC(const char *) options = {0};
    const char *program = NULL, *dir = NULL, *in_job = getenv("SLURM_JOB_NUM_NODES");
    long nodes = 1;
    if (in_job && (nodes = atol(in_job)) < 1) nodes = 1;
    for (const char *p = rest ? rest : ""; *p;) {
        size_t n = strcspn(p, ",");
        char *word = at_strndup(a, p, n), *value = strchr(word, '=');
        if (value) *value++ = 0;
        int i = 0;
        while (slurm_options[i] && strcmp(word, slurm_options[i]) != 0) i++;
        if (value && *value && !strcmp(word, "nodes")) AT_TRY(count_of(text, value, &nodes, err));
        else if (value && *value && !strcmp(word, "program")) program = value;
        else if (value && *value && !strcmp(word, "dir")) AT_TRY(whole_path(a, value, &dir, err));
        else if (value && *value && slurm_options[i])
            *at_push(a, &options) = at_format(a, "--%s=%s", word, value);
        else
            return at_fail(
                err, AT_E_USAGE,
                "--on %s: %s is none of nodes, program, dir, partition, account, qos, time, "
                "constraint, reservation, nodelist, exclude and mem, each with =VALUE",
                text, *word ? word : "an empty word");
        p += n + (p[n] == ',');
    }
    *at_push(a, &options) = NULL;
    if (dir) add(a, out, AT_PLACE_DIR, at_format(a, "slurm:dir=%s", dir))->path = dir;
    for (long i = 0; i < (dir ? 1 : nodes); i++) {
        at_spot *s =
            add(a, out, AT_PLACE_SLURM, dir ? "slurm's step" : at_format(a, "slurm.%ld", i));
        s->program = program;
        s->options = options.data;
        s->path = dir;
        s->nodes = dir ? (int)nodes : 1;
    }
    return AT_OK;
}

static at_status parse_dir(at_arena *a, const char *text, const char *rest, at_spots *out,
                           at_error *err) {
    if (!rest || !*rest) return at_fail(err, AT_E_USAGE, "--on %s: a path is expected", text);
    add(a, out, AT_PLACE_DIR, at_strdup(a, text))->path = at_strdup(a, rest);
    return AT_OK;
}

at_status at_places_parse(at_arena *a, const char *text, at_spots *out, at_error *err) {
    static const struct {
        const char *name;
        at_status (*parse)(at_arena *a, const char *text, const char *rest, at_spots *out,
                           at_error *err);
    } kinds[] = {
        {"local", parse_local}, {"ssh", parse_ssh}, {"slurm", parse_slurm}, {"dir", parse_dir}};
    size_t n = strcspn(text, ":");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == n && !memcmp(kinds[i].name, text, n)) {
            AT_TRY(kinds[i].parse(a, text, text[n] ? text + n + 1 : NULL, out, err));
            if (out->len <= MOST_SPOTS) return AT_OK;
            return at_fail(err, AT_E_USAGE, "--on %s: more than %d workers", text, MOST_SPOTS);
        }
    return at_fail(err, AT_E_USAGE,
                   "--on %s: there are local[:N], ssh:HOST[,HOST], slurm[:OPTIONS] and dir:PATH",
                   text);
}

/* ---- commands -------------------------------------------------------------------------------- */

static at_status own_path(at_arena *a, char **out, at_error *err) {
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0) return at_fail(err, AT_E_BUG, "cannot tell where this program is");
    *out = at_strndup(a, path, (size_t)n);
    return AT_OK;
}

at_status at_own_program(at_arena *a, char **bytes, size_t *len, at_error *err) {
    return at_read_file(a, "/proc/self/exe", MOST_PROGRAM_BYTES, bytes, len, err);
}

/* Runs this very program there: where it is not, it comes on standard input first. The name tells
 * its content, so there is no other version to be taken for it. */
static at_status ssh_script(at_arena *a, char **out, at_error *err) {
    char *bytes, hex[33];
    size_t len;
    at_hash h;
    struct utsname u;
    at_arena *scratch = at_arena_new();
    at_status s = at_own_program(scratch, &bytes, &len, err);
    if (s == AT_OK) {
        at_hash_init(&h);
        at_hash_add(&h, bytes, len);
        at_hash_hex(&h, hex);
        uname(&u);
        *out =
            at_format(a,
                      "exec sh -c '"
                      "if [ \"$(uname -m)\" != %s ]; then echo; echo " AT_PLACE_OTHER
                      " \"$(uname -m)\"; exit 1; fi; "
                      "p=\"${XDG_CACHE_HOME:-$HOME/.cache}/autotune\"; f=\"$p/agent-%s\"; "
                      "if [ ! -x \"$f\" ]; then echo; echo " AT_PLACE_MISSING
                      "; umask 077; mkdir -p \"$p\" && "
                      "head -c %zu >\"$f.$$\" && [ \"$(wc -c <\"$f.$$\")\" -eq %zu ] && chmod 700 "
                      "\"$f.$$\" && "
                      "mv \"$f.$$\" \"$f\" || { rm -f \"$f.$$\"; exit 1; }; fi; exec \"$f\" agent'",
                      u.machine, hex, len, len);
    }
    at_arena_free(scratch);
    return s;
}

at_status at_place_command(at_arena *a, const at_spot *s, int cores, char ***argv, at_error *err) {
    static const char *const ssh[] = {"ssh", "-T",
                                      "-o",  "BatchMode=yes",
                                      "-o",  "ConnectTimeout=20",
                                      "-o",  "ServerAliveInterval=15",
                                      "-o",  "ServerAliveCountMax=4",
                                      "--",  NULL};
    /* One task a node. Where pipes carry the frames there is a step per node, too: srun mixes what
     * several tasks print. */
    static const char *const srun[] = {"srun",
                                       "--exact",
                                       "--unbuffered",
                                       "--quiet",
                                       "--propagate=NONE",
                                       "--job-name=autotune",
                                       "--kill-on-bad-exit=0",
                                       NULL};
    AT_VEC(char *) words = {0};
    char *path, *script;
    AT_TRY(own_path(a, &path, err));
    const char *const *fixed = s->kind == AT_PLACE_SSH     ? ssh
                               : s->kind == AT_PLACE_SLURM ? srun
                                                           : NULL;
    for (; fixed && *fixed; fixed++) *at_push(a, &words) = at_strdup(a, *fixed);
    if (s->kind == AT_PLACE_SSH) {
        AT_TRY(ssh_script(a, &script, err));
        *at_push(a, &words) = at_strdup(a, s->host);
        *at_push(a, &words) = script;
    } else {
        if (s->kind == AT_PLACE_SLURM) {
            *at_push(a, &words) = at_format(a, "--nodes=%d", s->nodes);
            *at_push(a, &words) = at_format(a, "--ntasks=%d", s->nodes);
            *at_push(a, &words) = "--ntasks-per-node=1";
            *at_push(a, &words) = at_format(a, "--cpus-per-task=%d", cores);
            if (s->path) *at_push(a, &words) = "--no-kill"; /* a lost node takes no other along */
            for (const char *const *o = s->options; *o; o++) *at_push(a, &words) = at_strdup(a, *o);
        }
        *at_push(a, &words) = s->program ? at_strdup(a, s->program) : path;
        *at_push(a, &words) = s->path ? "work" : "agent";
        if (s->path) *at_push(a, &words) = at_strdup(a, s->path), *at_push(a, &words) = "--once";
    }
    *at_push(a, &words) = NULL;
    *argv = words.data;
    return AT_OK;
}
