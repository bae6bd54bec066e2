/* Whatever rules derive is right: sketches of random computations, and of those in examples/te on
 * odd shapes, at random points, run in every form that lowering gives them and compared with the
 * interpreter of the computation before all edits. No point may be refused. In the environment:
 * AT_SEED and AT_COUNT choose other computations and more, AT_POINTS how many points of each sketch
 * (100 in a full run, the first of them through compilers, too), AT_ONLY one file of examples/te,
 * or with its folder one of another ("tests/te/add_transposed"), that file with any arguments
 * ("norm B=3,M=7,N=12"), or random.
 */
#include "tests/codegen/sketch_points.h"

#include <stdlib.h>
#include <string.h>

/* Of stages of floats every second one is marked as an output, whether others read it or not;
 * false: there is none, or no room. */
static bool mark_outputs(random_program *p) {
    at_text text = {0};
    int stages = 0, marks = 0;
    for (const char *line = p->compute; *line;) {
        const size_t length = strcspn(line, "\n");
        const char *close = strstr(line, "] = "), *colon = strchr(line, ':');
        const bool is_stage = close && close < line + length && colon && colon < close &&
                              close[4] != '{' && stages++ % 2 == 0;
        const int before = is_stage ? (int)(close + 1 - line) : 0;
        at_text_addf(&text, "%.*s%s%.*s\n", before, line, is_stage ? " : output" : "",
                     (int)length - before, line + before);
        marks += is_stage;
        line += length + (line[length] == '\n');
    }
    const bool fits = marks && text.len < sizeof p->compute;
    if (fits) strcpy(p->compute, at_text_str(&text));
    at_text_free(&text);
    return fits;
}

/* False: it cannot be interpreted. */
static bool check_program(batch *b, const random_program *p, const char *what) {
    built open;
    const use u = build_open(&open, p);
    build_close(&open);
    if (u == USE_OK) check_random(b, what, p, (int)how_many("AT_POINTS", 2));
    return u == USE_OK;
}

static void random_computations(void **state) {
    (void)state;
    long seed = setting("AT_SEED", 1), count = how_many("AT_COUNT", 12), done = 0;
    const char *only = getenv("AT_ONLY");
    if (only && strcmp(only, "random") != 0) skip();
    random_program *p = calloc(1, sizeof *p);
    assert_non_null(p);
    batch *b = batch_open();
    for (; done < count; seed++) {
        char what[40];
        random_program_make((uint64_t)seed, p);
        snprintf(what, sizeof what, "seed %ld", seed);
        if (!check_program(b, p, what)) continue;
        done++;
        snprintf(what, sizeof what, "seed %ld with marks", seed);
        if (mark_outputs(p)) check_program(b, p, what);
    }
    free(p);
    batch_close(b, "random computations", done);
}

static void check_operator(batch *b, const char *file, const char *args, long points) {
    char what[200];
    at_arena *a = at_arena_new();
    snprintf(what, sizeof what, "%s %s", file, args);
    check_plain(b, what, task_of_file(a, file, args), points ? (int)points : 2);
    at_arena_free(a);
}

/* The operators on which tuners without templates are compared: odd sizes, primes, batches.
 * Softmax, whose sums are not exact, is in tests/sketch. */
static void operators(void **state) {
    (void)state;
    static const struct {
        const char *file, *args;
    } cases[] = {
        {"matmul_add", "N=13,L=7,M=18"},
        {"matmul_add", "N=37,L=5,M=67"},
        {"matmul_add", "N=1,L=3,M=5"},
        {"matmul_add", "N=8,L=16,M=32"},
        {"batch_matmul", "B=3,N=5,M=9,K=6"},
        {"batch_matmul", "B=1,N=17,M=31,K=3"},
        {"batch_matmul", "B=2,N=16,M=16,K=4"},
        {"transpose_batch_matmul", "B=2,S=9,H=3,D=5"},
        {"transpose_batch_matmul", "B=1,S=16,H=2,D=8"},
        {"transpose_batch_matmul", "B=3,S=7,H=1,D=11"},
        {"conv1d", "N=3,L=11,CI=5,CO=12,K=3,S=2,P=1,D=1"},
        {"conv1d", "N=1,L=23,CI=3,CO=17,K=1,S=2,P=0,D=1"},
        {"conv1d", "N=2,L=13,CI=4,CO=8,K=5,S=1,P=2,D=2"},
        {"conv2d", "N=1,H=7,W=9,CI=4,CO=8,K=3,S=1,P=1,D=1"},
        {"conv2d", "N=2,H=9,W=8,CI=3,CO=11,K=3,S=2,P=2,D=2"},
        {"conv2d", "N=3,H=5,W=7,CI=3,CO=9,K=1,S=1,P=0,D=1"},
        {"conv2d", "N=1,H=11,W=11,CI=3,CO=4,K=7,S=2,P=3,D=1"},
        {"conv2d_bn_relu", "N=1,H=7,W=6,CI=3,CO=8,K=3,S=2,P=1"},
        {"conv2d_bn_relu", "N=3,H=5,W=5,CI=2,CO=13,K=3,S=1,P=1"},
        {"conv2d_bn_relu", "N=1,H=9,W=7,CI=5,CO=16,K=1,S=2,P=0"},
        {"conv3d", "N=1,Z=4,H=5,W=6,CI=3,CO=8,K=3,S=2,P=1"},
        {"conv3d", "N=3,Z=3,H=3,W=5,CI=2,CO=5,K=1,S=1,P=0"},
        {"conv3d", "N=1,Z=2,H=5,W=5,CI=2,CO=7,K=3,S=1,P=1"},
        {"group_conv2d", "N=1,H=7,W=7,CI=8,CO=16,K=3,S=1,P=1,G=2"},
        {"group_conv2d", "N=1,H=7,W=6,CI=6,CO=12,K=3,S=2,P=1,G=3"},
        {"group_conv2d", "N=3,H=5,W=5,CI=4,CO=20,K=1,S=1,P=0,G=4"},
        {"depthwise_conv2d", "N=3,H=7,W=9,C=12,K=3,S=2,P=1"},
        {"depthwise_conv2d", "N=1,H=13,W=5,C=17,K=3,S=1,P=1"},
        {"depthwise_conv2d", "N=1,H=8,W=7,C=16,K=5,S=1,P=2"},
        {"depthwise_conv2d", "N=1,H=2,W=2,C=517,K=3,S=1,P=1"}, /* wide tiles */
        {"conv2d_transpose", "N=1,H=3,W=4,CI=5,CO=6,K=4,S=2,P=1"},
        {"conv2d_transpose", "N=1,H=4,W=4,CI=4,CO=3,K=4,S=2,P=1"},
        {"conv2d_transpose", "N=3,H=3,W=3,CI=3,CO=9,K=3,S=1,P=1"},
        {"capsule_conv2d", "N=1,H=5,W=4,CI=3,CO=8,K=3,S=2,P=1,C=2"},
        {"capsule_conv2d", "N=3,H=3,W=3,CI=2,CO=5,K=3,S=1,P=1,C=2"},
        {"norm", "B=3,M=7,N=12"},
        {"norm", "B=1,M=13,N=17"},
        /* With those above four shapes of each operator, built as those of te_workload are. */
        {"batch_matmul", "B=3,N=19,M=5,K=11"},
        {"transpose_batch_matmul", "B=3,S=5,H=3,D=7"},
        {"conv1d", "N=3,L=7,CI=11,CO=11,K=3,S=1,P=1,D=1"},
        {"conv2d", "N=3,H=5,W=5,CI=5,CO=7,K=3,S=1,P=1,D=1"},
        {"conv2d", "N=1,H=13,W=13,CI=3,CO=5,K=7,S=2,P=3,D=2"},
        {"conv2d", "N=3,H=7,W=5,CI=5,CO=11,K=1,S=1,P=0,D=2"},
        {"conv2d", "N=3,H=5,W=7,CI=3,CO=7,K=3,S=1,P=1,D=2"},
        {"conv2d_bn_relu", "N=3,H=7,W=7,CI=3,CO=5,K=7,S=2,P=3"},
        /* With channels enough for lists of places. */
        {"conv2d", "N=3,H=5,W=7,CI=9,CO=11,K=3,S=2,P=1,D=1"},
        {"conv2d", "N=1,H=6,W=10,CI=8,CO=12,K=3,S=2,P=1,D=2"},
        {"conv2d", "N=1,H=9,W=11,CI=8,CO=8,K=5,S=2,P=2,D=1"},
        {"conv2d_bn_relu", "N=1,H=5,W=6,CI=8,CO=8,K=3,S=1,P=1"},
        {"conv1d", "N=3,L=17,CI=8,CO=12,K=5,S=2,P=2,D=1"},
        {"conv3d", "N=1,Z=8,H=8,W=11,CI=8,CO=5,K=3,S=3,P=1"},
        {"conv2d_transpose", "N=1,H=6,W=7,CI=8,CO=9,K=3,S=1,P=1"},
        {"group_conv2d", "N=1,H=6,W=5,CI=16,CO=16,K=3,S=1,P=1,G=2"},
        {"conv3d", "N=3,Z=3,H=5,W=3,CI=1,CO=5,K=3,S=2,P=1"},
        {"group_conv2d", "N=3,H=3,W=3,CI=12,CO=12,K=3,S=1,P=1,G=4"},
        {"depthwise_conv2d", "N=3,H=5,W=5,C=19,K=3,S=1,P=1"},
        {"conv2d_transpose", "N=3,H=2,W=3,CI=7,CO=5,K=4,S=2,P=1"},
        {"capsule_conv2d", "N=1,H=3,W=3,CI=2,CO=4,K=3,S=1,P=1,C=4"},
        {"capsule_conv2d", "N=3,H=4,W=3,CI=3,CO=3,K=3,S=2,P=1,C=3"},
        {"conv2d_nchw", "N=2,H=9,W=11,CI=3,CO=5,K=3,S=1,P=1"},
        {"conv2d_nchw", "N=1,H=17,W=19,CI=2,CO=3,K=3,S=2,P=1"},
        {"conv2d_nchw", "N=1,H=4,W=9,CI=2,CO=3,K=5,S=1,P=2"},
        {"conv2d_data_gradient", "N=1,H=7,W=5,CI=9,CO=3,K=3,S=2,P=1"},
        {"conv2d_weight_gradient", "N=2,H=7,W=5,CI=3,CO=9,K=3,S=2,P=1"},
        {"separable_conv2d", "N=1,H=5,W=7,CI=5,CO=9"},
        {"embedding_bag", "B=5,E=23,V=11,D=19"},
        {"distances", "N=13,M=37,D=5"},
        {"complex_matmul", "M=13,N=37,K=5"},
        {"norm", "B=3,M=5,N=23"},
        {"norm", "B=1,M=31,N=8"},
        {"transpose", "N=70,M=33"},
        {"channels_last", "N=2,C=13,H=3,W=9"},
        {"tests/te/add_transposed", "N=21,M=13"},
        {"tests/te/blocks_to_rows", "N=2,C=16,H=3,W=9,B=8"},
        {"tests/te/pad_transposed", "H=13,W=19"},
        {"tests/te/turned_tails", "M=37,N=43,C=6"},
        {"tests/te/determinants", "N=67"},
        {"tests/te/distances_of_parts", "N=13,M=37,K=9"},
        {"tests/te/scaled_product", "N=19,M=37,K=9,P=2"},
        {"tests/te/short_sums", "M=37,N=19"},
        {"tests/te/one_hot", "M=19,V=37"},
        {"tests/te/cropped", "H=13,W=43,P=2,N=21"},
        {"tests/te/scaled_rows", "N=19,M=37,K=9"},
        {"tests/te/scale_then_conv2d", "N=1,H=5,W=7,CI=3,CO=17"},
        {"tests/te/two_gates", "M=13,K=9,F=37"},
        {"tests/te/two_outputs", "M=7,N=37"},
        {"tests/te/marked_outputs", "M=7,N=37,K=5"},
        {"tests/te/marked_chain", "M=5,N=37"},
        {"tests/te/marked_conv", "H=5,W=7,C=5"},
        {"tests/te/max_pool_first", "N=2,C=3,H=5,W=37,S=2"},
        {"tests/te/max_pool_first", "N=1,C=2,H=3,W=19,S=3"},
        {"tests/te/max_pool_first", "N=1,C=3,H=2,W=23,S=4"},
        {"tests/te/moments", "N=3,H=5,W=7,C=19"},
        {"tests/te/moments_first", "N=3,C=7,H=3,W=29"},
        {"tests/te/numbered_rows", "N=11,U=13,G=5"},
        {"tests/te/many_inputs", "N=3,M=37"},
        {"tests/te/values_used_again", "N=2,M=19"},
        {"tests/te/counted_rows", "V=7,E=19,D=13"},
        {"tests/te/placed_pairs", "N=2,P=37,H=5,W=7"},
        {"tests/te/solved_rows", "N=75,M=3"},
        {"tests/te/solved_rows", "N=37,M=19"},
        {"tests/te/placed_values", "N=53,B=11,C=3"},
        {"histogram", "P=67,B=13"},
        {"histogram", "P=16421,B=7"},
        {"embedding_gradient", "N=19,V=11,C=37"},
        {"embedding_gradient", "N=19,V=11,C=3"},
        {"rotary", "B=2,T=3,H=2,D=44"},
        {"tests/te/pictures_beside", "H=5,W=19,C=3"},
        {"tests/te/blur", "H=9,W=37"},
        {"tests/te/logistic_maps", "N=5,M=37"},
        {"tests/te/potentials", "N=21,D=3"},
        {"tests/te/nearest", "N=11,M=41"},
        {"tests/te/periodic", "H=5,W=37"},
        {"tests/te/periodic_window", "H=5,W=19,K=3"},
        {"tests/te/periodic_window", "H=4,W=35,K=5"},
        {"tests/te/edge_scores", "V=7,E=23,D=37"},
        {"tests/te/gathered_conv2d", "H=3,W=7,C=5,P=3,F=19"},
        {"mlp", "B=5,I=2,H=19,O=3"},
        {"tests/te/heads", "S=37,D=22,H=2"},
        {"tests/te/two_gates_named_apart", "M=3,K=5,F=19"},
        {"tests/te/masked_by_entries", "N=37"},
        {"tests/te/masked_by_entries", "N=2051"}, /* one long row */
        {"tests/te/edge_gradient", "H=7,W=37"},
        {"tests/te/repeated_border", "H=16,W=32,K=3,S=1"}, /* versions within versions */
        {"tests/te/repeated_border", "H=7,W=37,K=3,S=1"},
        {"tests/te/repeated_border", "H=5,W=41,K=5,S=2"},
        {"tests/te/repeated_border", "H=1,W=19,K=5,S=1"},
        {"tests/te/repeated_border", "H=3,W=2,K=7,S=1"},
        {"tests/te/repeated_border", "H=2,W=1,K=3,S=2"},
        {"tests/te/upsampled", "H=3,W=19"},
        {"tests/te/upsampled", "H=1,W=2"},
        {"tests/te/doubled_picture", "N=2,C=3,H=5,W=37"},
        {"tests/te/doubled_picture", "N=1,C=1,H=2,W=19"},
        {"tests/te/doubled_picture", "N=1,C=2,H=1,W=1"},
        {"tests/te/stored_half", "N=37"},
        {"tests/te/stored_half", "N=9"},
        {"tests/te/long_rows_of_steps", "T=113,C=147"},
        {"tests/te/last_step", "T=6,H=3,W=9"}, /* steps in turn */
        {"tests/te/last_step", "T=5,H=4,W=19"},
        {"tests/te/resized_rows", "H=3,W=150,OH=7,K=5"},
        {"tests/te/resized_rows", "H=1,W=131,OH=3,K=8"},
        {"tests/te/reflected_border", "H=5,W=37"},
        {"tests/te/reflected_border", "H=2,W=3"},
        {"tests/te/reflected_twice", "H=5,W=37"},
        {"tests/te/cyclic_weights", "M=5,N=19,K=12"},
        {"tests/te/triangular_product", "N=29,M=37"},
        {"tests/te/upper_triangle", "N=37,M=19"},
        {"tests/te/outer_of_triangle", "N=31"},
        {"tests/te/kept_elements", "T=19,D=37"},
        {"tests/te/kept_elements", "T=7,D=5"},
        {"tests/te/updated_elements", "T=19,D=11,K=5"},
        {"tests/te/updated_elements", "T=7,D=5,K=9"},
        {"unsharp", "H=7,W=19"},
        {"unsharp", "H=11,W=37"},
        {"tests/te/quantised_by_table", "N=5,M=19,K=12"},
        {"tests/te/chosen_by_place", "N=31,M=31,K=97"},
        {"tests/te/chosen_by_place", "N=1,M=19,K=21"},
        {"tests/te/thirds_by_place", "N=31,M=31,K=60"},
        {"packed_dense", "M=9,N=37,K=18"},
        {"tests/te/whole_weight", "M=7,N=37,K=9"},
        {"tests/te/halves_of_a_weight", "M=5,N=37,H=9"},
        {"tests/te/eighths_of_a_weight", "M=5,N=37,L=2"},
        {"tests/te/chosen_entries", "Y=5,X=37"},
        {"tests/te/chosen_by_values", "Y=5,X=37"},
        {"tests/te/mixed_entries", "M=5,N=37,K=12"},
        {"tests/te/places_in_lists", "V=7,E=53"},
        {"tests/te/long_products", "I=3,J=2,K=3,L=19,N=101"},
        {"tests/te/guarded_weights", "N=13,M=5,K=7,H=31,L=4"},
        {"tests/te/complex_products", "N=101,B=3"},
        {"tests/te/strided_windows", "C=2,D=2,H=3,W=19"},
        {"tests/te/relative_positions", "H=3,S=21,D=5,R=2,W=7"},
        {"tests/te/listed_dots", "V=5,E=67"},
        {"tests/te/listed_dots", "V=3,E=701"},
        {"tests/te/gathered", ""},
        {"tests/te/gathered", "V=21,K=37,E=701"},
        {"tests/te/bounded_entries", ""},
        {"tests/te/paired_places", ""},
        {"tests/te/paired_places", "C=2,H=7,W=9,P=3,Q=37,E=301"},
        {"tests/te/ranks", "M=3,N=21,K=5"}, /* conditions that a diagonal decides in part */
        {"tests/te/ranks", "M=4,N=37,K=7"},
        {"tests/te/entries_beside_lanes", "C=3,H=7,W=37,M=3"},
        {"tests/te/entries_beside_lanes", "C=3,H=5,W=19,M=2"},
        {"tests/te/found_in_blocks", "M=3,V=519,D=5"},     /* rows of which a block is read twice */
        {"tests/te/moved_places", "C=2,H=3,W=9,Q=19,K=3"}, /* worked out before */
        {"tests/te/moved_places", "C=1,H=11,W=21,Q=5,K=1"},
        {"tests/te/padded_within", "C=2,O=3,H=3,W=19,R=3,S=2,L=2"}, /* the padding is a stage */
        {"tests/te/padded_windows", "C=2,H=7,W=21,R=3,S=1"},
        {"tests/te/padded_terms", "C=2,H=17,K=3,S=1,P=1"},
        {"tests/te/padded_terms", "C=3,H=9,K=5,S=2,P=2"},
        {"tests/te/reflected_steps", "C=2,T=41,K=7"},
        {"tests/te/sampled_grid", "C=3,H=7,W=9,P=5,Q=19"},
        {"tests/te/steps_of_sums", ""},
        {"tests/te/symmetric_part", ""},
        {"tests/te/gated_steps", ""},
        {"tests/te/spikes", ""},
        {"tests/te/activated_dots", ""},
        {"tests/te/turned_points", ""},
        {"tests/te/steps_across", ""},
        {"tests/te/middle_of_sums", ""},
        {"tests/te/middle_of_sums", "Y=3,G=4,J=3,X=19,K=2"},
        {"tests/te/pad_of_sums", ""},
        {"tests/te/pad_of_sums", "Y=2,I=3,M=19,K=5,P=1,Q=0"},
        {"tests/te/bounded_entries", "N=19,T=9,C=37"},
        {"tests/te/similarities", "N=21,K=7,D=5"},
        {"dft", "B=5,N=37"},
        {"packed_triangle", "N=29"},
        {"bench/modern/packed_symmetric", "N=29"}, /* a triangle read along rows and columns */
        {"bench/modern/packed_symmetric", "N=37"},
        {"bench/modern/stored_once", "N=35"},
        {"tests/te/rows_and_columns", ""}, /* both at once */
        {"tests/te/rows_and_columns", "B=1,N=24,M=53,K=9"},
        {"tests/te/rows_and_columns", "B=1,N=261,M=9,K=9"}, /* rows that threads share */
        {"tests/te/three_sums", "N=5,M=37,K=7"},
        {"tests/te/columns", "N=3,C=5,P=21"}, /* blocks of columns through all stages */
        {"tests/te/columns", "N=1,C=1,P=5"},
        {"tests/te/columns_of_rows", "I=5,J=21,K=3"},
        {"tests/te/below_diagonal", "N=29,M=37,K=4"},
        {"tests/te/below_diagonal", "N=19,M=41,K=5"},
        {"tests/te/running_sums", "R=7,S=37,C=3"},
        {"tests/te/running_sums", "R=1,S=1,C=1"},
        {"group_conv2d", "N=1,H=3,W=5,CI=15,CO=20,K=3,S=1,P=1,G=5"},
        {"group_conv2d", "N=1,H=3,W=5,CI=18,CO=24,K=3,S=2,P=1,G=6"},  /* lanes through groups */
        {"group_conv2d", "N=1,H=3,W=5,CI=26,CO=39,K=3,S=1,P=1,G=13"}, /* along groups */
        {"tests/te/repeated_channels", ""},
        {"tests/te/repeated_channels", "H=3,W=5,C=13,M=3"},
        {"tests/te/repeated_channels", "H=3,W=2,C=5,M=2"},
        {"tests/te/repeated_channels", "H=2,W=3,C=3,M=5"},
        {"tests/te/few_outputs", "M=5,N=5,K=261"}, /* lanes along the sum */
        {"tests/te/few_outputs", "M=3,N=11,K=259"},
        {"tests/te/few_queries", "G=2,R=3,T=9,D=67"},
        {"tests/te/chosen_rows", "M=19,T=7,D=5,C=3"}, /* indices that are computed */
        {"tests/te/chosen_rows", "M=1,T=2,D=3,C=37"},
        {"tests/te/places_of_points", "M=19,N=9"},
        {"tests/te/phases_spread", "CI=2,H=3,W=4,CO=5"},
        {"tests/te/phases_to_odd", "CI=2,CO=3"},
        {"tests/te/places", "N=37,H=5,W=3,C=19"},
        {"tests/te/places", "N=1,H=1,W=2,C=3"},
        {"conv2d", "N=1,H=3,W=5,CI=31,CO=7,K=3,S=1,P=1,D=1"},
        {"tests/te/steps_beside", "C=5,P=301"}, /* together, in turn */
        {"tests/te/steps_beside", "C=3,P=19"},
        {"tests/te/steps_along_rows", "M=37,N=101"}, /* turned in blocks */
        {"tests/te/sums_along_rows", "B=1,M=5,N=2"},
        {"tests/te/sums_along_rows", "B=2,M=21,N=67"},
        {"tests/te/running_sums", "R=12,S=21,C=3"},
        {"tests/te/recurrences", "R=5,S=13,C=3"},
        {"tests/te/recurrences", "R=1,S=1,C=1"},
        {"tests/te/recurrences", "R=3,S=37,C=17"},
        {"tests/te/recurrences", "R=9,S=11,C=3"},
        {"tests/te/recurrences", "R=8,S=9,C=8"},
        {"tests/te/cycles", "T=5,B=3,H=7"},
        {"tests/te/cycles", "T=1,B=1,H=1"},
        {"tests/te/cycles", "T=6,B=2,H=19"},
        {"tests/te/cycles", "T=3,B=5,H=17"},
        {"tests/te/solves", "N=11,M=9,B=2"},
        {"tests/te/solves", "N=1,M=1,B=1"},
        {"tests/te/solves", "N=19,M=17,B=2"},
        {"tests/te/kept_steps", "H=2,T=5,D=3,E=19"},
        {"tests/te/kept_steps", "H=1,T=4,D=17,E=9"},
        {"linear_attention", "H=2,T=19,D=3,E=5"},
        {"tests/te/chain_of_rows", "B=2,S=37,T=29,D=9"}, /* blocks of rows through both */
        {"tests/te/chain_of_rows", "B=1,S=17,T=27,D=4"},
        {"tests/te/chain_of_steps", "B=1,S=19,C=2,J=17,D=17"},
        {"tests/te/centred_product", "M=37,N=21,K=5"},
        {"tests/te/padded_points", "H=3,W=9,C=2"}, /* lanes that a condition cuts */
        {"tests/te/padded_points", "H=2,W=37,C=5"},
        {"tests/te/median_of_columns", "H=9,W=45"}, /* rows that stages have in common */
        {"tests/te/opening", "C=2,H=9,W=37"},
        {"tests/te/windows_in_common", "H=7,W=29"},
        {"tests/te/windows_down", "H=11,W=37"},
        {"tests/te/doubled_by_rows", "C=2,H=7,W=37"}, /* several rows are a turn */
        {"tests/te/tripled_by_rows", "C=1,H=5,W=29"},
        {"tests/te/doubled_beside", "C=2,H=5,W=19"},
        {"tests/te/chain_of_windows", "B=2,S=29,D=7,W=6"},
        {"tests/te/chain_of_windows", "B=1,S=19,D=5,W=23"},
        {"integral_image", "H=19,W=37"},
        {"sparse_dense", "M=19,N=13,K=37,E=71"},
        {"sparse_dense", "M=9,N=5,K=11,E=101"},
        {"block_sparse_dense", "M=13,R=5,Q=7,E=17,B=8,C=4"},
        {"block_sparse_dense", "M=9,R=3,Q=4,E=11,B=3,C=2"},
        {"block_sparse_dense", "M=5,R=3,Q=4,E=11,B=19,C=9"},
        {"tests/te/lower_triangle", "N=31,M=3"},
        {"tests/te/turned_reads", "C=3,H=5,W=29"},
        {"tests/te/colours", "H=9,W=114,C=3"},
        {"tests/te/short_rows", "B=2,M=37,N=6"}, /* lanes across rows */
        {"tests/te/short_rows", "B=1,M=33,N=13"},
        {"tests/te/colours", "H=2,W=40,C=7"},
        {"tests/te/points", "N=349,D=3"},
        {"tests/te/small_matrices", "N=37,R=3"},
        {"tests/te/small_matrices", "N=33,R=4"},
        {"tests/te/spread_entries", "N=40,K=16"},
        {"tests/te/triangle", "N=13,C=19"},
        {"tests/te/triangle", "N=7,C=37"},
        {"tests/te/flat_rows", "C=5,F=9,H=6,W=7"},
        {"tests/te/flat_rows", "C=3,F=17,H=9,W=19"},
        {"tests/te/flat_rows", "C=5,F=11,H=7,W=28"}, /* four rows, one too many */
        {"tests/te/bound_by_entries", "G=2,T=33,D=11"},
        {"tests/te/rows_reduced", "P=33,K=12,C=9"},
        {"tests/te/rows_that_lead", "C=13,H=31,W=35,Q=7,K=5"},
    };
    enum { CASES = sizeof cases / sizeof cases[0] };
    const char *only = getenv("AT_ONLY");
    batch *b = batch_open();
    /* An eighth of them at a time, by the seed: all in a full run. */
    long points = setting("AT_POINTS", 0), eighth = setting("AT_SEED", 0) % 8, done = 0;
    for (int i = 0; i < CASES; i++) {
        if (only ? strcmp(only, cases[i].file) : !points && i % 8 != eighth) continue;
        check_operator(b, cases[i].file, cases[i].args, points);
        done++;
    }
    const char *args = only ? strchr(only, ' ') : NULL;
    if (args) {
        char file[100];
        snprintf(file, sizeof file, "%.*s", (int)(args - only), only);
        check_operator(b, file, args + 1, points);
        done++;
    }
    batch_close(b, "operators", done);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_computations),
                                       cmocka_unit_test(operators)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
