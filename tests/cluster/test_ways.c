/* Searches on real engines on this machine: sshd, Slurm with two nodes (tools/cluster), a shared
 * directory, pipes; and what is refused. Nothing is left of them. */
#include "remote/frame.h"
#include "tests/cluster/cluster.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- each way -------------------------------------------------------------------------------- */

static void local(void **state) {
    (void)state;
    cli_expect(0, "./autotune " TASK "--trials 60 --log here.log");
    cli_expect(0, "./autotune " TASK "--trials 60 --log local.log --on local");
    expect_trials("local.log", 60);
    cli_expect(0, "grep -c '^#anchor {.*\"second\": ' local.log | grep -x 1");
    /* One worker: what a search here tries, and what it finds right. */
    cli_expect(
        0, "for l in here local; do sed -n '/\"part\": \"anchor\"/d; s/.*\"config\": {\"index\": "
           "\\([0-9]*\\).*\"result\": "
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
                      "--trials 50 --cooldown 50ms --log job2.log --on slurm:dir=box & p=$!; n=0; "
                      "while kill -0 $p 2>/dev/null; do sleep 0.1; n=$(squeue -h -s -o '%%i %%N' | "
                      "grep -c 'n\\[0-1\\]'); [ $n = 1 ] && break; done; wait $p && [ $n = 1 ]");
    expect_trials("job2.log", 50);
    expect_nothing_left("a job");
}

static void by_folder(void **state) {
    (void)state;
    cli_expect(
        0,
        "umask 0; mkdir -m 700 box; for i in 1 2; do timeout 60 ./autotune work box 2>work$i.err & "
        "w=\"$w $!\"; done; ./autotune " TASK "--trials 100 --log dir.log --on dir:box; "
        "r=$?; find box -perm /077 | grep . && r=9; kill $w; wait; exit $r");
    expect_trials("dir.log", 100);
    expect_nothing_left("a directory");
}

/* A directory by two mounts, of which neither tells what the other does, and both remember for
 * three seconds what a folder held and did not hold: as NFS has it. */
static void by_mounts(void **state) {
    (void)state;
    if (!has_ssh) skip();
    if (cli_run(ENV "mkdir -m 700 shared m1 m2 shared/box; for m in m1 m2; do sshfs "
                    "board:$PWD/shared $m -o "
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
    bool is_known = cli_knows_cpu();
    int first = cli_cores() < 2; /* without a core for --jobs */
    for (int i = first; i < 3; i++) {
        if (!is_known && strstr(given[i], "--prune")) continue;
        cli_expect(0, "./autotune " TASK "--trials 40 %s --log o%d.log --on local", given[i], i);
        char log[16];
        snprintf(log, sizeof log, "o%d.log", i);
        expect_trials(log, 40);
    }
    /* Where kernels are made meanwhile, the same are tried; what is left out was measured before.
     */
    cli_expect(0, "./autotune " TASK "--trials 40 --log o.log");
    if (!first)
        cli_expect(0, "for l in o o0; do sed -n "
                      "'/\"part\": \"anchor\"/d; s/.*\"config\": {\"index\": \\([0-9]*\\).*/\\1/p' "
                      "$l.log | sort >$l.txt; "
                      "done; cmp o.txt o0.txt");
    if (is_known) cli_expect(0, "grep -q '\"pruned\"' o1.log && ! grep -q '\"pruned\"' o.log");
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
           "--trials 1000000 --log list.log --on local & p=$!; for i in $(seq 300); do "
           "sleep 0.1; ./autotune workers | grep 'last' && break; done; kill $p; wait $p; true");
    assert_non_null(strstr(r->out, "dense M=64,N=64,K=64"));
    expect_nothing_left("being listed");
    /* Through a directory, too; a worker that was killed is not among them. */
    r = cli_expect(
        0, "./autotune work box --idle 5s 2>/dev/null & w=$!; ./autotune " TASK
           "--trials 1000000 --log list2.log --on dir:box & p=$!; until cp box/workers/W-* "
           "box/workers/W-dead 2>/dev/null; do sleep 0.1; done; sed -i 's/\"host\": "
           "\"[^\"]*/\"host\": \"gone/' box/workers/W-dead; "
           "touch -d '2 minutes ago' box/workers/W-dead; for i in $(seq 300); do sleep 0.1; "
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
        {"", "dir:nowhere", "--on dir:nowhere: there is no folder nowhere; mkdir -m 700 makes", 4},
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
    cli_expect(4, "timeout 20 ./autotune work nowhere --once");
    cli_expect(4, "./autotune workers --on dir:nowhere");
    cli_expect(1, "test -e nowhere");
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

/* The advice is who could start one, and not to wait longer. */
static void nobody_comes(void **state) {
    (void)state;
    static const char *const tasks[] = {TASK, "conv2d --args N=1,H=7,W=7 "};
    cli_expect(0, "mkdir -m 700 lonely; ./autotune workers --on dir:lonely | grep -x 'no workers'");
    for (int i = 0; i < 2; i++) {
        const cli_result *r = cli_expect(
            3, "timeout 60 ./autotune %s --time 1s --log n.log --on dir:lonely", tasks[i]);
        if (!strstr(r->err, "the time ended before a worker came from dir:lonely; autotune work "
                            "lonely starts one there\n") ||
            *r->out)
            fail_msg("%s%s", r->out, r->err);
    }
    expect_nothing_left("a search without workers");
}

/* An agent of another version is not used. */
static void other_version(void **state) {
    (void)state;
    if (!has_slurm) skip();
    cli_write(
        "old-agent",
        at_format(
            cli_arena(),
            "#!/bin/sh\nprintf '\\nautotune-agent-1\\natfr\\%03o\\000\\000\\000\\001\\000\\000"
            "\\000\\026\\000\\000\\000\\005\\000\\000\\0000.0.1\\001\\000\\000\\000n\\000\\000"
            "\\000\\000\\001\\000\\000\\000'\nsleep 30\n",
            AT_FRAME_VERSION));
    const cli_result *r =
        cli_expect(1, ENV "chmod 700 old-agent; ./autotune " TASK
                          "--trials 3 --log v.log --on slurm:program=$PWD/old-agent");
    if (!strstr(r->err, "is of version 0.0.1")) fail_msg("%s", r->err);
    expect_nothing_left("another version");
}

int main(int argc, char **argv) {
    int status;
    if (cluster_is_relay(argc, argv, &status)) return status;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local),        cmocka_unit_test(by_ssh),
        cmocka_unit_test(by_slurm),     cmocka_unit_test(by_folder),
        cmocka_unit_test(by_mounts),    cmocka_unit_test(several_at_once),
        cmocka_unit_test(own_template), cmocka_unit_test(options),
        cmocka_unit_test(listed),       cmocka_unit_test(refusals),
        cmocka_unit_test(nobody_comes), cmocka_unit_test(other_version)};
    return cmocka_run_group_tests_name("cluster/ways", tests, cluster_setup, cluster_teardown);
}
