/* tuners/xgb_model.c: the cost model: gradient-boosted trees, through XGBoost's C API. Source of
 * behaviour: TVM v0.12, python/tvm/autotvm/tuner/xgboost_cost_model.py. Differences: fewer rounds
 * at most; histograms of 32 bins and one thread; margins are in the order of the rows. */
#include "tuners/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xgboost/c_api.h>

struct at_model {
    BoosterHandle booster;
    int *columns; /* [num_columns] of a row, that the trees may ask */
    int num_columns;
    float *dense; /* [room][num_columns] */
    int room;
};

/* All input is finite and of the right size: a refusal is our own mistake, unless memory is short.
 */
static void check(int result, const char *what) {
    if (!result) return;
    if (strstr(XGBGetLastError(), "bad_alloc")) at_out_of_memory(0);
    AT_BUG("XGBoost, %s: %s", what, XGBGetLastError());
}
#define CHECK(call) check((call), #call)

enum { MOST_VALUES = 256 };

static uint64_t add_bits(uint64_t hash, uint32_t bits) {
    hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
    return hash ^ hash >> 29;
}

/* [width] of the values of each column; 0: all are the same. */
static void hash_columns(const at_model_data *d, uint64_t *hashes) {
    bool *varies = calloc((size_t)d->width + 1, sizeof *varies);
    AT_NEED(varies);
    for (int i = 0; i < d->num_rows; i++) {
        const float *row = d->rows[i], *first = d->rows[0];
        for (int c = 0; c < d->width; c++) {
            uint32_t bits;
            memcpy(&bits, &row[c], sizeof bits);
            hashes[c] = add_bits(hashes[c], bits);
            varies[c] |= row[c] != first[c];
        }
    }
    for (int c = 0; c < d->width; c++)
        if (!varies[c]) hashes[c] = 0;
    free(varies);
}

/* The first of n ascending values that is not below x. */
static int place_of(const float *values, int n, float x) {
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (values[middle] < x) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Of the order that it has the rows in; where more values differ than that takes, of these. */
static uint64_t hash_of_order(const at_model_data *d, int column, uint64_t of_values) {
    float values[MOST_VALUES];
    uint64_t hash = 0;
    int n = 0;
    for (int i = 0; i < d->num_rows; i++) {
        float x = d->rows[i][column];
        int at = place_of(values, n, x);
        if (at < n && values[at] == x) continue;
        if (n == MOST_VALUES) return of_values;
        memmove(values + at + 1, values + at, sizeof *values * (size_t)(n - at));
        values[at] = x;
        n++;
    }
    for (int i = 0; i < d->num_rows; i++)
        hash = add_bits(hash, (uint32_t)place_of(values, n, d->rows[i][column]));
    return hash;
}

/* Trees ask which rows lie above a value. So a column that is the same in all rows, or has them in
 * the same order as one before it, gives no split of its own; most are, and time goes with their
 * number. */
static void choose_columns(at_model *m, const at_model_data *d) {
    at_numbering values = {0}, orders = {0};
    uint64_t *hashes = calloc((size_t)d->width + 1, sizeof *hashes);
    m->columns = malloc(sizeof *m->columns * ((size_t)d->width + 1));
    AT_NEED(m->columns && hashes);
    hash_columns(d, hashes);
    for (int c = 0; c < d->width; c++) {
        uint64_t of_values = hashes[c];
        if (!of_values || at_number_of(&values, (int64_t)of_values) >= 0) continue;
        at_number_add(&values, (int64_t)of_values);
        uint64_t of_order = hash_of_order(d, c, of_values);
        if (at_number_of(&orders, (int64_t)of_order) >= 0) continue;
        at_number_add(&orders, (int64_t)of_order);
        m->columns[m->num_columns++] = c;
    }
    free(hashes);
    at_numbering_free(&values);
    at_numbering_free(&orders);
    /* XGBoost wants one at least. */
    if (!m->num_columns && d->width) m->columns[m->num_columns++] = 0;
}

static void gather(at_model *m, const float *const *rows, int n) {
    if (n > m->room) {
        free(m->dense);
        m->dense = malloc(sizeof *m->dense * (size_t)n * (size_t)(m->num_columns + 1));
        AT_NEED(m->dense);
        m->room = n;
    }
    float *out = m->dense;
    if (!m->num_columns) memset(out, 0, sizeof *out * (size_t)n);
    for (int i = 0; i < n; i++)
        for (int c = 0; c < m->num_columns; c++) *out++ = rows[i][m->columns[c]];
}

/* A row without features is one zero. */
static int dense_width(const at_model *m) { return m->num_columns ? m->num_columns : 1; }

static void set_parameters(at_model *m, const at_model_options *o) {
    char seed[24];
    snprintf(seed, sizeof seed, "%u", (unsigned)(o->seed & 0x7fffffff));
    const char *const parameters[][2] = {
        {"objective", o->loss == AT_LOSS_RANK ? "rank:pairwise" : "reg:squarederror"},
        {"tree_method", "hist"},
        {"max_bin", "32"},
        {"nthread", "1"},
        {"verbosity", "0"},
        {"seed", seed},
        {"max_depth", "3"},
        {"gamma", "0.0001"},
        {"min_child_weight", "1"},
        {"subsample", "1"},
        {"eta", "0.3"},
        {"lambda", "1"},
        {"alpha", "0"},
    };
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        CHECK(XGBoosterSetParam(m->booster, parameters[i][0], parameters[i][1]));
}

static const char predict_config[] =
    "{\"type\": 1, \"training\": false, \"iteration_begin\": 0, \"iteration_end\": 0, "
    "\"strict_shape\": false, \"missing\": NaN, \"cache_id\": 0}";

/* Of a bound is learned what it says and no more. Speeds: what is expected below it already is as
 * it should be, what is above is to come down to it (J. Tobin, Estimation of relationships for
 * limited dependent variables, 1958, with squares for likelihoods). Order: who is behind one
 * another among them nobody knows. */
static void set_labels(DMatrixHandle train, const at_model_data *d, at_loss loss,
                       const float *preds, float *labels) {
    float lowest = INFINITY;
    for (int i = 0; i < d->num_rows; i++)
        if (d->is_bound[i]) lowest = fminf(lowest, d->labels[i]);
    for (int i = 0; i < d->num_rows; i++) {
        labels[i] = d->labels[i];
        if (!d->is_bound[i]) continue;
        if (loss == AT_LOSS_RANK) labels[i] = lowest;
        else if (preds) labels[i] = fminf(labels[i], preds[i]);
    }
    CHECK(XGDMatrixSetFloatInfo(train, "label", labels, (bst_ulong)d->num_rows));
}

static void boost(at_model *m, DMatrixHandle train, const at_model_data *d,
                  const at_model_options *o) {
    float *now = malloc(sizeof *now * (size_t)(d->num_rows + 1));
    AT_NEED(now);
    if (d->is_bound) set_labels(train, d, o->loss, d->margins, now);
    double *preds = malloc(sizeof *preds * (size_t)(d->num_rows + 1));
    double *labels = malloc(sizeof *labels * (size_t)(d->num_rows + 1));
    AT_NEED(preds && labels);
    for (int i = 0; i < d->num_rows; i++) labels[i] = (double)d->labels[i];
    double best = -1;
    for (int round = 0, best_round = 0; round < o->most_rounds; round++) {
        bst_ulong dim;
        const bst_ulong *shape;
        const float *result;
        CHECK(XGBoosterUpdateOneIter(m->booster, round, train));
        if (round % 2) continue;
        CHECK(
            XGBoosterPredictFromDMatrix(m->booster, train, predict_config, &shape, &dim, &result));
        for (int i = 0; i < d->num_rows; i++) preds[i] = (double)result[i];
        if (d->is_bound) set_labels(train, d, o->loss, result, now);
        double recall = at_average_recall(preds, labels, d->num_rows, o->top);
        if (recall > best) best = recall, best_round = round;
        else if (round >= best_round + o->patience) break;
    }
    free(labels);
    free(preds);
    free(now);
}

at_model *at_model_fit(const at_model_data *d, const at_model_options *o) {
    at_model *m = calloc(1, sizeof *m);
    AT_NEED(m);
    choose_columns(m, d);
    gather(m, d->rows, d->num_rows);
    DMatrixHandle train;
    bst_ulong n = (bst_ulong)d->num_rows;
    CHECK(XGDMatrixCreateFromMat(m->dense, n, (bst_ulong)dense_width(m), NAN, &train));
    CHECK(XGDMatrixSetFloatInfo(train, "label", d->labels, n));
    if (d->margins) CHECK(XGDMatrixSetFloatInfo(train, "base_margin", d->margins, n));
    if (o->loss == AT_LOSS_RANK)
        CHECK(XGDMatrixSetUIntInfo(train, "group", d->groups, (bst_ulong)d->num_groups));
    CHECK(XGBoosterCreate(&train, 1, &m->booster));
    set_parameters(m, o);
    boost(m, train, d, o);
    CHECK(XGDMatrixFree(train));
    return m;
}

void at_model_predict(at_model *m, const float *const *rows, int n, double *out) {
    char array[160];
    bst_ulong dim;
    const bst_ulong *shape;
    const float *result;
    if (!n) return;
    gather(m, rows, n);
    snprintf(array, sizeof array,
             "{\"data\": [%llu, true], \"shape\": [%d, %d], \"typestr\": \"<f4\", \"version\": 3}",
             (unsigned long long)(uintptr_t)m->dense, n, dense_width(m));
    CHECK(
        XGBoosterPredictFromDense(m->booster, array, predict_config, NULL, &shape, &dim, &result));
    for (int i = 0; i < n; i++) out[i] = (double)result[i];
}

void at_model_free(at_model *m) {
    if (!m) return;
    CHECK(XGBoosterFree(m->booster));
    free(m->columns);
    free(m->dense);
    free(m);
}
