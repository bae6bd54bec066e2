# make: builds ./autotune.  make run, make test: install what is missing, build, and do the job.
CC      ?= cc
CFLAGS  ?= -O2 -g
WARN     = -Wall -Wextra -Wshadow -Wmissing-prototypes
B       ?= build
PREFIX  ?= /usr/local
CPPFLAGS += -D_GNU_SOURCE -I. -MMD -MP
STD      = -std=c11

FOLDERS  = base knobs schedule codegen templates tuners runtime records
LIBS_base    = -lcjson -lm
LIBS_codegen = -lZydis
LIBS_runtime = -ltcc -ldl -lpthread

obj = $(patsubst %.c,$(B)/%.o,$(wildcard $(1)/*.c))

all: autotune

autotune: $(B)/autotune
	@ln -sf $< $@

$(B)/autotune: $(call obj,cli) $(foreach f,$(FOLDERS),$(call obj,$(f)))
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_codegen) $(LIBS_runtime) $(LIBS_base)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(STD) $(CPPFLAGS) $(CFLAGS) $(WARN) -c -o $@ $<

# A test program links only the folders its subject may use: NEEDS_test_x names them.
$(B)/tests/%: $(B)/tests/%.o
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS_codegen) $(LIBS_runtime) $(LIBS_base)

.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
.PHONY: all
