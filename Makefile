# SPDX-License-Identifier: GPL-2.0-or-later
# Builds memleak: BPF objects by clang, their skeletons by bpftool, everything else by CC.
#   make              build/memleak           make install    PREFIX, DESTDIR; STRIP=true: symbols
#   make demo         see a leak found        make uninstall
#   make deps         install missing packages, as root
#   make bench        what tracing costs: tables of ratios, as root
# Tests; each installs the packages that it needs, if root runs it:
#   make check               unit tests and a choice of cases: some five minutes
#   make check-cases         all cases: a quarter of an hour
#   make check-sanitize      most cases with a memleak that watches its own memory
#   make check-install       what make install and make uninstall do
#   make check-style         includes (alone: make check-includes), format of C, scripts
#   make check-clang         built by clang without a warning; unit tests as nobody
#   make check-all           all of these, but a choice of the sanitized cases
#   make check-kernels       cases on other kernels, in QEMU: needs no root
#   make check-verifier      instructions that verifiers take: VERIFIER_ARGS, see tests/verifier/run
#   make diagnosis           is the right function accused? small servers with real libraries, as root
#   make soak                random programs against their own books, SOAK_SECONDS in all, as root
#   make simulate            how many verdicts on made-up programs are wrong, SIMULATE_SEEDS of each sort
#   make fuzz                hostile input for each parser, FUZZ_SECONDS long each
# For work on tests: make unit, make programs, make bench-programs; make clean
#   O=DIR             another build folder    WERROR=1        warnings are errors
#   SANITIZE=1        ASan and UBSan          TEST_KNOBS=1    with what base/test_knobs.h describes

O ?= build
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= cc
CLANG ?= clang
BPFTOOL ?= $(or $(shell PATH=$$PATH:/usr/sbin:/sbin command -v bpftool),bpftool)
PKG_CONFIG ?= pkg-config
PROTOC_C ?= protoc-c
STRIP ?= strip
VERSION := 0.1

# Any target but these needs the packages; say which one is missing before a compiler does.
CHECKS := check check-cases check-sanitize check-install check-style check-clang check-all
PLAIN_GOALS := clean demo $(CHECKS) check-includes check-kernels check-verifier deps diagnosis \
	uninstall
ifneq ($(filter-out $(PLAIN_GOALS),$(or $(MAKECMDGOALS),all)),)
missing := $(shell CC='$(CC)' CLANG='$(CLANG)' BPFTOOL='$(BPFTOOL)' PKG_CONFIG='$(PKG_CONFIG)' \
	PROTOC_C='$(PROTOC_C)' \
	scripts/missing-packages)
ifneq ($(missing),)
$(error missing packages: $(missing) (install them with: apt-get install $(missing), \
	or run `make deps' as root))
endif
endif

ARCH := $(shell uname -m)
BPF_ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(ARCH)))
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)

# libmicrohttpd is loaded when --listen is given: here only its headers count.
LIBS := libbpf libelf libdw zlib capstone libprotobuf-c libseccomp
PKG_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(LIBS) libmicrohttpd)
PKG_LIBS = $(shell $(PKG_CONFIG) --libs $(LIBS)) -liberty -lm -pthread

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wformat=2 -Wno-unused-parameter $(if $(WERROR),-Werror)
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DMEMLEAK_VERSION='"$(VERSION)"' \
	-I. -I$(O) $(WARNINGS) $(PKG_CFLAGS) $(SANITIZE_FLAGS) $(CFLAGS) $(if $(TEST_KNOBS),-DTEST_KNOBS)
ifdef SANITIZE
SANITIZE_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
else
ALL_CFLAGS += -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
HARDENED := -pie -Wl,-z,relro,-z,now
endif

BPF_CFLAGS := -target bpf -mcpu=v3 -O2 -g -std=gnu11 -Wall -Wextra $(if $(WERROR),-Werror) \
	-Wno-unused-parameter -Wno-address-of-packed-member -D__TARGET_ARCH_$(BPF_ARCH) -I. -idirafter /usr/include/$(MULTIARCH)

# The rooms from the top floor down: each may include only rooms behind it in this list, which
# scripts/check-includes sees to. Each is an archive, and they are linked in this order.
ROOMS := app metrics recording sinks loader/kernel loader/user loader/stacks loader/tables \
	loader/probes loader/target loader report options symbolizer symbolizer/server unwinder \
	unwinder/server prober prober/server helper base
SRC := $(sort $(wildcard $(ROOMS:%=%/*.c)))
OBJ := $(SRC:%.c=$(O)/%.o) $(O)/sinks/profile.pb-c.o
ARCHIVES := $(foreach room,$(filter-out loader,$(ROOMS)),$(O)/lib/$(subst /,-,$(room)).a)

BPF_SRC := $(sort $(wildcard bpf/*/*.bpf.c))
# Unit tests stand in tests/unit/ROOM as what they test stands in ROOM, beside what they share.
UNIT_ALL := $(sort $(wildcard $(addsuffix /*.c,tests/unit/* tests/unit/*/*)))
UNIT_SRC := $(foreach source,$(UNIT_ALL),$(if $(filter test_%,$(notdir $(source))),$(source)))
UNIT_LIB := $(O)/lib/tests-unit.a

SKELETONS := $(patsubst %.bpf.c,$(O)/%.skel.h,$(BPF_SRC))
PACKED := $(patsubst %.bpf.c,$(O)/%.bpf.gz.o,$(BPF_SRC))
UNIT_BIN := $(UNIT_SRC:%.c=$(O)/%)

.PHONY: all unit simulate programs bench bench-programs deps demo $(CHECKS) check-includes check-kernels \
	check-verifier fuzz soak install uninstall clean FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(O)/memleak $(O)/memleak.8 $(O)/memleak.bash

$(O)/memleak: $(O)/app/main.o $(ARCHIVES)
	$(CC) $(SANITIZE_FLAGS) $(HARDENED) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

define archive
$(O)/lib/$(subst /,-,$(1)).a: $(filter-out $(O)/app/main.o,$(patsubst %.c,$(O)/%.o,$(wildcard $(1)/*.c)))
endef
$(foreach room,$(ROOMS),$(eval $(call archive,$(room))))
$(O)/lib/sinks.a: $(O)/sinks/profile.pb-c.o
$(O)/lib/loader-probes.a: $(PACKED)
$(O)/lib/%.a:
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) rcs $@ $^

# Other flags make other objects. It is rewritten only when they change.
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CFLAGS); $(CLANG) $(BPF_CFLAGS)' >$@.now; \
		cmp -s $@.now $@ || cp $@.now $@

$(O)/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Generated headers must exist before the first compilation; -MMD tracks them afterwards.
$(OBJ) $(UNIT_ALL:%.c=$(O)/%.o): | $(SKELETONS) \
	$(O)/sinks/profile.pb-c.h

$(O)/%.pb-c.c $(O)/%.pb-c.h &: %.proto
	@mkdir -p $(@D)
	$(PROTOC_C) --c_out=$(O) $<

$(O)/%.pb-c.o: $(O)/%.pb-c.c $(O)/flags
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/sinks/html.o: | $(patsubst %,$(O)/%.inc,$(wildcard sinks/html/*))

# A text as a string of C.
$(O)/%.inc: %
	@mkdir -p $(@D)
	sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< > $@

$(O)/%.bpf.o: %.bpf.c $(O)/flags
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

bpf_name = $(subst .,_,$(notdir $*))_bpf

# Without the object itself, which would be in each file that includes its skeleton, and without
# what debuggers want: the linked object has neither.
$(O)/bpf/%.skel.h: $(O)/bpf/%.bpf.o Makefile
	$(BPFTOOL) gen skeleton $< name $(bpf_name) | \
		sed '/^static inline .*elf_bytes(size_t \*sz)$$/,/^}/d; /elf_bytes/d' > $@

$(O)/%.skel.h: $(O)/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $(bpf_name) > $@

# The object in memleak: see loader/probes/skeleton.h.
$(O)/%.bpf.gz: $(O)/%.bpf.o
	$(BPFTOOL) gen object $(@:.gz=.linked) $<
	gzip -9 -n < $(@:.gz=.linked) > $@

$(O)/%.bpf.gz.o: $(O)/%.bpf.gz
	printf '%s\n' '.section .rodata' '.global $(bpf_name)_gz, $(bpf_name)_gz_end' \
		'$(bpf_name)_gz: .incbin "$<"' '$(bpf_name)_gz_end:' \
		'.section .note.GNU-stack,"",%progbits' | $(CC) -c -x assembler -o $@ -

# Options exist once, in options/table.c: man page and completion are printed from there.
$(O)/generate: man/generate.c $(ARCHIVES)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(O)/memleak.8: man/memleak.8.in $(O)/generate
	$(O)/generate man $< > $@

$(O)/memleak.bash: $(O)/generate
	$(O)/generate completion > $@

$(UNIT_LIB): $(patsubst %.c,$(O)/%.o,$(filter-out $(UNIT_SRC),$(UNIT_ALL)))

# Unit tests see every function of the libraries.
$(O)/tests/unit/%: $(O)/tests/unit/%.o $(UNIT_LIB) $(ARCHIVES)
	$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(PKG_LIBS) -lcmocka

# Tests that were built before and have gone from the tree are not to be run.
unit: $(UNIT_BIN)
	@find $(O)/tests/unit -type f -name 'test_*' ! -name '*.[do]' $(UNIT_BIN:%=! -path %) -delete

# How often verdicts are wrong, and how soon they are right.
SIMULATE_SEEDS ?= 1000
simulate: $(O)/tests/unit/report/test_verdicts
	$< $(SIMULATE_SEEDS)

# Rooms include only what is below them, and no files each other.
check-includes:
	@scripts/check-includes $(ROOMS)

# Test programs: each is one file, built by the rule in tests/programs/programs.mk.
include tests/programs/programs.mk
# Small servers, of which tests/diagnosis/run has memleak say who leaks.
include tests/diagnosis/diagnosis.mk
programs: $(PROGRAMS) $(SAMPLE)

# Programs of the benchmarks: with frame pointers the kernel can walk them as well.
BENCH := $(addprefix $(O)/bench/,calls calls_fp pairs probe floor)

$(O)/bench/calls: bench/calls.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fomit-frame-pointer -fno-optimize-sibling-calls -o $@ $<

$(O)/bench/calls_fp: bench/calls.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fno-omit-frame-pointer -fno-optimize-sibling-calls -o $@ $<

$(O)/bench/pairs: bench/pairs.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fomit-frame-pointer -fno-optimize-sibling-calls -o $@ $< -pthread

$(O)/bench/probe.o: $(O)/bench/probe.skel.h
$(O)/bench/floor.o: $(O)/bench/floor.skel.h
$(O)/bench/probe $(O)/bench/floor: $(O)/bench/%: $(O)/bench/%.o $(ARCHIVES)
	$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

# Tests and measurements have a memleak with test knobs, in a folder of its own.
bench-programs:
	$(MAKE) O=$(O)/check TEST_KNOBS=1 all $(BENCH:$(O)/%=$(O)/check/%)

bench: bench-programs
	O=$(O)/check bench/run

deps:
	scripts/install-packages

demo: deps
	@exec tests/demo

# What each runs stands in tests/check, which builds it.
check-all: parts := style unit install cases sanitize_brief clang
check-cases check-sanitize check-install check-style check-clang: parts = $(@:check-%=%)
$(CHECKS): deps
	@exec tests/check $(parts)

# Machines without KVM: no root is needed once the packages are there.
check-kernels:
	scripts/install-packages --kernels
	$(MAKE) O=$(O)/check TEST_KNOBS=1 all programs
	O=$(O)/check tests/kernels/run --folder $(O)/kernels

# By default each compiler that is there, on the running kernel and on all of check-kernels.
check-verifier:
	scripts/install-packages --kernels
	O='$(O)' tests/verifier/run $(VERIFIER_ARGS)

# With clang's libFuzzer, whose findings stay in $(O)/fuzz/FUZZER. What reads hostile bytes is built
# anew, as fuzzing needs it; what comes after it is as it is.
FUZZ_SECONDS ?= 60
FUZZ_CC := $(CLANG) -O1 -g -std=gnu11 -D_GNU_SOURCE -I. $(WARNINGS) \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
FUZZ_OPTIONS = -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
	-print_final_stats=1
FUZZERS := answers http prober process recording suppressions symbolizer unwinder walker
FUZZ_SRC_answers := helper/message.c
FUZZ_SRC_http := metrics/host.c metrics/web_server.c
FUZZ_SRC_process := base/proc.c loader/target/map_record.c metrics/host.c
FUZZ_SRC_suppressions := base/escape.c options/suppressions.c
FUZZ_SRC_walker := unwinder/server/walker_space.c
FUZZ_SRC_prober := $(filter-out %/server.c,$(wildcard prober/server/*.c))
FUZZ_SRC_recording := recording/format.c recording/recording.c \
	$(wildcard recording/reader*.c report/diff*.c) base/byte_buffer.c \
	$(addprefix report/,ranking.c report.c grouping.c thread_split.c)
FUZZ_SRC_symbolizer := base/proc_maps.c $(wildcard symbolizer/kallsyms*.c) \
	$(addprefix symbolizer/,answer.c kernel_files.c perf_map.c) \
	$(filter-out %/server.c,$(wildcard symbolizer/server/*.c))
FUZZ_SRC_unwinder := tests/unit/unwinder/cfi_file.c \
	$(addprefix unwinder/server/,arch.c builder.c elf_image.c fde_list.c rule.c table.c)
$(O)/fuzz/fuzz_recording: FUZZ_CC += -DRECORDING_MEMORY_MAX=67108864
$(O)/fuzz/fuzz_prober: FUZZ_CC += $(PKG_CFLAGS)
$(O)/fuzz/fuzz_http: FUZZ_CC += -DMEMLEAK_VERSION='"$(VERSION)"'

define fuzz_inputs
$(O)/fuzz/fuzz_$(1): tests/fuzz/fuzz_$(1).c $(FUZZ_SRC_$(1)) $(ARCHIVES)
endef
$(foreach fuzzer,$(FUZZERS),$(eval $(call fuzz_inputs,$(fuzzer))))
$(FUZZERS:%=$(O)/fuzz/fuzz_%):
	@mkdir -p $(@D)
	$(FUZZ_CC) -o $@ $^ $(PKG_LIBS)

$(O)/fuzz/recording_seeds: $(O)/tests/fuzz/recording_seeds.o $(UNIT_LIB) $(ARCHIVES)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(PKG_LIBS) -lcmocka

# Whether they can be built, for who changes what they call.
.PHONY: fuzz-objects
fuzz-objects: $(FUZZERS:%=$(O)/tests/fuzz/fuzz_%.o)

.PHONY: $(FUZZERS:%=fuzz-%)
fuzz: $(FUZZERS:%=fuzz-%)

fuzz-recording: $(O)/fuzz/recording_seeds
$(FUZZERS:%=fuzz-%): fuzz-%: $(O)/fuzz/fuzz_%
	mkdir -p $(O)/fuzz/$*/seeds $(O)/fuzz/$*/corpus
	O='$(O)' CC='$(CC)' tests/fuzz/seeds $* $(O)/fuzz/$*/seeds
	cd $(O)/fuzz/$* && nice ../fuzz_$* $(FUZZ_OPTIONS) corpus seeds

# All the random cases one after another, a line for each round.
SOAK_SECONDS ?= 3600
soak: all programs
	O='$(O)' SHADOW_TELL=1 SHADOW_SECONDS=$$(($(SOAK_SECONDS) / $$(tests/run --list shadow. | wc -l))) \
		tests/run shadow.

install: all
	install -D -m 755 -s --strip-program=$(STRIP) $(O)/memleak $(DESTDIR)$(PREFIX)/sbin/memleak
	install -D -m 644 $(O)/memleak.8 $(DESTDIR)$(PREFIX)/share/man/man8/memleak.8
	install -D -m 644 $(O)/memleak.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/memleak

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/sbin/memleak $(DESTDIR)$(PREFIX)/share/man/man8/memleak.8 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/memleak

clean:
	rm -rf $(O)

-include $(shell find $(O) -type f -name '*.d' 2>/dev/null)
