/* tests/cluster/cluster.c: see cluster.h. */
#include "tests/cluster/cluster.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cluster/relay.h"

char sources[PATH_MAX], self[PATH_MAX];
bool has_ssh, has_slurm;
static char program[PATH_MAX], sent[PATH_MAX + 32];

/* Cores are claimed on the whole machine: two such tests at once would wait for each other's. */
static void take_turns(void) {
    char name[64];
    snprintf(name, sizeof name, "/tmp/autotune-test-cluster-%u.lock", (unsigned)geteuid());
    int fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) flock(fd, LOCK_EX); /* until this process ends */
}

int cluster_setup(void **state) {
    if (!getcwd(sources, sizeof sources) || cli_setup(state)) return -1;
    if (!realpath("autotune", program) || !getcwd(sent, PATH_MAX)) return -1;
    strcat(sent, "/cluster/there/autotune/agent-");
    take_turns();
    mkdir("cluster", 0700);
    const cli_result *r = cli_run("%s/tools/cluster up cluster", sources);
    has_ssh = strstr(r->out, "ssh") != NULL;
    has_slurm = strstr(r->out, "slurm") != NULL;
    if (!has_ssh) print_message("no sshd could be started: what needs one is skipped\n");
    if (!has_slurm) print_message("no Slurm could be started: what needs one is skipped\n");
    return 0;
}

int cluster_teardown(void **state) {
    cli_run("%s/tools/cluster down cluster", sources);
    return cli_teardown(state);
}

/* ---- what is left ---------------------------------------------------------------------------- */

int count_processes(bool agents_alone, int *pids, int most) {
    DIR *d = opendir("/proc");
    int n = 0;
    for (struct dirent *e; (e = readdir(d));) {
        char path[300], exe[PATH_MAX], line[256] = "";
        snprintf(path, sizeof path, "/proc/%.20s/exe", e->d_name);
        ssize_t len = atoi(e->d_name) > 0 ? readlink(path, exe, sizeof exe - 1) : -1;
        if (len <= 0) continue;
        exe[len] = 0;
        if (strcmp(exe, program) && strncmp(exe, sent, strlen(sent))) continue;
        snprintf(path, sizeof path, "/proc/%.20s/cmdline", e->d_name);
        FILE *f = fopen(path, "re");
        size_t got = f ? fread(line, 1, sizeof line - 1, f) : 0;
        if (f) fclose(f);
        for (size_t i = 0; i < got; i++)
            if (!line[i]) line[i] = ' ';
        bool is_agent = strstr(line, " agent ") || strstr(line, " work ");
        if (agents_alone && !is_agent) continue;
        if (n < most) pids[n] = atoi(e->d_name);
        n++;
    }
    closedir(d);
    return n;
}

void expect_nothing_left(const char *after) {
    int pids[8] = {0}, n = 0;
    for (int i = 0; i < 300; i++, usleep(100000))
        if (!(n = count_processes(false, pids, 8))) break;
    if (n) fail_msg("after %s, %d processes are left; %d is one", after, n, pids[0]);
    /* Cores that others have claimed are theirs. */
    cli_expect(0, "! for f in /tmp/autotune-cores-$(id -u)/*; do [ -e $f ] && flock -n $f echo $f; "
                  "done | grep .");
    cli_expect(1, "ls -d /tmp/autotune-agent-* 2>/dev/null | grep .");
    cli_expect(1, "find box -mindepth 2 2>/dev/null | grep .");
    cli_expect(1, "find cluster/there -type f ! -name 'agent-*[0-9a-f]' "
                  "2>/dev/null | grep .");
    if (has_slurm)
        cli_expect(1, ENV "timeout 60 sh -c 'while squeue -h | grep -q .; do sleep 0.2; "
                          "done'; squeue -h | grep .");
}

/* ---- what is recorded ------------------------------------------------------------------------ */

/* Of one context: a node whose kernels have other ratios than the first one's for certain, as a
 * neighbour on one of its cores may make it, is searched by itself. */
typedef struct trials_of {
    char context[17];
    char *seen; /* [trials] */
    int n;
} trials_of;

static trials_of *find_context(trials_of *of, int most, const char *line, const char *line_end,
                               int trials) {
    static const char key[] = "\"context_hash\": \"";
    const char *hash = strstr(line, key);
    if (!hash || hash > line_end) fail_msg("a trial without a context");
    hash += sizeof key - 1;
    for (int i = 0; i < most; i++) {
        if (!of[i].seen) {
            memcpy(of[i].context, hash, sizeof of[i].context - 1);
            of[i].seen = calloc((size_t)trials, 1);
        }
        if (!strncmp(of[i].context, hash, sizeof of[i].context - 1)) return &of[i];
    }
    fail_msg("more than %d contexts", most);
    return NULL;
}

void expect_trials(const char *log, int trials) {
    enum { MOST_CONTEXTS = 2 }; /* there are two nodes */
    trials_of of[MOST_CONTEXTS] = {0};
    cli_expect(
        0,
        "grep '\"trial\"' %s | sed -n 's/.*\"config\": {\"index\": \\([0-9]*\\).*\"context_hash\": "
        "\"\\([0-9a-f]*\\)\".*/\\1 \\2/p' | sort | uniq -d | wc -l | grep -x 0",
        log);
    char *text = cli_read(log), *line_end;
    for (char *line = text; (line_end = strchr(line, '\n')); line = line_end + 1) {
        /* "number" is the number of runs per sample, too */
        char *attempt = strstr(line, ", \"attempt\""), *p = line, *number = NULL;
        while (attempt && attempt < line_end && (p = strstr(p, "\"number\": ")) && p < attempt)
            number = p++;
        if (!number) continue;
        int n = atoi(number + strlen("\"number\": "));
        trials_of *x = find_context(of, MOST_CONTEXTS, line, line_end, trials);
        if (n < 0 || n >= trials || x->seen[n])
            fail_msg("%s: trial %d is there twice, or was not asked for", log, n);
        x->seen[n] = 1;
        x->n++;
    }
    if (!of[0].seen) fail_msg("%s: no trials, not %d", log, trials);
    for (int i = 0; i < MOST_CONTEXTS && of[i].seen; i++) {
        if (of[i].n != trials)
            fail_msg("%s: %d trials of %s, not %d", log, of[i].n, of[i].context, trials);
        free(of[i].seen);
    }
}

bool cluster_is_relay(int argc, char **argv, int *status) {
    bool is_relay = argc > 2 && !strcmp(argv[1], "--relay");
    if (is_relay) *status = relay_main(argc - 2, argv + 2);
    if (!realpath("/proc/self/exe", self)) exit(1);
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return is_relay;
}
