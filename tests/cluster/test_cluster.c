/* Searches on real engines on this machine: sshd, Slurm with two nodes (tools/cluster), a shared
 * directory, pipes. Whatever is killed, hangs or comes twice: each trial is recorded once, and
 * nothing is left. AT_FAULTS, AT_TRIALS: how many faults in one run of how many trials. */
#include "tests/cli/cli_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cluster/relay.h"

static char sources[PATH_MAX], self[PATH_MAX], program[PATH_MAX], sent[PATH_MAX + 32];
static bool has_ssh, has_slurm;

/* Before what uses the engines. */
#define ENV ". cluster/env.sh; "
#define TASK "dense --args M=64,N=64,K=64 --tuner random -q "

/* Cores are claimed on the whole machine: two such tests at once would wait for each other's. */
static void take_turns(void) {
    char name[64];
    snprintf(name, sizeof name, "/tmp/autotune-test-cluster-%u.lock", (unsigned)geteuid());
    int fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) flock(fd, LOCK_EX); /* until this process ends */
}

static int setup(void **state) {
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

static int teardown(void **state) {
    cli_run("%s/tools/cluster down cluster", sources);
    return cli_teardown(state);
}

/* ---- what is left -----------------------------------------------------------------------------
 */

/* Processes of this program, agents, workers and searches, by the file that they run. */
static int count_processes(bool agents_alone, int *pids, int most) {
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

static void expect_nothing_left(const char *after) {
    int pids[8] = {0}, n = 0;
    for (int i = 0; i < 100; i++, usleep(100000))
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
        cli_expect(1, ENV "timeout 20 sh -c 'while squeue -h | grep -q .; do sleep 0.2; "
                          "done'; squeue -h | grep .");
}

/* ---- what is recorded -------------------------------------------------------------------------
 */

/* The log's trials, each once: numbers from 0 on, no index twice. */
static void expect_trials(const char *log, int trials) {
    char *text = cli_read(log);
    char *numbers = calloc((size_t)trials, 1);
    int n = 0;
    cli_expect(
        0,
        "sed -n 's/.*\"config\": {\"index\": \\([0-9]*\\).*/\\1/p' %s | sort | uniq -d | wc -l "
        "| grep -x 0",
        log);
    text = cli_read(log);
    for (char *p = text; (p = strstr(p, "\"number\": ")); p++) {
        if (strncmp(p - strlen("\"epoch\": 1, "), "\"epoch\"", 7) && !strstr(p, "\"attempt\""))
            continue;
        char *line_end = strchr(p, '\n'), *attempt = strstr(p, "\"attempt\"");
        if (!attempt || attempt > line_end || attempt - p > 40) continue; /* runs per sample */
        int number = atoi(p + strlen("\"number\": "));
        if (number < 0 || number >= trials || numbers[number])
            fail_msg("%s: trial %d is there twice, or was not asked for", log, number);
        numbers[number] = 1;
        n++;
    }
    free(numbers);
    if (n != trials) fail_msg("%s: %d trials, not %d", log, n, trials);
}

/* ---- each way -------------------------------------------------------------------------------- */

static void local(void **state) {
    (void)state;
    cli_expect(0, "./autotune " TASK "--trials 60 --log here.log");
    cli_expect(0, "./autotune " TASK "--trials 60 --log local.log --on local");
    expect_trials("local.log", 60);
    cli_expect(0, "grep -c '^#anchor {.*\"second\": ' local.log | grep -x 1");
    /* One worker: what a search here tries, and what it finds right. */
    cli_expect(
        0, "for l in here local; do sed -n 's/.*\"config\": {\"index\": \\([0-9]*\\).*\"result\": "
           "\\[\\[[^]]*\\], \\([0-9]\\),.*/\\1 \\2/p' $l.log | sort >$l.txt; done; cmp here.txt "
           "local.txt");
    expect_nothing_left("local");
}

static void by_ssh(void **state) {
    (void)state;
    if (!has_ssh) skip();
    cli_expect(0, ENV "./autotune " TASK "--trials 100 --log ssh.log --on ssh:board,board2");
    expect_trials("ssh.log", 100);
    cli_expect(0, "ls cluster/there/autotune/agent-*"); /* it was sent there */
    expect_nothing_left("ssh");
}

static void by_slurm(void **state) {
    (void)state;
    if (!has_slurm) skip();
    cli_expect(0, ENV "./autotune " TASK "--trials 100 --log slurm.log --on slurm:nodes=2");
    expect_trials("slurm.log", 100);
    expect_nothing_left("slurm");
    /* One step for both nodes. */
    cli_expect(0, ENV "./autotune " TASK "--trials 100 --log step.log --on slurm:nodes=2,dir=box");
    expect_trials("step.log", 100);
    expect_nothing_left("a step");
    /* As steps of a job. */
    cli_expect(0, ENV "salloc -Q -N2 ./autotune " TASK "--trials 50 --log job.log --on slurm");
    expect_trials("job.log", 50);
    cli_expect(0, ENV "salloc -Q -N2 ./autotune " TASK
                      "--trials 50 --log job2.log --on slurm:dir=box & p=$!; n=0; "
                      "for i in $(seq 100); do sleep 0.1; n=$(squeue -h -s -o '%%i %%N' | grep -c "
                      "'n\\[0-1\\]'); [ $n = 1 ] && break; done; wait $p && [ $n = 1 ]");
    expect_trials("job2.log", 50);
    expect_nothing_left("a job");
}

static void by_folder(void **state) {
    (void)state;
    cli_expect(
        0, "umask 0; mkdir -m 700 box; for i in 1 2; do timeout 60 ./autotune work box --idle 2s "
           "2>work$i.err & done; ./autotune " TASK "--trials 100 --log dir.log --on dir:box; "
           "r=$?; find box -perm /077 | grep . && r=9; wait; exit $r");
    expect_trials("dir.log", 100);
    expect_nothing_left("a directory");
}

/* A directory by two mounts, of which neither tells what the other does, and both remember for
 * three seconds what a folder held and did not hold: as NFS has it. */
static void by_mounts(void **state) {
    (void)state;
    if (!has_ssh) skip();
    if (cli_run(ENV "mkdir -m 700 shared m1 m2; for m in m1 m2; do sshfs board:$PWD/shared $m -o "
                    "dir_cache=no,entry_timeout=3,attr_timeout=3,negative_timeout=3 || exit 1; "
                    "done")
            ->status) {
        print_message("no directory could be mounted by sshfs\n");
        skip();
    }
    cli_expect(0, "timeout 60 ./autotune work m2/box --once 2>work.err & ./autotune " TASK
                  "--trials 60 --log net.log --on dir:m1/box; r=$?; wait; exit $r");
    expect_trials("net.log", 60);
    cli_expect(1, "find shared -mindepth 3 | grep .");
    cli_expect(0, "umount m1 m2");
    expect_nothing_left("a directory by two mounts");
}

static void several_at_once(void **state) {
    (void)state;
    if (!has_ssh || !has_slurm) skip();
    cli_expect(0, ENV "./autotune " TASK
                      "--trials 100 --log both.log --on ssh:board --on slurm:nodes=1");
    expect_trials("both.log", 100);
    expect_nothing_left("both");
}

static void own_template(void **state) {
    (void)state;
    cli_expect(
        0,
        "cp %s/examples/depthwise.c .; ./autotune depthwise.c --tuner random -q --trials 5 --log "
        "own.log --on local",
        sources);
    expect_trials("own.log", 5);
    expect_nothing_left("a template of one's own");
}

/* What is made, left out and read there is what is here. */
static void options(void **state) {
    (void)state;
    static const char *const given[] = {"--jobs 2", "--prune 1.5", "--weight w.mtx"};
    cli_expect(0,
               "{ echo '%%%%MatrixMarket matrix array real general'; echo '64 64'; "
               "i=0; while [ $i -lt 4096 ]; do i=$((i + 1)); echo $((i %% 7 - 3)); done; } >w.mtx");
    for (int i = 0; i < 3; i++) {
        cli_expect(0, "./autotune " TASK "--trials 40 %s --log o%d.log --on local", given[i], i);
        char log[16];
        snprintf(log, sizeof log, "o%d.log", i);
        expect_trials(log, 40);
    }
    /* Where kernels are made meanwhile, the same are tried; what is left out was measured before.
     */
    cli_expect(0, "./autotune " TASK "--trials 40 --log o.log; for l in o o0; do sed -n "
                  "'s/.*\"config\": {\"index\": \\([0-9]*\\).*/\\1/p' $l.log | sort >$l.txt; done; "
                  "cmp o.txt o0.txt; grep -q '\"pruned\"' o1.log && ! grep -q '\"pruned\"' o.log");
    const cli_result *r = cli_expect(
        0, "./autotune dense --workload resnet50 --tuner random -q --trials 5 --log set.log --on "
           "local; "
           "./autotune conv2d --args N=1,H=7,W=7,CI=16,CO=16,KH=3,KW=3,strides=1,padding=1 --tuner "
           "random -q --trials 9 --log ways.log --on local");
    assert_non_null(strstr(r->out, "conv2d: "));
    cli_expect(0, "grep -c '\"trial\"' ways.log | grep -x 9");
    /* A weight is in the form of the operator, not of the template that each way is. */
    r = cli_expect(0,
                   "{ echo '%%%%MatrixMarket matrix array real general'; echo '16 144'; "
                   "tail -n +3 w.mtx | head -n 2304; } >c.mtx; "
                   "./autotune conv2d --args N=1,H=7,W=7,CI=16,CO=16,KH=3,KW=3,strides=1,padding=1 "
                   "--weight c.mtx --tuner random -q --trials 9 --log form.log --on local");
    assert_non_null(strstr(r->out, "spconv2d_3x3_gemm"));
    expect_nothing_left("options");
}

static void listed(void **state) {
    (void)state;
    const cli_result *r = cli_expect(
        0, "./autotune " TASK
           "--trials 1000000 --log list.log --on local & p=$!; for i in $(seq 50); do "
           "sleep 0.1; ./autotune workers | grep 'last' && break; done; kill $p; wait $p; true");
    assert_non_null(strstr(r->out, "dense M=64,N=64,K=64"));
    expect_nothing_left("being listed");
    /* Through a directory, too; a worker that was killed is not among them. */
    r = cli_expect(
        0, "./autotune work box --idle 1s 2>/dev/null & w=$!; ./autotune " TASK
           "--trials 1000000 --log list2.log --on dir:box & p=$!; until cp box/workers/W-* "
           "box/workers/W-dead 2>/dev/null; do sleep 0.1; done; sed -i 's/\"host\": "
           "\"[^\"]*/\"host\": \"gone/' box/workers/W-dead; "
           "touch -d '2 minutes ago' box/workers/W-dead; for i in $(seq 50); do sleep 0.1; "
           "./autotune workers --on dir:box | grep 'last' && break; done; kill $p; wait $p; "
           "wait $w; true");
    assert_non_null(strstr(r->out, "dense M=64,N=64,K=64"));
    assert_null(strstr(r->out, "gone"));
    cli_expect(1, "ls box/workers/* 2>/dev/null | grep .");
    expect_nothing_left("being listed through a directory");
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *before, *on, *says;
        int status;
    } cases[] = {
        {"", "dir:open", "open to others", 4},
        {"ln -s open link; ", "dir:link", "it is a link", 4},
        {"mkdir -p -m 700 inner; ln -s ../open inner/searches; ", "dir:inner", "it is a link", 4},
        {"", "ssh:-oProxyCommand=x", "hosts are expected", 2},
        {"", "ssh:", "hosts are expected", 2},
        {"", "slurm:nodes=0", "a number from 1", 2},
        {"", "slurm:shell=x", "is none of nodes", 2},
        {"", "tcp:host", "there are local[:N]", 2},
        {"", "local:x", "a number from 1", 2},
    };
    cli_expect(0, "mkdir -m 755 open");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cli_result *r =
            cli_expect(cases[i].status, "%s./autotune " TASK "--trials 3 --log r.log --on %s",
                       cases[i].before, cases[i].on);
        if (!strstr(r->err, cases[i].says)) fail_msg("--on %s: %s", cases[i].on, r->err);
    }
    cli_expect(4, "./autotune work open");
    if (has_ssh) { /* nobody there: what ssh says is told */
        const cli_result *r =
            cli_expect(1, ENV "rm -f cluster/user; ./autotune " TASK
                              "--trials 3 --log r.log --on ssh:board; r=$?; "
                              "ssh-keygen -q -t ed25519 -N '' -f cluster/user; cp cluster/user.pub "
                              "cluster/authorized; exit $r");
        if (!strstr(r->err, "ssh:board: ")) fail_msg("%s", r->err);
    }
    expect_nothing_left("refusals");
}

/* An agent of another version is not used. */
static void other_version(void **state) {
    (void)state;
    if (!has_slurm) skip();
    cli_write("old-agent",
              "#!/bin/sh\nprintf '\\nautotune-agent-1\\natfr\\004\\000\\000\\000\\001\\000\\000"
              "\\000\\026\\000\\000\\000\\005\\000\\000\\0000.0.1\\001\\000\\000\\000n\\000\\000"
              "\\000\\000\\001\\000\\000\\000'\nsleep 30\n");
    const cli_result *r =
        cli_expect(1, ENV "chmod 700 old-agent; ./autotune " TASK
                          "--trials 3 --log v.log --on slurm:program=$PWD/old-agent");
    if (!strstr(r->err, "is of version 0.0.1")) fail_msg("%s", r->err);
    expect_nothing_left("another version");
}

/* ---- faults ---------------------------------------------------------------------------------- */

static long setting(const char *name, long otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtol(s, NULL, 10) : otherwise;
}

/* A network that doubles what it delivers, and is slow. */
static void doubled(void **state) {
    (void)state;
    if (!has_ssh) skip();
    cli_expect(0,
               ENV "RELAY='%s --relay double=2,delay=2' ./autotune " TASK
                   "--trials 100 --log double.log --on ssh:board,board2",
               self);
    expect_trials("double.log", 100);
    expect_nothing_left("doubled messages");
}

/* A connection that breaks again and again, and one that stands still for less than the lease, and
 * for more. */
static void broken(void **state) {
    (void)state;
    if (!has_ssh) skip();
    cli_expect(0,
               ENV "RELAY='%s --relay cut=30' ./autotune " TASK
                   "--trials 100 --log cut.log --on ssh:board",
               self);
    expect_trials("cut.log", 100);
    expect_nothing_left("broken connections");
    cli_expect(0,
               ENV "RELAY='%s --relay hang=20:1500' ./autotune " TASK
                   "--trials 60 --log hang1.log --lease 4s --on ssh:board",
               self);
    expect_trials("hang1.log", 60);
    cli_expect(1, "grep -q '\"attempt\": 2' hang1.log"); /* it was waited for */
    cli_expect(0,
               ENV "RELAY='%s --relay hang=20:6000' ./autotune " TASK
                   "--trials 60 --log hang2.log --lease 2s --on ssh:board",
               self);
    expect_trials("hang2.log", 60);
    cli_expect(0, "grep -q '\"attempt\": 2' hang2.log"); /* it was given up */
    expect_nothing_left("connections that hang");
}

/* The search is gone without a word: agents end at once where the stream closes, within the lease
 * where it does not (a directory). */
static void killed_search(void **state) {
    (void)state;
    static const char *const places[] = {"local", "ssh:board", "slurm", "dir:box"};
    for (int i = 0; i < 4; i++) {
        if ((i == 1 && !has_ssh) || (i == 2 && !has_slurm)) continue;
        if (i == 3) cli_expect(0, "(timeout 60 ./autotune work box --idle 3s &) >/dev/null 2>&1");
        cli_expect(0,
                   ENV
                   "rm -f kill.log; ./autotune " TASK
                   "--trials 100000 --log kill.log --lease 2s --on %s "
                   "& p=$!; for i in $(seq 100); do sleep 0.1; grep -c trial kill.log >/dev/null "
                   "2>&1 && [ $(grep -c trial kill.log) -gt 20 ] && break; done; kill -9 $p; true",
                   places[i]);
        if (i != 3) expect_nothing_left(places[i]);
        /* and goes on: nothing is there twice */
        cli_expect(0,
                   ENV
                   "n=$(grep -c '\"trial\"' kill.log); timeout 60 ./autotune " TASK
                   "--trials $((n + 20)) --log kill.log --on %s; grep -c '\"trial\"' kill.log | "
                   "grep -x $((n + 20)) && grep -q '\"epoch\": 2' kill.log",
                   places[i]);
        cli_expect(
            0,
            "sed -n 's/.*\"config\": {\"index\": \\([0-9]*\\).*/\\1/p' kill.log | sort | uniq -d "
            "| wc -l | grep -x 0");
    }
    /* The dead search's folder goes when a worker has seen it stand still for a lease, 90 s; here
     * it is taken away. */
    cli_run("sleep 4; rm -rf box/searches/* box/workers/*");
    expect_nothing_left("killed searches");
}

/* A search that is under way, and what happens to it meanwhile. */
#define WHILE_IT_RUNS(log, on)                                                                     \
    ENV "timeout 100 ./autotune " TASK "--trials 150 --cooldown 15ms --lease 5s --log " log        \
        " --on " on " & p=$!; for i in $(seq 100); do sleep 0.1; "                                 \
        "[ $(grep -c '\"trial\"' " log " 2>/dev/null || echo 0) -gt 20 ] && break; done; "

/* A worker is drained, or another job takes its place; what is left goes on, and it comes back. */
static void drained(void **state) {
    (void)state;
    if (!has_slurm) skip();
    cli_expect(
        0, WHILE_IT_RUNS("drain.log", "slurm:nodes=2") "scontrol update nodename=n0 "
                                                       "state=drain reason=test; sleep 1; scontrol "
                                                       "update nodename=n0 state=resume; wait $p");
    expect_trials("drain.log", 150);
    cli_expect(0, WHILE_IT_RUNS("preempted.log", "slurm:nodes=2") "srun -Q -p first -N1 sleep 1; "
                                                                  "wait $p");
    expect_trials("preempted.log", 150);
    cli_expect(0, "grep -q '\"attempt\": 2' preempted.log");
    expect_nothing_left("draining and preemption");
}

/* One step for two nodes: a task that is killed takes no other along. */
static void lost_task(void **state) {
    (void)state;
    if (!has_slurm) skip();
    int pids[8];
    cli_expect(0, ENV
               "timeout 100 ./autotune " TASK "--trials 300 --cooldown 50ms --lease 5s --log "
               "lost.log --on slurm:nodes=2,dir=box & echo $! >lost.pid; for i in $(seq 100); do "
               "[ $(./autotune workers --on dir:box | grep -c last) = 2 ] && exit; sleep 0.1; "
               "done; exit 1"); /* both have measured */
    int n = count_processes(true, pids, 8);
    assert_in_range(n, 2, 8);
    kill(pids[0], SIGKILL);
    cli_expect(0, "for i in $(seq 600); do kill -0 $(cat lost.pid) 2>/dev/null || exit 0; "
                  "sleep 0.1; done; exit 1");
    expect_trials("lost.log", 300);
    cli_expect(0, "grep -q '\"attempt\": 2' lost.log"); /* what it had went to the other */
    /* It cannot take away what it said of itself. */
    cli_expect(0, "touch -d '2 minutes ago' box/workers/W-*; ./autotune workers --on dir:box");
    expect_nothing_left("a lost task");
}

/* The disk is full there: where the program cannot be put it is told; where messages cannot be,
 * they wait until they can. */
static void full_disk(void **state) {
    (void)state;
    cli_write("fill.sh",
              "set -e; mkdir -m 700 small; mount -t tmpfs -o size=1m,mode=700 tmpfs small\n");
    if (cli_run("sh fill.sh")->status) {
        print_message("nothing can be mounted here: no disk was full\n");
        skip();
    }
    cli_expect(0, "(timeout 100 ./autotune work small --idle 3s &) >/dev/null 2>&1; " WHILE_IT_RUNS(
                      "full.log", "dir:small") "head -c 2m /dev/zero >small/zeros 2>/dev/null; "
                                               "sleep 1.5; rm small/zeros; wait $p");
    expect_trials("full.log", 150);
    if (has_ssh) {
        const cli_result *r = cli_expect(
            1,
            ENV "rm -rf small/*; head -c 2m /dev/zero >small/zeros 2>/dev/null; mv cluster/there "
                "kept; ln -s ../small cluster/there; ./autotune " TASK
                "--trials 3 --log full2.log --on ssh:board; r=$?; rm cluster/there; "
                "mv kept cluster/there; exit $r");
        if (!strstr(r->err, "ssh:board: ")) fail_msg("%s", r->err);
    }
    cli_expect(0, "sleep 4; umount small");
    expect_nothing_left("a full disk");
}

/* Clocks a day apart, the one that counts up and that of the calendar. */
static void clocks_apart(void **state) {
    (void)state;
    if (!has_slurm) skip();
    cli_write("late.c", "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <time.h>\n"
                        "int clock_gettime(clockid_t c, struct timespec *t) {\n"
                        "    int (*f)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "
                        "\"clock_gettime\");\n"
                        "    int r = f(c, t);\n"
                        "    if (c == CLOCK_REALTIME) t->tv_sec -= 86400;\n"
                        "    if (c == CLOCK_MONOTONIC) t->tv_sec += 86400;\n"
                        "    return r;\n}\n");
    cli_expect(0, "cc -shared -fPIC -o late.so late.c");
    cli_write("late-agent",
              "#!/bin/sh\nLD_PRELOAD=$(dirname $0)/late.so exec $(dirname $0)/autotune \"$@\"\n");
    cli_expect(0,
               ENV "chmod 700 late-agent; ./autotune " TASK "--trials 60 --log late.log --lease 5s "
                   "--on slurm:program=$PWD/late-agent --on local");
    expect_trials("late.log", 60);
    cli_expect(1, "grep -q '\"attempt\": 2' late.log"); /* nobody was given up */
    expect_nothing_left("clocks that are apart");
}

/* A node that has a tenth of the time, by being stopped for the rest of it: its results are on the
 * scale of the others. */
static void slow_node(void **state) {
    (void)state;
    if (!has_slurm) skip();
    cli_write("slow-agent",
              "#!/bin/sh\nsetsid $(dirname $0)/autotune \"$@\" <&0 &\np=$!\n"
              "trap 'kill -CONT -$p; kill -TERM -$p' TERM\n"
              "while kill -0 $p 2>/dev/null; do kill -STOP -$p; sleep 0.09; kill -CONT -$p; "
              "sleep 0.01; done\nwait $p\n");
    cli_expect(0, ENV "chmod 700 slow-agent; timeout 200 ./autotune " TASK
                      "--trials 100 --log slow.log --on slurm:program=$PWD/slow-agent --on local");
    expect_trials("slow.log", 100);
    cli_expect(0, "grep -c '^#anchor' slow.log | grep -x 1");
    expect_nothing_left("a slow node");
}

/* A machine on which kernels compare in another way has a context, and all trials, of its own. The
 * first's take longer than the other needs to join. */
static void odd_node(void **state) {
    (void)state;
    if (!has_ssh) skip();
    cli_expect(0,
               ENV "RELAY='%s --relay apart=board2' ./autotune " TASK
                   "--trials 30 --cooldown 100ms --log odd.log --on ssh:board,board2",
               self);
    cli_expect(0, "sed -n 's/.*\"trial\": .*\"context_hash\": \"\\([0-9a-f]*\\)\".*/\\1/p' odd.log "
                  "| sort | uniq -c | awk '$1 != 30 { bad = 1 } END { exit bad || NR != 2 }'");
    cli_expect(0, "grep -c ', second kernel [0-9]*[.][0-9]*' odd.log | grep -x 30");
    expect_nothing_left("an odd node");
}

/* ---- what takes minutes ---------------------------------------------------------------------- */

static void only_if_long(void) {
    if (setting("AT_LONG", 0)) return;
    print_message("AT_LONG=1 asks for what takes minutes\n");
    skip();
}

/* A network that hangs for a minute, which is less than the lease. */
static void a_minute(void **state) {
    (void)state;
    only_if_long();
    if (!has_ssh) skip();
    cli_expect(0,
               ENV "RELAY='%s --relay hang=20:60000' ./autotune " TASK
                   "--trials 60 --log minute.log --on ssh:board",
               self);
    expect_trials("minute.log", 60);
    cli_expect(1, "grep -q '\"attempt\": 2' minute.log"); /* it was waited for */
    expect_nothing_left("a minute");
}

/* Jobs at their time limit: the next ones go on. */
static void time_limit(void **state) {
    (void)state;
    only_if_long();
    if (!has_slurm) skip();
    cli_expect(0, ENV "timeout 400 ./autotune " TASK
                      "--trials 1000 --cooldown 200ms --log limit.log --on slurm:nodes=2,time=1");
    expect_trials("limit.log", 1000);
    cli_expect(0, "grep -q '\"attempt\": 2' limit.log");
    expect_nothing_left("a time limit");
}

/* A search that was killed does not count up any more: a lease later its folder goes, whoever sees
 * it. */
static void dead_search(void **state) {
    (void)state;
    only_if_long();
    cli_expect(0, "mkdir -p -m 700 box/searches/S-dead/W-1/to; chmod -R 700 box; "
                  "echo 1 >box/searches/S-dead/alive; chmod 600 box/searches/S-dead/alive; "
                  "timeout 120 ./autotune work box --idle 95s; "
                  "! ls -d box/searches/S-dead 2>/dev/null");
    expect_nothing_left("a dead search");
}

/* ---- many faults in one run ------------------------------------------------------------------ */

static pid_t start_search(int trials) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid) return pid;
    char command[1024];
    snprintf(command, sizeof command,
             ENV "exec ./autotune " TASK
                 "--trials %d --cooldown 15ms --lease 3s --log many.log %s %s "
                 "2>>many.err >/dev/null",
             trials, has_ssh ? "--on ssh:board" : "--on local",
             has_slurm ? "--on slurm:nodes=1"
             : has_ssh ? ""
                       : "--on local");
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static bool is_over(pid_t pid, int *status) { return waitpid(pid, status, WNOHANG) == pid; }

static const char *inject(at_rng *rng, pid_t *search, int trials) {
    int pids[64], n;
    switch (at_rng_below(rng, has_slurm ? 8 : 5)) {
    case 0: /* an agent is killed */
        n = count_processes(true, pids, 64);
        if (n > 0) kill(pids[at_rng_below(rng, (uint64_t)(n < 64 ? n : 64))], SIGKILL);
        return "an agent killed";
    case 1: /* a worker, or whatever else runs this program, but for the search */
    case 2:
        n = count_processes(false, pids, 64);
        if (n > 0) {
            pid_t p = pids[at_rng_below(rng, (uint64_t)(n < 64 ? n : 64))];
            if (p != *search) kill(p, SIGKILL);
        }
        return "a worker killed";
    case 3: /* stopped for a while */
        n = count_processes(true, pids, 64);
        if (n > 0) {
            pid_t p = pids[at_rng_below(rng, (uint64_t)(n < 64 ? n : 64))];
            kill(p, SIGSTOP);
            usleep(300000);
            kill(p, SIGCONT);
        }
        return "an agent stopped";
    case 4: /* the search itself */
        kill(*search, SIGKILL);
        waitpid(*search, NULL, 0);
        *search = start_search(trials);
        return "the search killed";
    case 5: cli_run(ENV "scancel -n autotune"); return "a job cancelled";
    case 6:
        cli_run(ENV
                "scontrol update nodename=n0 state=down reason=test; sleep 0.2; scontrol update "
                "nodename=n0 state=resume");
        return "a node down";
    default:
        cli_run(ENV "p=$(cat cluster/dn1.pid); kill -STOP $p; sleep 0.5; kill -CONT $p");
        return "a slurmd stopped";
    }
}

static void many(void **state) {
    (void)state;
    int trials = (int)setting("AT_TRIALS", 400), faults = (int)setting("AT_FAULTS", 12), done = 0;
    at_rng rng;
    int status = 0;
    at_rng_seed(&rng, (uint64_t)setting("AT_SEED", 1), 21);
    pid_t search = start_search(trials);
    while (!is_over(search, &status)) {
        usleep(100000 + (useconds_t)at_rng_below(&rng, 400000));
        if (done < faults) inject(&rng, &search, trials), done++;
    }
    if (status)
        fail_msg("the search ended with status %d\n%s", status, cli_run("tail -5 many.err")->out);
    print_message("%d faults in %d trials\n", done, trials);
    expect_trials("many.log", trials);
    expect_nothing_left("many faults");
}

int main(int argc, char **argv) {
    if (argc > 2 && !strcmp(argv[1], "--relay")) return relay_main(argc - 2, argv + 2);
    if (!realpath("/proc/self/exe", self)) return 1;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local),         cmocka_unit_test(by_ssh),
        cmocka_unit_test(by_slurm),      cmocka_unit_test(by_folder),
        cmocka_unit_test(by_mounts),     cmocka_unit_test(several_at_once),
        cmocka_unit_test(own_template),  cmocka_unit_test(options),
        cmocka_unit_test(listed),        cmocka_unit_test(refusals),
        cmocka_unit_test(other_version), cmocka_unit_test(doubled),
        cmocka_unit_test(broken),        cmocka_unit_test(killed_search),
        cmocka_unit_test(drained),       cmocka_unit_test(lost_task),
        cmocka_unit_test(full_disk),     cmocka_unit_test(clocks_apart),
        cmocka_unit_test(slow_node),     cmocka_unit_test(odd_node),
        cmocka_unit_test(a_minute),      cmocka_unit_test(time_limit),
        cmocka_unit_test(dead_search),   cmocka_unit_test(many)};
    return cmocka_run_group_tests_name("cluster/cluster", tests, setup, teardown);
}
