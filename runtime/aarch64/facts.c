/* runtime/aarch64/facts.c: what this CPU is: the core's number, caches, instruction sets. Source:
 * Arm Architecture Reference Manual for A-profile (DDI 0487), MIDR_EL1; Linux,
 * Documentation/arm64/cpu-feature-registers.rst and elf_hwcaps.rst.
 *
 * Cores of one machine may differ: the facts are those of the core that kernels run on first. */
#include "runtime/aarch64/aarch64.h"

#include <asm/hwcap.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* ---- the core ------------------------------------------------------------------------------- */

enum { ARM = 0x41, CAVIUM = 0x43, FUJITSU = 0x46, HISILICON = 0x48, QUALCOMM = 0x51, APPLE = 0x61 };
enum { AMPERE = 0xc0, QEMU = 0, QEMU_MAX = 0x51 };

typedef struct core_row {
    unsigned maker, part;
    const char *name, *llvm_name;
} core_row;

/* Names as LLVM's -mcpu has them. */
static const core_row cores[] = {
    {ARM, 0xd03, "Cortex-A53", "cortex-a53"},
    {ARM, 0xd04, "Cortex-A35", "cortex-a35"},
    {ARM, 0xd05, "Cortex-A55", "cortex-a55"},
    {ARM, 0xd07, "Cortex-A57", "cortex-a57"},
    {ARM, 0xd08, "Cortex-A72", "cortex-a72"},
    {ARM, 0xd09, "Cortex-A73", "cortex-a73"},
    {ARM, 0xd0a, "Cortex-A75", "cortex-a75"},
    {ARM, 0xd0b, "Cortex-A76", "cortex-a76"},
    {ARM, 0xd0c, "Neoverse-N1", "neoverse-n1"},
    {ARM, 0xd0d, "Cortex-A77", "cortex-a77"},
    {ARM, 0xd40, "Neoverse-V1", "neoverse-v1"},
    {ARM, 0xd41, "Cortex-A78", "cortex-a78"},
    {ARM, 0xd44, "Cortex-X1", "cortex-x1"},
    {ARM, 0xd46, "Cortex-A510", "cortex-a510"},
    {ARM, 0xd47, "Cortex-A710", "cortex-a710"},
    {ARM, 0xd48, "Cortex-X2", "cortex-x2"},
    {ARM, 0xd49, "Neoverse-N2", "neoverse-n2"},
    {ARM, 0xd4f, "Neoverse-V2", "neoverse-v2"},
    {CAVIUM, 0x0a1, "ThunderX", "thunderxt88"},
    {CAVIUM, 0x0af, "ThunderX2", "thunderx2t99"},
    {FUJITSU, 0x001, "A64FX", "a64fx"},
    {HISILICON, 0xd01, "TSV110", "tsv110"},
    /* Cores of Arm's with a number of Qualcomm's. */
    {QUALCOMM, 0x800, "Kryo (Cortex-A73)", "cortex-a73"},
    {QUALCOMM, 0x801, "Kryo (Cortex-A53)", "cortex-a53"},
    {QUALCOMM, 0x802, "Kryo (Cortex-A75)", "cortex-a75"},
    {QUALCOMM, 0x803, "Kryo (Cortex-A55)", "cortex-a55"},
    {QUALCOMM, 0x804, "Kryo (Cortex-A76)", "cortex-a76"},
    {QUALCOMM, 0x805, "Kryo (Cortex-A55)", "cortex-a55"},
    {APPLE, 0x022, "Apple M1 Icestorm", "apple-m1"},
    {APPLE, 0x023, "Apple M1 Firestorm", "apple-m1"},
    {AMPERE, 0xac3, "Ampere-1", "ampere1"},
    {QEMU, QEMU_MAX, "QEMU (max)", "generic"},
};

/* Of a file in /sys that is one number. false: there is none. */
static bool read_number(const char *path, unsigned long long *out) {
    char line[64];
    FILE *f = fopen(path, "re");
    if (!f) return false;
    bool got = fgets(line, sizeof line, f) != NULL;
    fclose(f);
    if (got) *out = strtoull(line, NULL, 0);
    return got;
}

/* Of the processor of that number in /proc/cpuinfo, as far as it is there. */
static unsigned number_of_cpuinfo(int cpu) {
    unsigned maker = 0, variant = 0, part = 0, revision = 0;
    int at = -1;
    char line[1024];
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && fgets(line, sizeof line, f)) {
        const char *value = strchr(line, ':');
        if (!value) continue;
        const unsigned n = (unsigned)strtoul(value + 1, NULL, 0);
        if (!strncmp(line, "processor", 9)) at = (int)n;
        if (at != cpu) continue;
        if (!strncmp(line, "CPU implementer", 15)) maker = n;
        if (!strncmp(line, "CPU variant", 11)) variant = n;
        if (!strncmp(line, "CPU part", 8)) part = n;
        if (!strncmp(line, "CPU revision", 12)) revision = n;
    }
    if (f) fclose(f);
    return maker << 24 | variant << 20 | part << 4 | revision;
}

/* MIDR_EL1 of the core that kernels run on: of that core from the system, else of the one that runs
 * this, which the kernel reads for us. */
static unsigned core_number(int cpu) {
    char path[96];
    unsigned long long n;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1", cpu);
    if (read_number(path, &n)) return (unsigned)n;
    if (!(getauxval(AT_HWCAP) & HWCAP_CPUID)) return number_of_cpuinfo(cpu);
    __asm__("mrs %0, midr_el1" : "=r"(n));
    return (unsigned)n;
}

static void set_names(at_cpu *cpu, unsigned number) {
    const unsigned maker = number >> 24, part = number >> 4 & 0xfff;
    snprintf(cpu->name, sizeof cpu->name, "AArch64 %02x-%03x", maker, part);
    snprintf(cpu->llvm_name, sizeof cpu->llvm_name, "generic");
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
        if (cores[i].maker != maker || cores[i].part != part) continue;
        snprintf(cpu->name, sizeof cpu->name, "%s", cores[i].name);
        snprintf(cpu->llvm_name, sizeof cpu->llvm_name, "%s", cores[i].llvm_name);
    }
    snprintf(cpu->core, sizeof cpu->core, "%s", cpu->llvm_name);
}

/* ---- what it can do -------------------------------------------------------------------------- */

/* The features that decide what code can be, as Linux names them. */
static void list_flags(char *out, size_t size) {
    static const struct {
        const char *name;
        bool second;
        unsigned bit;
    } rows[] = {{"fp", false, 0},       {"asimd", false, 1},    {"atomics", false, 8},
                {"fphp", false, 9},     {"asimdhp", false, 10}, {"asimdrdm", false, 12},
                {"asimddp", false, 20}, {"sve", false, 22},     {"asimdfhm", false, 23},
                {"sve2", true, 1},      {"i8mm", true, 13},     {"bf16", true, 14}};
    const unsigned long words[] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    size_t n = 0;
    *out = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!(words[rows[i].second] >> rows[i].bit & 1)) continue;
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? " " : "", rows[i].name);
        AT_ASSERT(n < size);
    }
}

bool at_aarch64_has_base(void) { return true; }
bool at_aarch64_has_dotprod(void) { return getauxval(AT_HWCAP) & HWCAP_ASIMDDP; }
bool at_aarch64_has_fp16fml(void) { return getauxval(AT_HWCAP) & HWCAP_ASIMDFHM; }
bool at_aarch64_has_i8mm(void) {
    return at_aarch64_has_dotprod() && getauxval(AT_HWCAP2) & HWCAP2_I8MM;
}

/* ---- caches ---------------------------------------------------------------------------------- */

static bool read_word(int cpu, int cache, const char *what, char out[32]) {
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, cache, what);
    FILE *f = fopen(path, "re");
    bool got = f && fgets(out, 32, f);
    if (f) fclose(f);
    if (got) out[strcspn(out, "\n")] = 0;
    return got;
}

/* What the system says: programs may not read the registers. */
static void caches(at_cpu *cpu, int of) {
    char level[32], type[32], size[32], *unit;
    for (int i = 0; read_word(of, i, "level", level); i++) {
        if (!read_word(of, i, "type", type) || !read_word(of, i, "size", size)) continue;
        if (!strcmp(type, "Instruction")) continue;
        int64_t bytes = strtoll(size, &unit, 10);
        bytes *= *unit == 'K' ? 1 << 10 : *unit == 'M' ? 1 << 20 : 1;
        if (*level == '1') cpu->l1d_bytes = bytes;
        if (*level == '2') cpu->l2_bytes = bytes;
        if (*level == '3') cpu->l3_bytes = bytes;
    }
}

/* ---- the face -------------------------------------------------------------------------------- */

void at_arch_cpu(at_cpu *cpu) {
    int of = 0;
    at_cpu_cores(&of, 1);
    const unsigned number = core_number(of);
    set_names(cpu, number);
    cpu->device = "arm_cpu";
    list_flags(cpu->flags, sizeof cpu->flags);
    caches(cpu, of);
    snprintf(cpu->machine, sizeof cpu->machine, "%02x-%03x-r%up%u, %lldK/%lldK/%lldK", number >> 24,
             number >> 4 & 0xfff, number >> 20 & 0xf, number & 0xf, (long long)cpu->l1d_bytes >> 10,
             (long long)cpu->l2_bytes >> 10, (long long)cpu->l3_bytes >> 10);
}
