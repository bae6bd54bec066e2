/* What rules derive computes what the computation says: every sketch of the computations in
 * examples/te, at its default and at random points, on small odd shapes, interpreted. */
#include "tests/sketch/interpreted.h"
#include "sketch/sketch.h"

#include <string.h>

static void check(const char *path, const char *args, bool is_plain) {
    at_arena *a = at_arena_new();
    at_task *task = any_task(a, path, args);
    if (is_plain != !strcmp(at_task_sketch_name(task, 0), "plain"))
        fail_msg("%s %s: %s", path, args, at_task_sketch_name(task, 0));
    check_task(a, task);
    at_arena_free(a);
}

static void sets(void **state) {
    (void)state;
    static const struct {
        const char *path, *args;
        bool is_plain; /* no rule finds more than plain loops */
    } cases[] = {
        {"examples/te/matmul_add.te", "N=13,L=7,M=18", false},
        {"examples/te/matmul_add.te", "N=16,L=8,M=32", false},
        {"examples/te/matmul_add.te", "N=2,L=16500,M=8", false}, /* a sum that is shared out */
        {"examples/te/matmul_add.te", "N=37,L=5,M=67", false},
        {"examples/te/matmul_add.te", "N=1,L=3,M=5", false},
        {"examples/te/conv2d.te", "N=3,H=5,W=7,CI=3,CO=9,K=5,S=1,P=2,D=1", false},
        {"examples/te/batch_matmul.te", "B=3,N=5,M=9,K=6", false},
        {"examples/te/conv1d.te", "N=3,L=11,CI=5,CO=12,K=3,S=2,P=1,D=1", false},
        {"examples/te/conv2d.te", "N=1,H=7,W=9,CI=4,CO=8,K=3,S=1,P=1,D=1", false},
        {"examples/te/conv2d.te", "N=2,H=9,W=8,CI=3,CO=11,K=3,S=2,P=2,D=2", false},
        {"examples/te/conv3d.te", "N=1,Z=4,H=5,W=6,CI=3,CO=8,K=3,S=2,P=1", false},
        {"examples/te/group_conv2d.te", "N=1,H=7,W=7,CI=8,CO=16,K=3,S=1,P=1,G=2", false},
        {"examples/te/group_conv2d.te", "N=1,H=7,W=6,CI=6,CO=12,K=3,S=2,P=1,G=3", false},
        {"examples/te/depthwise_conv2d.te", "N=3,H=7,W=9,C=12,K=3,S=2,P=1", false},
        {"examples/te/depthwise_conv2d.te", "N=1,H=3,W=4,C=523,K=3,S=1,P=1",
         false}, /* wide tiles */
        {"examples/te/conv2d_transpose.te", "N=1,H=3,W=4,CI=5,CO=6,K=4,S=2,P=1", false},
        {"examples/te/conv2d_transpose.te", "N=1,H=4,W=4,CI=4,CO=3,K=4,S=2,P=1", false},
        {"examples/te/conv2d_transpose.te", "N=3,H=3,W=5,CI=11,CO=3,K=4,S=2,P=1", false},
        {"examples/te/conv2d_transpose.te", "N=1,H=3,W=3,CI=16,CO=2,K=3,S=1,P=1", false},
        {"examples/te/batch_matmul.te", "B=3,N=5,M=9,K=1024", false},  /* rows a page apart */
        {"examples/te/matmul_add.te", "N=5,L=514,M=67", false},        /* blocks of the reduction */
        {"examples/te/matmul_add.te", "N=5,L=2,M=13109", false},       /* an addend from afar */
        {"examples/te/batch_matmul.te", "B=1,N=2,M=66,K=2048", false}, /* and its rows */
        {"examples/te/conv2d_nchw.te", "N=2,H=9,W=11,CI=3,CO=5,K=3,S=1,P=1", false},
        {"examples/te/conv2d_nchw.te", "N=1,H=17,W=19,CI=2,CO=3,K=3,S=2,P=1", false},
        {"examples/te/conv2d_nchw.te", "N=3,H=5,W=9,CI=3,CO=7,K=1,S=1,P=0", false},
        {"examples/te/group_conv2d.te", "N=3,H=5,W=7,CI=6,CO=15,K=3,S=1,P=1,G=3", false},
        {"examples/te/conv2d.te", "N=1,H=4,W=5,CI=3,CO=131,K=3,S=1,P=1,D=1", false},
        {"examples/te/capsule_conv2d.te", "N=1,H=5,W=4,CI=3,CO=8,K=3,S=2,P=1,C=2", false},
        {"examples/te/capsule_conv2d.te", "N=3,H=3,W=5,CI=2,CO=5,K=3,S=1,P=1,C=2", false},
        {"examples/te/norm.te", "B=3,M=7,N=12", false},
        {"examples/te/norm.te", "B=2,M=34,N=1931", false}, /* shared out among threads */
        {"examples/te/rotary.te", "B=2,T=3,H=2,D=44", false},
        {"tests/te/pictures_beside.te", "H=5,W=19,C=3", false},
        {"tests/te/blur.te", "H=7,W=29", false},
        {"tests/te/padded_points.te", "H=3,W=9,C=2", false},
        {"tests/te/median_of_columns.te", "H=7,W=39", true},
        {"tests/te/opening.te", "C=3,H=11,W=23", true},
        {"tests/te/windows_in_common.te", "H=5,W=43", false},
        {"tests/te/doubled_by_rows.te", "C=2,H=5,W=19", false},
        {"tests/te/tripled_by_rows.te", "C=1,H=4,W=11", false},
        {"tests/te/doubled_beside.te", "C=2,H=5,W=19", false},
        {"tests/te/windows_down.te", "H=17,W=21", false},
        {"tests/te/windows_down.te", "H=3,W=13", false},
        {"tests/te/potentials.te", "N=23,D=3", false},
        {"tests/te/potentials.te", "N=23,D=9", false}, /* too many terms */
        {"tests/te/nearest.te", "N=5,M=19", false},
        {"examples/te/softmax.te", "M=5,N=19", false},
        {"examples/te/softmax.te", "M=37,N=5", false}, /* lanes across rows */
        {"examples/te/layer_norm.te", "M=35,N=9", false},
        {"examples/te/softmax.te", "M=5,N=16387", false}, /* rows are asked for ahead */
        {"examples/te/layer_norm.te", "M=7,N=13", false},
        {"examples/te/layer_norm.te", "M=1,N=40", false},
        {"examples/te/conv2d_bn_relu.te", "N=1,H=7,W=6,CI=3,CO=8,K=3,S=2,P=1", false},
        {"examples/te/transpose_batch_matmul.te", "B=2,S=9,H=3,D=5", false},
        {"examples/te/embedding.te", "B=2,S=5,V=11,D=7", true},
        {"examples/te/conv2d_by_rows.te", "N=2,H=7,W=9,CI=4,CO=18", false},
        {"examples/te/gated_mlp.te", "M=5,K=7,F=19", false},
        {"examples/te/masked_mean.te", "B=3,S=7,D=21", false},
        {"examples/te/rms_norm.te", "M=5,N=37", false},
        {"examples/te/group_norm.te", "N=2,H=5,W=3,C=18,G=3", false},
        {"examples/te/correlation.te", "N=1,C=3,H=5,W=7,D=1", false},
        {"examples/te/attention.te", "B=2,S=5,T=11,D=9", false},
        {"examples/te/attention.te", "B=2,S=37,T=19,D=9", false}, /* blocks of rows */
        {"examples/te/mlp.te", "B=19,I=7,H=9,O=5", false},
        {"examples/te/lstm_cell.te", "N=3,X=7,H=13", false},
        {"examples/te/gru_cell.te", "N=3,X=7,H=13", false},
        {"examples/te/separable_conv2d.te", "N=1,H=5,W=7,CI=5,CO=9", false},
        {"examples/te/stencil.te", "Z=3,Y=5,X=17", true},
        {"examples/te/unsharp.te", "H=7,W=19", true},
        {"examples/te/conv2d_data_gradient.te", "N=1,H=7,W=5,CI=9,CO=3,K=3,S=2,P=1", false},
        {"examples/te/conv2d_weight_gradient.te", "N=2,H=7,W=5,CI=3,CO=9,K=3,S=2,P=1", false},
        {"examples/te/embedding_bag.te", "B=5,E=23,V=11,D=19", false},
        {"examples/te/distances.te", "N=13,M=37,D=5", false},
        {"examples/te/grouped_attention.te", "G=2,R=3,S=5,T=11,D=9", false},
        {"examples/te/causal_softmax.te", "H=2,S=19", false},
        {"examples/te/cached_attention.te", "G=2,T=19,D=9", false},
        {"tests/te/kept_elements.te", "T=11,D=19", false},
        {"tests/te/updated_elements.te", "T=11,D=19,K=3", false},
        {"tests/te/paired_places.te", "C=2,H=5,W=7,P=3,Q=17,E=37", false},
        {"tests/te/found_in_blocks.te", "M=2,V=600,D=3", false},
        {"tests/te/moved_places.te", "C=2,H=5,W=7,Q=19,K=3", false},
        {"tests/te/padded_within.te", "C=2,O=5,H=5,W=19,R=3,S=2,L=2", false},
        {"tests/te/padded_windows.te", "C=2,H=5,W=19,R=3,S=1", false},
        {"tests/te/padded_terms.te", "C=2,H=9,K=3,S=1,P=1", false},
        {"tests/te/reflected_steps.te", "C=2,T=19,K=5", false},
        {"tests/te/sampled_grid.te", "C=3,H=7,W=9,P=5,Q=19", true},
        {"examples/te/causal_scores.te", "H=2,S=37,D=5", false},
        {"tests/te/masked_scores.te", "S=19,T=37,D=5,E=21,W=9", false},
        {"examples/te/cross_entropy.te", "M=5,N=37", false},
        {"examples/te/quantised_dense.te", "M=5,N=37,K=48,G=2", false},
        {"examples/te/packed_dense.te", "M=9,N=37,K=18", false},
        {"examples/te/int4_dense.te", "M=2,N=37,K=96", false},
        {"examples/te/dft.te", "B=5,N=37", false},
        {"tests/te/three_sums.te", "N=5,M=37,K=7", false},
        {"tests/te/columns.te", "N=3,C=5,P=21", false},
        {"tests/te/softmax_first.te", "N=3,C=5,P=21", false},
        {"tests/te/columns_of_rows.te", "I=7,J=37,K=5", false},
        {"tests/te/chain_of_steps.te", "B=1,S=21,C=2,J=17,D=19", false},
        {"tests/te/centred_product.te", "M=37,N=21,K=5", false},
        {"tests/te/chain_of_windows.te", "B=2,S=37,D=5,W=9", false},
        {"examples/te/linear_attention.te", "H=2,T=19,D=3,E=5", false},
        {"examples/te/integral_image.te", "H=19,W=37", false},
        {"tests/te/running_sums.te", "R=12,S=21,C=3", false},
        {"tests/te/recurrences.te", "R=5,S=21,C=3", false},
        {"tests/te/kept_steps.te", "H=2,T=5,D=3,E=19", false},
        {"tests/te/cycles.te", "T=5,B=3,H=19", false},
        {"tests/te/solves.te", "N=19,M=17,B=2", false},
        {"examples/te/lstm.te", "T=5,B=3,D=7,H=19", false},
        {"examples/te/selective_scan.te", "T=7,D=5,N=19", false},
        {"examples/te/sparse_dense.te", "M=19,N=13,K=37,E=401", false},
        {"examples/te/block_sparse_dense.te", "M=13,R=5,Q=7,E=17,B=8,C=4", false},
        {"examples/te/block_sparse_dense.te", "M=13,R=5,Q=7,E=217,B=3,C=4", false},
        {"tests/te/relative_positions.te", "H=3,S=37,D=5,R=2,W=7", false},
        {"tests/te/similarities.te", "N=21,K=7,D=5", false},
        {"tests/te/halves_of_a_weight.te", "M=5,N=37,H=9", false},
        {"tests/te/eighths_of_a_weight.te", "M=5,N=37,L=2", false},
        {"examples/te/ring_contraction.te", "O=3,V=7", false},
        {"examples/te/graph_sums.te", "V=7,E=23,D=5,F=19", false},
        {"examples/te/causal_conv1d.te", "N=2,T=13,CI=3,CO=17,K=3,L=2", false},
        {"examples/te/complex_matmul.te", "M=13,N=37,K=5", false},
        {"examples/te/transpose.te", "N=70,M=33", false},
        {"examples/te/transpose.te", "N=3,M=33", false}, /* lanes along the other axis */
        {"examples/te/channels_last.te", "N=2,C=13,H=3,W=9", false},
        {"tests/te/add_transposed.te", "N=21,M=13", false},
        {"tests/te/blocks_to_rows.te", "N=2,C=16,H=3,W=9,B=8", false},
        {"tests/te/pad_transposed.te", "H=13,W=19", false},
        {"tests/te/turned_tails.te", "M=37,N=43,C=6", false},
        {"tests/te/distances_of_parts.te", "N=13,M=37,K=9", false},
        {"tests/te/scaled_product.te", "N=19,M=37,K=9,P=2", false},
        {"tests/te/scaled_rows.te", "N=19,M=37,K=9", false},
        {"tests/te/scale_then_conv2d.te", "N=1,H=5,W=7,CI=3,CO=17", false},
        {"tests/te/masked_by_entries.te", "N=101", false},
        {"tests/te/bounded_entries.te", "N=101,T=41,C=5", false},
        {"tests/te/steps_of_sums.te", "T=64,K=48,C=37", false},
        {"tests/te/gated_steps.te", "T=64,C=37", false},
        {"tests/te/spikes.te", "T=9,H=48", false},
        {"tests/te/turned_points.te", "N=101", false},
        {"tests/te/turned_reads.te", "C=3,H=5,W=29", false},
        {"tests/te/steps_across.te", "S=24", false},
        {"tests/te/symmetric_part.te", "N=101,B=2,M=37", false},
        {"tests/te/batch_norm.te", "N=3,H=2,W=7,C=37", false},
        {"tests/te/channel_norm.te", "N=2,C=7,P=37", false},
        {"tests/te/edge_scores.te", "V=7,E=23,D=37", false},
        {"tests/te/gathered_conv2d.te", "H=3,W=7,C=5,P=3,F=19", false},
        {"examples/te/mlp.te", "B=5,I=7,H=19,O=3", false},
        {"tests/te/channels_first.te", "F=19", false},
        {"tests/te/phases.te", "", false},
        {"tests/te/phases.te", "CI=3,H=3,R=3,S=2,P=0", false}, /* phases of several lengths */
        {"tests/te/phases.te", "CI=3,H=3,R=5,S=3,P=2", false},
        {"tests/te/phases.te", "R=1,S=2,P=0", false}, /* a phase without a term */
        {"tests/te/phases_back.te", "", false},
        {"tests/te/phases_to_odd.te", "CI=2", false},
        {"tests/te/phases_spread.te", "", false},
        {"tests/te/phases_spread.te", "R=3", false},
        {"tests/te/phases_dilated.te", "CI=2,H=3", false},
        {"tests/te/phases_dilated.te", "CI=3,H=3,D=2",
         false}, /* three phases of four have no term */
        {"tests/te/phases_dilated.te", "CI=2,H=3,W=5,R=4,S=4,P=2,D=6", false},
        {"tests/te/phases_dilated.te", "CI=2,H=3,W=5,R=4,S=3,P=2,D=5", false},
        {"tests/te/heads.te", "S=7,D=15,H=3", false},
        {"tests/te/heads.te", "S=19,D=8,H=1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i].path, cases[i].args, cases[i].is_plain);
}

/* The furthest outermost, and groups of what is loaded outside of them. */
static void loops_outside_blocks(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_task *t = any_task(a, "tests/te/blocks_to_rows.te", "");
    int found = 0;
    for (int i = 0; i < at_task_num_sketches(t); i++)
        found += strstr(at_sketch_of_task(t, i)->s->tree_text, "{c_g, n, h, w0}:para") != NULL;
    assert_true(found > 0);
    at_arena_free(a);
}

/* The line of loops around a leaf. */
static const char *loops_of(at_arena *a, const char *tree, const char *stage) {
    const char *leaf = strstr(tree, at_format(a, "@%s = ", stage)), *end, *line;
    assert_non_null(leaf);
    for (end = leaf; end > tree && strncmp(end, "=>", 2) != 0;) end--;
    for (line = end; line > tree && line[-1] != '\n';) line--;
    return at_strndup(a, line, (size_t)(end - line));
}

/* Lanes go through whole points and their parts by default where a condition is on points alone. */
static void conditions_on_points(void **state) {
    (void)state;
    static const struct {
        const char *stage;
        bool is_flat;
    } stages[] = {{"pad", true}, {"part", false}, {"held", false}, {"even", false}};
    at_arena *a = at_arena_new();
    const at_task *t = any_task(a, "tests/te/padded_points.te", "");
    const char *tree = at_sketch_of_task(t, at_task_default_sketch(t, 16))->s->tree_text;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        assert_int_equal(strstr(loops_of(a, tree, stages[i].stage), ", c}:vec") != NULL,
                         stages[i].is_flat);
    at_arena_free(a);
}

/* What reads windows of each other goes row by row by default, as far as rows are read as they are
 * made, or through blocks of columns; stages that read the same stand in the same loops. */
static void rows_of_windows(void **state) {
    (void)state;
    static const struct {
        const char *path, *args, *sketch;
        int nests;            /* of the tree */
        const char *together; /* stages in one loop, which `with` has, too; NULL: none */
        const char *with;
    } cases[] = {
        {"tests/te/median_of_columns.te", "", "kept+row_by_row", 1, "lo", "mid"},
        {"tests/te/opening.te", "C=1,H=200,W=300", "kept+row_by_row", 2, NULL, NULL},
        {"tests/te/windows_in_common.te", "", "row_by_row", 2, "u", "v"},
        {"tests/te/windows_in_common.te", "", "row_by_row", 2, "down", "across"},
        {"tests/te/windows_down.te", "H=300,W=400", "row_by_row", 1, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_arena *a = at_arena_new();
        const at_task *t = any_task(a, cases[i].path, cases[i].args);
        const int chosen = at_task_default_sketch(t, 16);
        const char *tree = at_sketch_of_task(t, chosen)->s->tree_text;
        int nests = 0;
        assert_string_equal(at_task_sketch_name(t, chosen), cases[i].sketch);
        for (const char *p = tree; *p; p = strchr(p, '\n') + 1) nests += *p != ' ';
        assert_int_equal(nests, cases[i].nests);
        if (cases[i].together) {
            const char *one = loops_of(a, tree, cases[i].together);
            assert_string_equal(one, loops_of(a, tree, cases[i].with));
            assert_null(strchr(one, '0')); /* the loop over lanes is around both */
        }
        at_arena_free(a);
    }
    /* Three rows of this length, and what is read for them, are more than is near. */
    at_arena *a = at_arena_new();
    const at_task *t = any_task(a, "tests/te/median_of_columns.te", "W=2048");
    assert_string_equal(at_task_sketch_name(t, at_task_default_sketch(t, 16)), "plain");
    /* Lanes go through several points of three parts, which a row of such lanes would go one by
     * one. */
    t = task_of_text(a, "points.te",
                     "args H=40, W=77\nx[H, W, 3] : input\n"
                     "s[h:H-2, w:W, c:3] : f16 = min(q:3) x[h + q, w, c]\n"
                     "m[h:H-2, w:W, c:3] : output = max(q:3) x[h + q, w, c]\n"
                     "o[h:H-2, w:W-1, c:3] = min(q:2) s[h, w + q, c]\n",
                     "");
    assert_string_equal(at_task_sketch_name(t, at_task_default_sketch(t, 16)),
                        "flat_w+flat_w+flat_w");
    at_arena_free(a);
}

/* Of a chain several short rows are a turn by default, as many as their conditions repeat after,
 * and one row where it is long, or where another stage's would leave the first-level cache. Lanes
 * go through groups, the last of which are fewer. */
static void turns_of_rows(void **state) {
    (void)state;
    static const struct {
        const char *path, *args, *sketch, *parts, *loops, *of;
    } cases[] = {
        {"tests/te/doubled_by_rows.te", "", "row_by_row", "[\"tile_h\", \"sp\", [10, 4]]",
         "w0, h1:unroll, w1:vec ", "rows"},
        {"tests/te/doubled_by_rows.te", "", "row_by_row", "[\"tile_v_g\", \"sp\", [2, 32]]",
         "h1, v_g0, v_i:unroll, v_g1:vec ", "out"},
        {"tests/te/tripled_by_rows.te", "", "row_by_row", "[\"tile_h\", \"sp\", [20, 3]]",
         "w0, h1:unroll, w1:vec ", "rows"},
        {"tests/te/median_of_columns.te", "", "kept+row_by_row", "[\"tile_h\", \"sp\", [15, 4]]",
         "h1, mid_w0 ", NULL},
        {"tests/te/median_of_columns.te", "W=500", "kept+row_by_row",
         "[\"tile_h\", \"sp\", [58, 1]]", "h1, mid_w0 ", NULL},
        {"tests/te/windows_in_common.te", "", "row_by_row", "[\"tile_h\", \"sp\", [5, 4]]",
         "r:unroll, h1:unroll, across_w1:vec ", "down"},
        {"tests/te/windows_in_common.te", "W=3000", "row_by_row", "[\"tile_p_h\", \"sp\", [19, 1]]",
         "r:unroll, h1:unroll, across_w1:vec ", "down"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_arena *a = at_arena_new();
        const at_task *t = any_task(a, cases[i].path, cases[i].args);
        const int chosen = at_task_default_sketch(t, 8);
        const char *tree = at_sketch_of_task(t, chosen)->s->tree_text;
        at_config c;
        at_text entity = {0};
        at_error err;
        assert_int_equal(at_task_default_config(a, t, 8, &c, &err), AT_OK);
        at_config_print_entity(&entity, &c);
        assert_string_equal(at_task_sketch_name(t, chosen), cases[i].sketch);
        if (!strstr(at_text_str(&entity), cases[i].parts) || !strstr(tree, cases[i].loops) ||
            (cases[i].of && !strstr(loops_of(a, tree, cases[i].of), cases[i].loops)))
            fail_msg("case %zu: %s\n%s", i, at_text_str(&entity), tree);
        at_text_free(&entity);
        at_arena_free(a);
    }
    /* A stage of another chain by itself has lanes through groups, too. */
    at_arena *a = at_arena_new();
    const at_task *t = any_task(a, "tests/te/doubled_beside.te", "");
    int k = 0;
    while (k < at_task_num_sketches(t) && strcmp(at_task_sketch_name(t, k), "row_by_row")) k++;
    assert_true(k < at_task_num_sketches(t));
    assert_string_equal(loops_of(a, at_sketch_of_task(t, k)->s->tree_text, "wide"),
                        "h:para, v_g_0, v_i_:unroll, v_g_1:vec ");
    at_arena_free(a);
}

/* Several short rows of a copy are one tile, whose last part is lanes; sixteen elements side by
 * side are a row, not a point whose parts are far apart in lanes. */
static void rows_of_copies(void **state) {
    (void)state;
    static const char crop[] = "args H=250, W=250\nx[H, W] : input\n"
                               "y[h:H-6, w:W-6] = x[h + 3, w + 3]\n",
                      pad[] = "args C=64, H=14, W=14\nx[C, H, W] : input\n"
                              "y[c:C, h:H+2, w:W+2] = 0 < h && h <= H && 0 < w && w <= W "
                              "? x[c, h - 1, w - 1] : 0\n",
                      unshuffle[] = "args C=3, H=33, W=33\nx[C, 3*H, 3*W] : input\n"
                                    "y[c:9*C, h:H, w:W] = x[c/9, h*3 + c/3%3, w*3 + c%3]\n",
                      sums[] = "args M=2000, N=30\na[M, N] : input\ny[m:M] = sum(n:N) a[m, n]\n";
    static const struct {
        const char *text, *args, *loops;
    } cases[] = {
        {crop, "", "h0:para, h1, w0, w1:vec "},
        {crop, "H=9,W=250", "h:para, w0, w1:vec "}, /* too few */
        {crop, "H=250,W=2000", "h:para, w0, w1:vec "},
        {pad, "", "c:para, h0, h1, w0, w1:vec "},
        {pad, "H=15,W=15", "c:para, h0, h1, w0, w1:vec "},
        {unshuffle, "", "c:para, h0, h1, w0, w1:vec "}, /* three apart: a load takes them */
        {sums, "", "m0:para, m1, n0, m2:unroll, n1:vec "},
        {sums, "N=1000", "m:para, n0, n1:vec "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_arena *a = at_arena_new();
        const at_task *t = task_of_text(a, "copy.te", cases[i].text, cases[i].args);
        const char *tree = at_sketch_of_task(t, at_task_default_sketch(t, 16))->s->tree_text;
        assert_string_equal(loops_of(a, tree, "y"), cases[i].loops);
        at_arena_free(a);
    }
}

/* What no tile takes with it goes in vectors by itself: behind dot products whose reader calls a
 * function, behind points, behind what goes on from step to step. Lanes go along groups of two or
 * three. */
static void nothing_is_left(void **state) {
    (void)state;
    static const struct {
        const char *path, *args, *stages[4];
    } cases[] = {
        {"tests/te/activated_dots.te", "T=64,D=48,N=8", {"z"}},
        {"tests/te/activated_dots.te", "T=128,D=128,N=16", {"z"}},
        {"tests/te/gated_steps.te", "T=64,C=7", {"e"}},
        {"tests/te/gated_steps.te", "T=64,C=37", {"o", "p", "e"}},
        {"tests/te/spikes.te", "T=9,H=48", {"rc", "v", "s"}},
        {"tests/te/repeated_channels.te", "", {"y"}},
        {"tests/te/repeated_channels.te", "C=16,M=3", {"y"}},
        {"examples/te/group_conv2d.te", "N=1,H=3,W=5,CI=32,CO=48,K=3,S=1,P=1,G=16", {"out"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_arena *a = at_arena_new();
        const at_task *t = any_task(a, cases[i].path, cases[i].args);
        assert_true(at_task_num_sketches(t) > 0);
        for (int k = 0; k < at_task_num_sketches(t); k++)
            for (int j = 0; cases[i].stages[j]; j++) {
                const char *tree = at_sketch_of_task(t, k)->s->tree_text,
                           *loops = loops_of(a, tree, cases[i].stages[j]);
                if (!strstr(loops, ":vec")) fail_msg("%s: %s\n%s", cases[i].path, loops, tree);
            }
        at_arena_free(a);
    }
}

/* A tile has rows for what it would read or work out again, and one long row has several vectors in
 * a block. */
static void loops_around_leaves(void **state) {
    (void)state;
    static const struct {
        const char *path, *args, *stage, *loops;
    } cases[] = {
        {"tests/te/channel_norm.te", "", "out", "n:para, c0, p0, c1:unroll, p1:vec "},
        {"tests/te/triangle.te", "", "out", "i1:unroll, j1:unroll, c1:vec "},
        {"tests/te/masked_by_entries.te", "", "out", "out_i0:para, out_i1, out_i2:vec "},
        {"tests/te/masked_by_entries.te", "N=1023", "out", "out_i0:para, out_i1:vec "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_arena *a = at_arena_new();
        const at_task *t = any_task(a, cases[i].path, cases[i].args);
        bool found = false;
        for (int k = 0; k < at_task_num_sketches(t) && !found; k++)
            found = strstr(loops_of(a, at_sketch_of_task(t, k)->s->tree_text, cases[i].stage),
                           cases[i].loops);
        if (!found) fail_msg("%s: no sketch with %s", cases[i].path, cases[i].loops);
        at_arena_free(a);
    }
}

/* Padding that whole terms have is that of what they read, where it cuts lanes. Windows that read
 * every second element are copied with their padding by default, in rows of few registers. */
static void padding_of_terms(void **state) {
    (void)state;
    enum { FORMS = 3 };
    static const char *const terms[FORMS] = {
        "(inside ? x[c, i, j] : 0)*w[c, p, q]", "inside ? x[c, i, j]*w[c, p, q] : 0",
        "i < 0 || i >= H || j < 0 || j >= H ? 0 : w[c, p, q]*x[c, i, j]"};
    static const struct {
        const char *args;
        bool is_strip;
    } cases[] = {{"C=5,H=9,S=1", true},
                 {"C=3,H=9,S=2", true},
                 {"C=3,H=31,S=2", true},
                 {"C=2,H=99,S=2", false}};
    at_arena *a = at_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_task *t[FORMS];
        for (int f = 0; f < FORMS; f++) {
            t[f] = task_of_text(
                a, "depthwise.te",
                at_format(a,
                          "args C=4, H=8, S=1\nx[C, H, H] : input\nw[C, 3, 3] : weight\n"
                          "y[c:C, a:(H - 1)/S + 1, b:(H - 1)/S + 1] = sum(p:3, q:3) %s where "
                          "i = a*S + p - 1, j = b*S + q - 1, "
                          "inside = 0 <= i && i < H && 0 <= j && j < H\n",
                          terms[f]),
                cases[i].args);
            const int own = at_task_default_sketch(t[f], 16);
            if (i < 2) check_task(a, t[f]);
            assert_int_equal(at_task_num_sketches(t[f]), at_task_num_sketches(t[0]));
            assert_int_equal(own, at_task_default_sketch(t[0], 16));
            assert_int_equal(!strncmp(at_task_sketch_name(t[f], own), "strip_x_pad", 11),
                             cases[i].is_strip);
            for (int k = 0; k < at_task_num_sketches(t[f]); k++)
                assert_string_equal(at_task_sketch_name(t[f], k), at_task_sketch_name(t[0], k));
        }
    }
    /* Lanes along channels: rows leave out the terms of the border. */
    const at_task *last = task_of_text(
        a, "last.te",
        "args C=32, W=9\nx[W, C] : input\nw[C, 3] : weight\n"
        "y[v:W, c:C] = sum(r:3) 0 < v + r && v + r <= W ? x[v + r - 1, c]*w[c, r] : 0\n",
        "");
    for (int k = 0; k < at_task_num_sketches(last); k++)
        for (int n = 0; n < at_sketch_of_task(last, k)->num_steps; n++)
            assert_int_not_equal(at_sketch_of_task(last, k)->steps[n].kind, AT_EDIT_PAD);
    at_arena_free(a);
}

/* Padded copies have sketches however many there are of other starts, and what lies within them has
 * lanes along one row: the copy's rows are longer. */
static void rows_of_padded_copies(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_task *t = any_task(a, "tests/te/channels_first.te", "");
    int copies = 0, through_rows = 0;
    for (int i = 0; i < at_task_num_sketches(t); i++) {
        const char *name = at_task_sketch_name(t, i);
        if (strncmp(name, "strip_a_pad", 11) != 0) continue;
        copies++;
        through_rows += strstr(name, "tile_up_w+flat") != NULL;
    }
    assert_true(copies > 0);
    assert_int_equal(through_rows, 0);
    at_arena_free(a);
}

/* Sums of a channels-first block are stored channels last, too: with all that is made of them, so
 * that each is read along its lanes, and the block's end alone is turned. */
static void sums_in_another_layout(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_task *t = any_task(a, "tests/te/channels_first.te", "");
    int found = 0;
    for (int i = 0; i < at_task_num_sketches(t); i++) {
        if (strncmp(at_task_sketch_name(t, i), "last_f+last_f+last_c", 20) != 0) continue;
        const char *text = at_sketch_of_task(t, i)->s->compute_text;
        assert_non_null(strstr(text, "up_last[h:H, w:W, f:F] = sum(c:C)"));
        assert_non_null(strstr(text, "a_last[h:H, w:W, f:F] = min(max(up_last[h, w, f]"));
        assert_non_null(strstr(text, "deep_last[h:H, w:W, f:F] = sum(r:3, q:3)"));
        assert_non_null(strstr(text, "down_last_sum[h:H, w:W, c:C] = sum(f:F)"));
        assert_non_null(strstr(text, "out[c:C, h:H, w:W] = "));
        found++;
    }
    assert_true(found > 0);
    at_arena_free(a);
}

/* Lanes along channels that come first would store each element alone: by default such sums are
 * stored with that axis last. Lanes along rows, as without a stride, store as the output lies. */
static void sums_stored_apart(void **state) {
    (void)state;
    static const char text[] = "args C=9, M=16, H=8, S=2\nx[C, H, H] : input\n"
                               "w[M, C, 3, 3] : weight\n"
                               "y[m:M, a:H/S, b:H/S] = sum(c:C, p:3, q:3) "
                               "(inside ? x[c, i, j] : 0)*w[m, c, p, q] "
                               "where i = a*S + p - 1, j = b*S + q - 1, "
                               "inside = 0 <= i && i < H && 0 <= j && j < H\n";
    static const struct {
        const char *args;
        bool is_last;
    } cases[] = {{"H=8,S=2", true}, {"H=14,S=2", true}, {"H=9,S=3", true}, {"H=14,S=1", false}};
    at_arena *a = at_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const at_task *t = task_of_text(a, "apart.te", text, cases[i].args);
        const char *name = at_task_sketch_name(t, at_task_default_sketch(t, 16));
        if (cases[i].is_last == (strncmp(name, "last_m", 6) != 0))
            fail_msg("%s: %s", cases[i].args, name);
    }
    at_arena_free(a);
}

/* Of a transposed convolution each phase sums the terms that count, without a condition where all
 * phases have as many. */
static void sums_by_phases(void **state) {
    (void)state;
    static const struct {
        const char *args, *sum;
    } cases[] = {
        {"R=4,S=2", "sum(c:CI, r:(R + S - 1)/S, q:(R + S - 1)/S) ((P + h_p)/S + h - r >= 0"},
        {"R=3,S=2", "sum(c:CI, r:(R + S - 1)/S, q:(R + S - 1)/S) S*q + (P + v_p)%S < R ? "},
    };
    static const char spread[] =
        "(-Q + h_p + S - 1)/S + h + r >= 0 && (-Q + h_p + S - 1)/S + h + r < (UH + S - 1)/S";
    at_arena *own = at_arena_new(); /* zeros between and padding as stages */
    const at_task *stages = any_task(own, "tests/te/phases_spread.te", "");
    for (int k = 0; k < at_task_num_sketches(stages); k++)
        assert_non_null(strstr(at_sketch_of_task(stages, k)->s->compute_text, spread));
    /* Lanes along channels go by phases without one. */
    const at_task *last =
        any_task(own, "examples/te/conv2d_data_gradient.te", "N=1,H=14,W=14,CI=48,CO=20,S=2");
    for (int k = 0; k < at_task_num_sketches(last); k++)
        assert_null(strstr(at_sketch_of_task(last, k)->s->compute_text, "out_p"));
    at_arena_free(own);
    for (int i = 0; i < 2; i++) {
        at_arena *a = at_arena_new();
        const at_task *t = any_task(a, "tests/te/phases.te", cases[i].args);
        for (int k = 0; k < at_task_num_sketches(t); k++) {
            const char *text = at_sketch_of_task(t, k)->s->compute_text;
            if (!strstr(text, cases[i].sum)) fail_msg("%s: %s", cases[i].args, text);
            assert_null(strstr(text, "== 0"));
            assert_non_null(strstr(text, "h%S, n, "));
        }
        at_arena_free(a);
    }
    at_arena *a =
        at_arena_new(); /* the last phase goes on behind the end, and reads nothing there */
    const at_task *t = any_task(a, "tests/te/phases_to_odd.te", "");
    for (int k = 0; k < at_task_num_sketches(t); k++) {
        const char *text = at_sketch_of_task(t, k)->s->compute_text;
        if (strstr(text, "== 0") || !strstr(text, " < 5 ") || !strstr(text, " < 7 "))
            fail_msg("%s", text);
    }
    at_arena_free(a);
}

/* Two stages read the zeros between, one of them through the other, which is gone before it is
 * asked about. */
static void zeros_read_twice(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_task *t =
        task_of_text(a, "my.te",
                     "args CI=8, CO=19, H=9\nx[CI, H] : input\nw[CO, CI, 4] : weight\n"
                     "up[c:CI, h:2*H] = h%2 == 0 ? x[c, h/2] : 0\n"
                     "pad[c:CI, h:2*H + 2] = 1 <= h < 2*H + 1 ? up[c, h - 1] : 0\n"
                     "square[c:CI, h:2*H + 2] = 1 <= h < 2*H + 1 ? up[c, h - 1]*pad[c, h] : 0\n"
                     "out[f:CO, h:2*H - 1] = sum(c:CI, r:4) square[c, h + r]*w[f, c, r]\n",
                     "");
    int found = 0;
    for (int k = 0; k < at_task_num_sketches(t); k++) {
        const char *text = at_sketch_of_task(t, k)->s->compute_text;
        found += strstr(text, "[h_p:2, ") && !strstr(text, "== 0");
    }
    assert_true(found > 0);
    at_arena_free(a);
}

/* A sum that is dilated, too: a remainder is left of phases alone, where stride and dilation have
 * something in common, and the text says for which ones it is right. */
static void dilated_sums_by_phases(void **state) {
    (void)state;
    static const struct {
        const char *args, *sum;
    } cases[] = {
        {"S=3,D=2", "sum(c:CI, r:(R + S - 1)/S, q:(R + S - 1)/S) "},
        {"S=4,D=6", "(P + v_p)%2 == 0"},
    };
    for (int i = 0; i < 2; i++) {
        at_arena *a = at_arena_new();
        const at_task *t = any_task(a, "tests/te/phases_dilated.te", cases[i].args);
        for (int k = 0; k < at_task_num_sketches(t); k++) {
            const char *text = at_sketch_of_task(t, k)->s->compute_text;
            if (!strstr(text, cases[i].sum) || (i == 0 && strstr(text, "== 0")))
                fail_msg("%s: %s", cases[i].args, text);
        }
        at_arena_free(a);
    }
}

/* Of several reads of a tensor the one that lanes go across is copied, or none. */
static void the_right_read(void **state) {
    (void)state;
    static const char *const texts[] = {
        "args N=40\na[N, N] : input\no[m:N, i:N, l:N] = a[m, i]*2 + a[l, i]\n",
        "args N=40\na[N, N] : input\no[m:N, i:N, l:N] = a[l, i] + a[m, i]*2\n",
        "args N=40\na[N, N] : input\no[i:N, l:N] = a[i, l] + a[l, i]\n",
    };
    for (int i = 0; i < 3; i++) {
        at_arena *a = at_arena_new();
        at_task *t = task_of_text(a, "own.te", texts[i], "");
        check_task(a, t);
        for (int k = 0; k < at_task_num_sketches(t); k++) {
            const char *copy = strstr(at_sketch_of_task(t, k)->s->tree_text, "_packed = ");
            assert_true(i == 0 || copy);
            assert_true(!copy || strncmp(copy, "_packed = l0, i0, i1, l1", 24) == 0);
        }
        at_arena_free(a);
    }
}

/* What reads two sums, or a sum and what comes after it, stands behind the last of them. */
static void several_read(void **state) {
    (void)state;
    static const char *const texts[] = {
        "args M=5, K=7, F=19\nx[M, K] : input\nv[K, F] : weight\nw[K, F] : weight\n"
        "g[m:M, f:F] = sum(k:K) x[m, k] * v[k, f]\n"
        "u[m:M, f:F] = sum(k:K) x[m, k] * w[k, f]\n"
        "out[m:M, f:F] = max(g[m, f], 0) * u[m, f]\n",
        "args M=5, K=7, F=19\nx[M, K] : input\nw[K, F] : weight\n"
        "g[m:M, f:F] = sum(k:K) x[m, k] * w[k, f]\n"
        "most[m:M] = max(k:K) x[m, k]\n"
        "out[m:M, f:F] = g[m, f] * most[m]\n",
    };
    for (int i = 0; i < 2; i++) {
        at_arena *a = at_arena_new();
        check_task(a, task_of_text(a, "own.te", texts[i], ""));
        at_arena_free(a);
    }
}

/* Of a chain of stages that read the one before twice, some are computed once: a million million
 * reads would be in the last. */
static void long_chains(void **state) {
    (void)state;
    static const char *const forms[][2] = {{"[i:M, j:N]", "[i, j]"}, {"[i:M]", "[i]"}};
    for (int k = 0; k < 2; k++)
        for (int part = 0; part < 2; part++) {
            at_arena *a = at_arena_new();
            at_text t = {0};
            at_text_addf(&t, "args M=5, N=19\na0[%s] : input\nx[M, N] : input\n", k ? "M" : "M, N");
            for (int i = 1; i <= 40; i++)
                at_text_addf(&t, "a%d%s = a%d%s*0.5 - a%d%s*0.25\n", i, forms[k][0], i - 1,
                             forms[k][1], i - 1, forms[k][1]);
            at_text_addf(&t, "out[i:M, j:N] = x[i, j] - a40%s\n", forms[k][1]);
            if (part) at_text_addf(&t, "schedule\ni, j0, j1 =>\n    @out = i, {j0, j1}/j\n");
            check_task(a, task_of_text(a, "own.te", at_text_str(&t), ""));
            at_text_free(&t);
            at_arena_free(a);
        }
}

/* Neighbours within borders are read of stages that are computed once more and more seldom: what
 * hangs on 256 conditions took gigabytes to cut into tiles. */
static void chains_of_neighbours(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text t = {0};
    at_text_addf(&t, "args M=40\ns0[M] : input\n");
    for (int i = 1; i <= 16; i++)
        at_text_addf(
            &t, "s%1$d[i:M] = (i > 0 ? s%2$d[i - 1] : 0)*0.5 + (i < M - 1 ? s%2$d[i + 1] : 0)\n", i,
            i - 1);
    at_text_addf(&t, "out[j:4] = sum(k:M/4) s16[4*k + j]*s15[4*k + j]\n");
    at_task *task = task_of_text(a, "own.te", at_text_str(&t), "");
    assert_true(at_task_num_sketches(task) > 1);
    check_task(a, task);
    at_text_free(&t);
    at_arena_free(a);
}

/* Layers of these widths, each the product of the one before and weights. */
static at_task *layers(at_arena *a, const int *width, int n) {
    at_text t = {0};
    at_text_addf(&t, "args B=5\ns0[B, %d] : input\n", width[0]);
    for (int i = 1; i <= n; i++)
        at_text_addf(&t, "w%d[%d, %d] : weight\n", i, width[i - 1], width[i]);
    for (int i = 1; i <= n; i++)
        at_text_addf(&t, "s%d[b:B, h:%d] = sum(k:%d) s%d[b, k] * w%d[k, h]\n", i, width[i],
                     width[i - 1], i - 1, i);
    at_task *task = task_of_text(a, "own.te", at_text_str(&t), "");
    at_text_free(&t);
    return task;
}

/* Layers that are alike have knobs in common, however many there are; those that are not have lists
 * that are thinned, so that they have an index all the same. */
static void many_layers(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    int equal[31], unlike[11];
    for (int i = 0; i < 31; i++) equal[i] = 16;
    for (int i = 0; i < 11; i++) unlike[i] = 40 + 8 * i;
    at_space *few = at_task_space(layers(a, equal, 5)), *many = at_task_space(layers(a, equal, 30));
    assert_true(at_space_num_parts(few) >= at_space_num_parts(many));
    for (int i = 0; i < at_space_num_parts(many); i++) {
        const at_space *x = at_space_part(few, i), *y = at_space_part(many, i);
        assert_int_equal(at_space_num_knobs(x), at_space_num_knobs(y));
        assert_int_equal(at_space_range_length(x), at_space_range_length(y));
    }
    at_space *all = at_task_space(layers(a, unlike, 10));
    for (int i = 0; i < at_space_num_parts(all); i++) {
        assert_true(at_space_num_knobs(at_space_part(all, i)) >= 30);
        assert_in_range(at_space_range_length(at_space_part(all, i)), INT64_C(1) << 40,
                        INT64_C(1) << 56);
    }
    static const int short_ones[] = {3, 5, 17, 4, 9, 7}, repeated[] = {9, 9, 9, 9, 9, 4};
    check_task(a, layers(a, short_ones, 5));
    check_task(a, layers(a, repeated, 5));
    at_arena_free(a);
}

/* Where every axis is one of places, a first loop that counts terms is not shared by threads. */
static void terms_of_two_sums(void **state) {
    (void)state;
    static const char text[] = "args N=5, M=19, B=7\ni[N, M] : index\nv[N] : input\n"
                               "h[i[n, m]:B] += (n:N, m:M) v[n]\n";
    at_arena *a = at_arena_new();
    const at_template_row *row;
    at_task *task;
    at_error err;
    assert_int_equal(at_te_parse(a, "counts.te", text, strlen(text), &row, &err), AT_OK);
    if (at_task_new(a, row, NULL, &task, &err) != AT_OK) fail_msg("%s", err.text);
    assert_string_equal(at_task_sketch_name(task, 0), "scatter_m");
    check_task(a, task);
    at_arena_free(a);
}

/* A search that is stopped, or whose time is over, does not go on with deriving. */
static void deriving_ends(void **state) {
    (void)state;
    static const char text[] = "args M=8, N=16, K=8\na[M, K] : input\nb[K, N] : weight\n"
                               "o[i:M, j:N] = sum(k:K) a[i, k]*b[k, j]\n";
    const volatile int stop = 1;
    at_arena *a = at_arena_new();
    const at_template_row *row;
    at_task *task;
    at_error err;
    assert_int_equal(at_te_parse(a, "product.te", text, strlen(text), &row, &err), AT_OK);
    at_halt_when(&(at_halt){.stop = &stop});
    assert_int_equal(at_task_new(a, row, NULL, &task, &err), AT_E_INTERRUPTED);
    at_halt_when(&(at_halt){.end_ns = 1});
    assert_int_equal(at_task_new(a, row, NULL, &task, &err), AT_E_NO_VALID);
    assert_non_null(
        strstr(err.text, "product.te: its loop trees were not derived yet: the time ended first"));
    at_halt_when(&(at_halt){.end_ns = at_now_ns() + (int64_t)3600e9});
    assert_int_equal(at_task_new(a, row, NULL, &task, &err), AT_OK);
    at_halt_when(&(at_halt){0});
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(deriving_ends),
                                       cmocka_unit_test(rows_of_padded_copies),
                                       cmocka_unit_test(padding_of_terms),
                                       cmocka_unit_test(sums_stored_apart),
                                       cmocka_unit_test(sets),
                                       cmocka_unit_test(nothing_is_left),
                                       cmocka_unit_test(sums_in_another_layout),
                                       cmocka_unit_test(the_right_read),
                                       cmocka_unit_test(sums_by_phases),
                                       cmocka_unit_test(zeros_read_twice),
                                       cmocka_unit_test(dilated_sums_by_phases),
                                       cmocka_unit_test(several_read),
                                       cmocka_unit_test(loops_outside_blocks),
                                       cmocka_unit_test(long_chains),
                                       cmocka_unit_test(many_layers),
                                       cmocka_unit_test(terms_of_two_sums),
                                       cmocka_unit_test(chains_of_neighbours),
                                       cmocka_unit_test(rows_of_windows),
                                       cmocka_unit_test(turns_of_rows),
                                       cmocka_unit_test(rows_of_copies),
                                       cmocka_unit_test(conditions_on_points),
                                       cmocka_unit_test(loops_around_leaves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
