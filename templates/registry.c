/* templates/registry.c: the templates there are. A new one is one file and one row here. */
#include "templates/template_int.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TEMPLATES(ROW)                                                                             \
    ROW(at_conv2d_3x3_gemm)                                                                        \
    ROW(at_conv2d_nchwc)                                                                           \
    ROW(at_conv2d_nhwc)                                                                            \
    ROW(at_conv2d_winograd_nhwc)                                                                   \
    ROW(at_conv2d_winograd_nchwc)                                                                  \
    ROW(at_indirect_conv2d_nhwc)                                                                   \
    ROW(at_group_conv2d_nhwc)                                                                      \
    ROW(at_depthwise_conv2d_nchwc)                                                                 \
    ROW(at_depthwise_conv2d_nhwc)                                                                  \
    ROW(at_conv2d_transpose_nhwc)                                                                  \
    ROW(at_conv2d_capsule_nhwijc)                                                                  \
    ROW(at_conv1d_nwc)                                                                             \
    ROW(at_conv3d_ndhwc)                                                                           \
    ROW(at_pool2d)                                                                                 \
    ROW(at_avg_pool2d_nhwc)                                                                        \
    ROW(at_layer_norm)                                                                             \
    ROW(at_softmax)                                                                                \
    ROW(at_norm)                                                                                   \
    ROW(at_dense)                                                                                  \
    ROW(at_matmul_add)                                                                             \
    ROW(at_batch_matmul)                                                                           \
    ROW(at_spconv2d_3x3_gemm)                                                                      \
    ROW(at_spconv2d_nhwc)                                                                          \
    ROW(at_arm_conv2d_nchw)                                                                        \
    ROW(at_arm_depthwise_nchw)                                                                     \
    ROW(at_arm_winograd_nchw)                                                                      \
    ROW(at_sparse_dense)                                                                           \
    ROW(at_conv2d_nchwc_int8)                                                                      \
    ROW(at_dense_int8)                                                                             \
    ROW(at_batch_matmul_int8)                                                                      \
    ROW(at_dense_q4_0)                                                                             \
    ROW(at_dense_q8_0)                                                                             \
    ROW(at_dense_q4_k)                                                                             \
    ROW(at_dense_f16)                                                                              \
    ROW(at_dense_bf16)

#define DECLARE(row) extern const at_template_row row;
TEMPLATES(DECLARE)
#define ADDRESS(row) &row,
static const at_template_row *const rows[] = {TEMPLATES(ADDRESS)};

int at_template_count(void) { return sizeof rows / sizeof *rows; }

const at_template_row *at_template_at(int i) {
    AT_ASSERT(0 <= i && i < at_template_count());
    return rows[i];
}

void at_template_add_beginning(at_text *out, const char *word) {
    size_t n = strlen(word);
    for (int i = 0; i < at_template_count() && n; i++)
        if (!strncasecmp(rows[i]->name, word, n))
            at_text_addf(out, "%s%s", out->len ? ", " : "", rows[i]->name);
}

/* NULL: there is none. */
static const at_template_row *named(const char *name) {
    const at_template_row *own = at_template_added(name);
    for (int i = 0; !own && i < at_template_count(); i++)
        if (at_template_is_named(rows[i], name)) own = rows[i];
    return own;
}

/* NAME+STAGE+STAGE, where NAME is a template, which may have a + of its own. */
static const at_template_row *base_of(const char *name, const char **stages) {
    const at_template_row *found = NULL;
    char *begin = strdup(name), *plus;
    if (!begin) AT_BUG("no memory for a name");
    while (!found && (plus = strrchr(begin, '+')) != NULL) {
        *plus = 0;
        found = named(begin);
        *stages = name + strlen(begin) + 1;
    }
    free(begin);
    return found;
}

at_status at_template_find(const char *name, const at_template_row **out, at_error *err) {
    const char *stages;
    const at_template_row *found = named(name);
    if (!found && (found = base_of(name, &stages)) != NULL)
        return at_template_fuse(found, stages, "+", out, err);
    if (found) {
        *out = found;
        return AT_OK;
    }
    if (!err) return AT_E_USAGE; /* readers of logs ask for each record */
    if (strchr(name, '/'))
        return at_fail(err, AT_E_USAGE,
                       "%s is no template: files are FILE.c (a template or a kernel), FILE.te (a "
                       "computation) and FILE.onnx (a network)",
                       name);
    at_text names = {0}, begin_so = {0};
    const char *all[sizeof rows / sizeof *rows];
    for (int i = 0; i < at_template_count(); i++) all[i] = rows[i]->name;
    const char *near = at_nearest(name, all, at_template_count());
    if (!near || strncmp(near, name, strlen(name)) != 0) at_template_add_beginning(&begin_so, name);
    if (begin_so.len) {
        at_status s =
            at_fail(err, AT_E_USAGE, "unknown template \"%s\"; templates that begin with it: %s",
                    name, at_text_str(&begin_so));
        at_text_free(&begin_so);
        return s;
    }
    at_text_add_names(&names, name, all, at_template_count());
    at_status s = at_fail(err, AT_E_USAGE, "unknown template \"%s\"; there are: %s", name,
                          at_text_str(&names));
    at_text_free(&names);
    return s;
}
