/* runtime/x86/cpuid.c: what this CPU is: names, caches, instruction sets the operating system lets
 * us use. Source: Intel SDM volume 2 (CPUID, XGETBV) and AMD APM volume 3, appendix E. */
#include "runtime/x86/x86.h"

#include <cpuid.h>
#include <string.h>

/* ---- features ------------------------------------------------------------------------------- */

typedef enum feature {
    F_V2, /* the x86-64-v2 set; likewise V3 and V4, with the registers saved by the system */
    F_V3,
    F_V4,
    F_AVX2, /* with FMA */
    F_F16C,
    F_AVX_VNNI,
    F_VNNI,
    F_BF16,
    F_VBMI2,
    F_FP16
} feature;
#define BIT(f) (1u << (f))

typedef struct leaf {
    unsigned a, b, c, d;
} leaf;

static leaf cpuid(unsigned number, unsigned sub) {
    leaf l = {0, 0, 0, 0};
    if ((unsigned)__get_cpuid_max(number & 0x80000000u, NULL) >= number) {
        __cpuid_count(number, sub, l.a, l.b, l.c, l.d);
    }
    return l;
}

static uint64_t saved_registers(void) { /* XCR0 */
    if (!(cpuid(1, 0).c & bit_OSXSAVE)) return 0;
    uint32_t lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return (uint64_t)hi << 32 | lo;
}

static unsigned features(void) {
    leaf l1 = cpuid(1, 0), l7 = cpuid(7, 0), l71 = cpuid(7, 1), e1 = cpuid(0x80000001u, 0);
    uint64_t saved = saved_registers();
    bool ymm = (saved & 0x6) == 0x6, zmm = (saved & 0xe6) == 0xe6;
    unsigned v2 = bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B;
    unsigned v3_1 = bit_AVX | bit_FMA | bit_F16C | bit_MOVBE, v3_7 = bit_AVX2 | bit_BMI | bit_BMI2;
    unsigned v4 = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    unsigned f = 0;
    if ((l1.c & v2) == v2) f |= BIT(F_V2);
    if (!ymm || !(l7.b & bit_AVX2) || !(l1.c & bit_FMA)) return f;
    f |= BIT(F_AVX2);
    if (l1.c & bit_F16C) f |= BIT(F_F16C);
    if (l1.c & bit_F16C && l71.a & 1u << 4) f |= BIT(F_AVX_VNNI);
    if ((l1.c & v3_1) == v3_1 && (l7.b & v3_7) == v3_7 && (e1.c & bit_LZCNT)) f |= BIT(F_V3);
    if (!zmm || (l7.b & v4) != v4) return f;
    f |= BIT(F_V4);
    if (l7.c & bit_AVX512VNNI) f |= BIT(F_VNNI);
    if (l7.c & bit_AVX512VBMI2) f |= BIT(F_VBMI2);
    /* Bits that not every compiler's header names. */
    if (l71.a & 1u << 5) f |= BIT(F_BF16);
    if (l7.d & 1u << 23) f |= BIT(F_FP16);
    return f;
}

/* Those that decide what code for floats can be. */
static void list_flags(char *out, size_t size) {
    enum { L1C, L7B, L7C, L7D, L71A, E1C, LEAVES };
    enum { NO_REGISTERS, YMM = 0x6, ZMM = 0xe6, TILES = 0x60000 }; /* that XCR0 must name */
    static const struct {
        const char *name;
        int leaf, bit;
        unsigned registers;
    } rows[] = {
        {"sse4_2", L1C, 20, NO_REGISTERS},
        {"movbe", L1C, 22, NO_REGISTERS},
        {"abm", E1C, 5, NO_REGISTERS},
        {"bmi1", L7B, 3, NO_REGISTERS},
        {"bmi2", L7B, 8, NO_REGISTERS},
        {"avx", L1C, 28, YMM},
        {"f16c", L1C, 29, YMM},
        {"fma", L1C, 12, YMM},
        {"avx2", L7B, 5, YMM},
        {"avx_vnni", L71A, 4, YMM},
        {"avx512f", L7B, 16, ZMM},
        {"avx512dq", L7B, 17, ZMM},
        {"avx512cd", L7B, 28, ZMM},
        {"avx512bw", L7B, 30, ZMM},
        {"avx512vl", L7B, 31, ZMM},
        {"avx512_vnni", L7C, 11, ZMM},
        {"avx512_vbmi2", L7C, 6, ZMM},
        {"avx512_bf16", L71A, 5, ZMM},
        {"avx512_fp16", L7D, 23, ZMM},
        {"amx_tile", L7D, 24, TILES},
    };
    leaf l1 = cpuid(1, 0), l7 = cpuid(7, 0), l71 = cpuid(7, 1), e1 = cpuid(0x80000001u, 0);
    const unsigned words[LEAVES] = {l1.c, l7.b, l7.c, l7.d, l71.a, e1.c};
    uint64_t saved = saved_registers();
    size_t n = 0;
    *out = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!(words[rows[i].leaf] >> rows[i].bit & 1)) continue;
        if ((saved & rows[i].registers) != rows[i].registers) continue;
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? " " : "", rows[i].name);
        AT_ASSERT(n < size);
    }
}

/* ---- LLVM's name ---------------------------------------------------------------------------- */

typedef enum vendor { INTEL, AMD, OTHER } vendor;

/* The first matching row of a table counts. A row whose features are missing (hidden by a
 * hypervisor) does not match. */
typedef struct core_row {
    vendor vendor;
    int family, model_first, model_last; /* family -1: any core */
    unsigned needs;
    const char *name;
} core_row;

/* Names are those of LLVM 15; where it has none for a core with AVX-512 (znver4, znver5) the later
 * name stands, and younger cores with an old name's features get the old one. */
static const core_row names[] = {
    /* Hypervisors invent models, and some hide AMX, which no compiler uses unasked. FP16 has been
     * in server cores from Sapphire Rapids on, and in first Alder Lakes, which have the same core.
     */
    {INTEL, 6, 0x00, 0xff, BIT(F_V4) | BIT(F_FP16), "sapphirerapids"},
    {INTEL, 6, 0x6a, 0x6c, BIT(F_V4) | BIT(F_VBMI2), "icelake-server"},
    {INTEL, 6, 0x7d, 0x7e, BIT(F_V4) | BIT(F_VBMI2), "icelake-client"},
    {INTEL, 6, 0x8c, 0x8d, BIT(F_V4) | BIT(F_VBMI2), "tigerlake"},
    {INTEL, 6, 0xa7, 0xa7, BIT(F_V4) | BIT(F_VBMI2), "rocketlake"},
    {INTEL, 6, 0x55, 0x55, BIT(F_V4) | BIT(F_BF16), "cooperlake"},
    {INTEL, 6, 0x55, 0x55, BIT(F_V4) | BIT(F_VNNI), "cascadelake"},
    {INTEL, 6, 0x55, 0x55, BIT(F_V4), "skylake-avx512"},
    {INTEL, 6, 0x8f, 0xcf, BIT(F_V4) | BIT(F_VBMI2), "icelake-server"}, /* younger, partly hidden */
    {INTEL, 6, 0x97, 0x9a, BIT(F_V3), "alderlake"},
    {INTEL, 6, 0xaa, 0xac, BIT(F_V3), "alderlake"}, /* Meteor Lake */
    {INTEL, 6, 0xb5, 0xc6, BIT(F_V3), "alderlake"}, /* Raptor Lake, Arrow Lake */
    {INTEL, 6, 0x4e, 0x4e, BIT(F_V3), "skylake"},
    {INTEL, 6, 0x5e, 0x5e, BIT(F_V3), "skylake"},
    {INTEL, 6, 0x8e, 0x8e, BIT(F_V3), "skylake"},
    {INTEL, 6, 0x9e, 0x9e, BIT(F_V3), "skylake"},
    {INTEL, 6, 0xa5, 0xa6, BIT(F_V3), "skylake"},
    {INTEL, 6, 0x3d, 0x3d, BIT(F_V3), "broadwell"},
    {INTEL, 6, 0x47, 0x47, BIT(F_V3), "broadwell"},
    {INTEL, 6, 0x4f, 0x4f, BIT(F_V3), "broadwell"},
    {INTEL, 6, 0x56, 0x56, BIT(F_V3), "broadwell"},
    {INTEL, 6, 0x3c, 0x3c, BIT(F_V3), "haswell"},
    {INTEL, 6, 0x3f, 0x3f, BIT(F_V3), "haswell"},
    {INTEL, 6, 0x45, 0x46, BIT(F_V3), "haswell"},
    {AMD, 0x17, 0x00, 0x2f, BIT(F_V3), "znver1"},
    {AMD, 0x17, 0x30, 0xff, BIT(F_V3), "znver2"},
    {AMD, 0x19, 0x10, 0x1f, BIT(F_V4), "znver4"},
    {AMD, 0x19, 0x60, 0xaf, BIT(F_V4), "znver4"},
    {AMD, 0x19, 0x00, 0xff, BIT(F_V3), "znver3"},
    {AMD, 0x1a, 0x00, 0xff, BIT(F_V4), "znver5"},
    {OTHER, -1, 0, 0, BIT(F_V4), "x86-64-v4"},
    {OTHER, -1, 0, 0, BIT(F_V3), "x86-64-v3"},
    {OTHER, -1, 0, 0, BIT(F_V2), "x86-64-v2"},
    {OTHER, -1, 0, 0, 0, "x86-64"},
};

static void core_number(int *family, int *model, int *stepping) {
    unsigned a = cpuid(1, 0).a;
    *stepping = (int)(a & 0xf);
    *family = (int)(a >> 8 & 0xf);
    *model = (int)(a >> 4 & 0xf);
    if (*family == 6 || *family == 15) *model |= (int)(a >> 12 & 0xf0);
    if (*family == 15) *family += (int)(a >> 20 & 0xff);
}

/* Of these, features may be hidden that their names above ask for: ports and latencies are the
 * core's all the same. */
static const core_row whole_cores[] = {
    {INTEL, 6, 0x55, 0x55, 0, "skylake-avx512"},
    {INTEL, 6, 0x6a, 0x6c, 0, "icelake-server"},
    {INTEL, 6, 0x8f, 0x8f, 0, "sapphirerapids"},
    {INTEL, 6, 0xad, 0xae, 0, "sapphirerapids"}, /* Granite Rapids */
    {INTEL, 6, 0xcf, 0xcf, 0, "sapphirerapids"}, /* Emerald Rapids */
    /* Under an invented model: no older core has both. */
    {INTEL, 6, 0x00, 0xff, BIT(F_VBMI2) | BIT(F_BF16), "sapphirerapids"},
    {AMD, 0x19, 0x10, 0x1f, 0, "znver4"},
    {AMD, 0x19, 0x60, 0xaf, 0, "znver4"},
    {AMD, 0x1a, 0x00, 0xff, 0, "znver5"},
};

static const char *find_core(const core_row *rows, size_t n, vendor v, unsigned have) {
    int family, model, stepping;
    core_number(&family, &model, &stepping);
    for (size_t i = 0; i < n; i++) {
        const core_row *r = &rows[i];
        if ((have & r->needs) != r->needs) continue;
        if (r->family < 0 || (r->vendor == v && r->family == family && r->model_first <= model &&
                              model <= r->model_last))
            return r->name;
    }
    return NULL;
}

static void set_names(at_cpu *cpu, vendor v, unsigned have) {
    const char *name = find_core(names, sizeof names / sizeof *names, v, have),
               *core = find_core(whole_cores, sizeof whole_cores / sizeof *whole_cores, v, have);
    snprintf(cpu->llvm_name, sizeof cpu->llvm_name, "%s", name); /* its last row always matches */
    snprintf(cpu->core, sizeof cpu->core, "%s", core ? core : name);
}

static vendor vendor_of(void) {
    leaf l = cpuid(0, 0);
    char name[13] = {0};
    memcpy(name, &l.b, 4);
    memcpy(name + 4, &l.d, 4);
    memcpy(name + 8, &l.c, 4);
    if (!strcmp(name, "GenuineIntel")) return INTEL;
    if (!strcmp(name, "AuthenticAMD")) return AMD;
    return OTHER;
}

static void brand(char out[64]) {
    char raw[49] = {0};
    for (unsigned i = 0; i < 3; i++) {
        leaf l = cpuid(0x80000002u + i, 0);
        memcpy(raw + 16 * i, &l, 16);
    }
    size_t n = 0;
    for (const char *p = raw; *p; p++) {
        if (*p == ' ' && (n == 0 || out[n - 1] == ' ')) continue;
        out[n++] = *p;
    }
    while (n && out[n - 1] == ' ') n--;
    out[n] = 0;
    if (!n) strcpy(out, "unknown");
}

/* ---- caches ---------------------------------------------------------------------------------- */

/* Leaf 4 (Intel) and 0x8000001d (AMD) have one layout: a sub-leaf per cache. */
static void caches(at_cpu *cpu, vendor v) {
    unsigned number = v == AMD ? 0x8000001du : 4;
    for (unsigned sub = 0; sub < 16; sub++) {
        leaf l = cpuid(number, sub);
        unsigned kind = l.a & 0x1f, level = l.a >> 5 & 7;
        if (kind == 0) break;
        int64_t bytes = (int64_t)((l.b >> 22) + 1) * ((l.b >> 12 & 0x3ff) + 1) *
                        ((l.b & 0xfff) + 1) * ((int64_t)l.c + 1);
        if (kind == 2) continue; /* instructions */
        if (level == 1) cpu->l1d_bytes = bytes;
        if (level == 2) cpu->l2_bytes = bytes;
        if (level == 3) cpu->l3_bytes = bytes;
    }
}

/* ---- what tells CPUs of one name apart ------------------------------------------------------- */

static size_t add_bytes(char *out, size_t size, int64_t bytes) {
    bool mib = bytes >= 1 << 20 && bytes % (1 << 20) == 0;
    return (size_t)snprintf(out, size, "%lld%s", (long long)(mib ? bytes >> 20 : bytes >> 10),
                            mib ? "M" : "K");
}

/* Hypervisors name themselves, where they say that they are there at all. */
static void hypervisor(char out[13]) {
    leaf l = cpuid(1, 0);
    *out = 0;
    if (!(l.c & 1u << 31)) return;
    __cpuid(0x40000000u, l.a, l.b, l.c, l.d);
    memcpy(out, &l.b, 4);
    memcpy(out + 4, &l.c, 4);
    memcpy(out + 8, &l.d, 4);
    out[12] = 0;
    for (char *p = out; *p; p++)
        if (*p < ' ' || *p > '~') *p = '?';
    if (!*out) strcpy(out, "?");
}

/* The size of the last cache, which a hypervisor may cut as it likes, counts as it is told. */
static void describe(at_cpu *cpu) {
    const int64_t caches[] = {cpu->l1d_bytes, cpu->l2_bytes, cpu->l3_bytes};
    int family, model, stepping;
    char host[13], *out = cpu->machine;
    core_number(&family, &model, &stepping);
    size_t size = sizeof cpu->machine,
           n = (size_t)snprintf(out, size, "%d-%d-%d, ", family, model, stepping);
    for (int i = 0; i < 3; i++) {
        if (i) out[n++] = '/';
        n += add_bytes(out + n, size - n, caches[i]);
    }
    hypervisor(host);
    if (*host) snprintf(out + n, size - n, ", under %s", host);
}

/* ---- the face -------------------------------------------------------------------------------- */

/* Asked for by threads that measure: found once. */
static unsigned known_features(void) {
    static _Atomic unsigned known; /* the same whoever finds it; 0 costs another look */
    if (!known) known = features();
    return known;
}

bool at_x86_has_base(void) { return true; } /* with sse2 */
bool at_x86_has_avx2(void) { return known_features() & BIT(F_AVX2); }
bool at_x86_has_f16c(void) { return known_features() & BIT(F_F16C); }
bool at_x86_has_avx512(void) { return known_features() & BIT(F_V4); }
bool at_x86_has_avx_vnni(void) { return known_features() & BIT(F_AVX_VNNI); }
bool at_x86_has_vnni(void) { return known_features() & BIT(F_VNNI); }
bool at_x86_has_bf16(void) { return at_x86_has_vnni() && (known_features() & BIT(F_BF16)); }

/* Where AMX is meant for them: half of the multiply-adds' peak on Sapphire Rapids, twice it on
 * Zen 4.
 */
bool at_x86_has_slow_bf16(void) { return vendor_of() == INTEL; }

void at_arch_cpu(at_cpu *cpu) {
    vendor v = vendor_of();
    unsigned have = known_features();
    brand(cpu->name);
    set_names(cpu, v, have);
    list_flags(cpu->flags, sizeof cpu->flags);
    caches(cpu, v);
    describe(cpu);
}
