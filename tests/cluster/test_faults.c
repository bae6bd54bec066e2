/* Whatever is killed, hangs or comes twice: each trial is recorded once, and nothing is left.
 * AT_FAULTS, AT_TRIALS: how many faults in one run of how many trials; AT_LONG=1: faults that take
 * minutes. */
#include "tests/cluster/cluster.h"
#include "tests/setting.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each worker claims a core: on one, as of a program that tools/run-tests is not given with -a,
 * they measure one after another. */
static bool has_two_cores(void) {
    if (cli_cores() >= 2) return true;
    print_message("workers measure side by side on two cores, and there is one\n");
    return false;
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
                   "--trials 60 --log hang1.log --lease 20s --on ssh:board",
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
    cli_expect(0, "mkdir -m 700 box");
    for (int i = 0; i < 4; i++) {
        if ((i == 1 && !has_ssh) || (i == 2 && !has_slurm)) continue;
        if (i == 3)
            cli_expect(0, "(timeout 200 ./autotune work box & echo $! >work.pid) >/dev/null 2>&1");
        cli_expect(0,
                   ENV "rm -f kill.log; ./autotune " TASK
                       "--trials 100000 --log kill.log --lease 2s --on %s & echo $! >kill.pid; "
                       "for i in $(seq 100); do sleep 0.1; [ $(grep -c trial kill.log) -gt 20 ] && "
                       "break; done 2>/dev/null",
                   places[i]);
        /* srun waits for a task that takes long to end, so that it takes away what it has claimed.
         */
        int pids[8], n = i == 2 ? count_processes(true, pids, 8) : 0;
        for (int k = 0; k < n && k < 8; k++) kill(pids[k], SIGSTOP);
        cli_expect(0, "kill -9 $(cat kill.pid); sleep 0.5");
        for (int k = 0; k < n && k < 8; k++) kill(pids[k], SIGCONT);
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
            "grep '\"trial\"' kill.log | sed -n 's/.*\"config\": {\"index\": \\([0-9]*\\).*/\\1/p' "
            "| sort | uniq -d | wc -l | grep -x 0");
    }
    /* The dead search's folder goes when a worker has seen it stand still for a lease, 90 s; here
     * it is taken away. */
    cli_run("kill $(cat work.pid); sleep 0.5; rm -rf box/searches/* box/workers/*");
    expect_nothing_left("killed searches");
}

#define WAIT_FOR(pid)                                                                              \
    "for i in $(seq 600); do kill -0 $(cat " pid ") 2>/dev/null || exit 0; sleep 0.1; done; exit " \
    "1"

/* A search that is silent for longer than the lease, its streams being open: its agents end, and
 * the kernels with them; when it goes on, they are started again. */
static void stopped_search(void **state) {
    (void)state;
    int left = 0, pids[8];
    if (!has_ssh) skip();
    /* The relay has the machine look the same whenever it joins. */
    cli_expect(0,
               ENV "RELAY='%s --relay apart=none' ./autotune " TASK
                   "--trials 300 --cooldown 15ms --lease 2s --log stop.log "
                   "--on ssh:board & echo $! >stop.pid; for i in $(seq 100); do sleep 0.1; "
                   "[ $(grep -c '\"trial\"' stop.log) -gt 20 ] && break; done; "
                   "kill -STOP $(cat stop.pid)",
               self);
    for (int i = 0; i < 300 && (left = count_processes(false, pids, 8)) > 1; i++) usleep(100000);
    cli_expect(0, "kill -CONT $(cat stop.pid)");
    assert_int_equal(left, 1);
    cli_expect(0, WAIT_FOR("stop.pid"));
    expect_trials("stop.log", 300);
    expect_nothing_left("a search that stood still");
}

/* A search that is under way, and what happens to it meanwhile. */
#define WHILE_IT_RUNS(log, on)                                                                     \
    ENV "timeout 100 ./autotune " TASK "--trials 150 --cooldown 50ms --lease 10s --log " log       \
        " --on " on " & p=$!; for i in $(seq 100); do sleep 0.1; "                                 \
        "[ $(grep -c '\"trial\"' " log " 2>/dev/null || echo 0) -gt 20 ] && break; done; "

/* A worker is drained, or another job takes its place; what is left goes on, and it comes back. */
static void drained(void **state) {
    (void)state;
    if (!has_slurm || !has_two_cores()) skip();
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
    if (!has_slurm || !has_two_cores()) skip();
    int pids[8];
    cli_expect(0, ENV
               "timeout 100 ./autotune " TASK "--trials 300 --cooldown 50ms --lease 5s --log "
               "lost.log --on slurm:nodes=2,dir=box & echo $! >lost.pid; for i in $(seq 300); do "
               "[ $(./autotune workers --on dir:box | grep -c last) = 2 ] && exit; sleep 0.1; "
               "done; exit 1"); /* both have measured */
    int n = count_processes(true, pids, 8);
    assert_in_range(n, 2, 8);
    kill(pids[0], SIGKILL);
    cli_expect(0, WAIT_FOR("lost.pid"));
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
    cli_expect(
        0,
        "(timeout 100 ./autotune work small & echo $! >small.pid) >/dev/null 2>&1; " WHILE_IT_RUNS(
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
    cli_expect(0, "kill $(cat small.pid); while ! umount small; do sleep 0.1; done 2>/dev/null");
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
    cli_expect(0, ENV "chmod 700 late-agent; ./autotune " TASK
                      "--trials 60 --log late.log --lease 30s "
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
    if (!has_ssh || !has_two_cores()) skip();
    cli_expect(0,
               ENV "RELAY='%s --relay apart=board2' ./autotune " TASK
                   "--trials 30 --cooldown 200ms --log odd.log --on ssh:board,board2",
               self);
    cli_expect(0, "sed -n 's/.*\"trial\": .*\"context_hash\": \"\\([0-9a-f]*\\)\".*/\\1/p' odd.log "
                  "| sort | uniq -c | awk '$1 != 30 { bad = 1 } END { exit bad || NR != 2 }'");
    expect_trials("odd.log", 30);
    cli_expect(0,
               "grep '\"trial\"' odd.log | grep -c ', second kernel [0-9]*[.][0-9]*' | grep -x 30");
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
    int status;
    if (cluster_is_relay(argc, argv, &status)) return status;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubled),       cmocka_unit_test(broken),
        cmocka_unit_test(killed_search), cmocka_unit_test(stopped_search),
        cmocka_unit_test(drained),       cmocka_unit_test(lost_task),
        cmocka_unit_test(full_disk),     cmocka_unit_test(clocks_apart),
        cmocka_unit_test(slow_node),     cmocka_unit_test(odd_node),
        cmocka_unit_test(a_minute),      cmocka_unit_test(time_limit),
        cmocka_unit_test(dead_search),   cmocka_unit_test(many)};
    return cmocka_run_group_tests_name("cluster/faults", tests, cluster_setup, cluster_teardown);
}
