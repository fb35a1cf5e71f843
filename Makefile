# SPDX-License-Identifier: GPL-2.0-or-later
# Builds memleak: BPF objects by clang, their skeletons by bpftool, everything else by CC.
#   make              build/memleak           make install    PREFIX, DESTDIR; STRIP=true: symbols
#   make static       build/static/memleak: one file without shared libraries, with the agent in it
#   make demo         see a leak found        make uninstall
#   make deps         install missing packages, as root
#   make bench        what tracing costs: tables of ratios, as root
#   make deb          Debian packages of the last commit in build/deb, make dist: its tarball
# Tests; each installs the packages that it needs, if root runs it:
#   make check               unit tests and a choice of cases: some nine minutes
#   make gate                what a change must pass: 20 to 50 minutes
#   make nightly             all other tests, in NIGHTLY_PARTS; results in build/nightly.txt
# Parts of these alone (tests/check describes the first eight):
#   make check-style, -unit, -clang, -cases, -more, -install, -agent, -sanitize
#   make check-kernels       cases on other kernels, in QEMU: needs no root
#   make check-arm64         unit tests and cases on 64-bit ARM, in QEMU: needs no root
#   make check-service       docs/memleak.service, run by systemd in QEMU
#   make check-package       packages of make deb, checked by lintian and run in a bare Debian (root)
#   make check-verifier      instructions that verifiers take: VERIFIER_ARGS, see tests/verifier/run
#   make diagnosis           small servers with real libraries: is the right function accused? (root)
#   make soak                random programs that check memleak's sums, SOAK_SECONDS in all (root)
#   make simulate            share of wrong verdicts on made-up programs, SIMULATE_SEEDS of each kind
#   make fuzz                hostile input for each parser, for FUZZ_SECONDS each
# For work on tests: make unit, make programs, make bench-programs; make clean
#   O=DIR             another build folder    WERROR=1        warnings are errors
#   SANITIZE=1        ASan and UBSan          TEST_KNOBS=1    enables base/test_knobs.h
#   OBJ_O=DIR         another folder for objects of C, which several build folders may share
#   BPF_O=DIR         another folder for BPF objects, also for builds by different compilers

O ?= build
OBJ_O ?= $(O)
BPF_O ?= $(OBJ_O)
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= cc
CLANG ?= clang
BPFTOOL ?= $(or $(shell PATH=$$PATH:/usr/sbin:/sbin command -v bpftool),bpftool)
PKG_CONFIG ?= pkg-config
PROTOC_C ?= protoc-c
STRIP ?= strip
OBJCOPY ?= objcopy
VERSION := 0.1

# All other targets need the packages: report missing ones before a compiler fails.
CHECKS := check gate $(addprefix check-,style unit clang cases more install agent sanitize older)
PLAIN_GOALS := clean demo nightly $(CHECKS) check-includes check-kernels check-arm64 check-service check-package check-verifier deps deb dist \
	diagnosis uninstall
ifneq ($(filter-out $(PLAIN_GOALS),$(or $(MAKECMDGOALS),all)),)
missing := $(shell CC='$(CC)' CLANG='$(CLANG)' BPFTOOL='$(BPFTOOL)' PKG_CONFIG='$(PKG_CONFIG)' \
	PROTOC_C='$(PROTOC_C)' \
	scripts/missing-packages $(if $(filter static,$(MAKECMDGOALS)),--static))
ifneq ($(missing),)
$(error missing packages: $(missing) (install them with: apt-get install $(missing), \
	or run `make deps' as root))
endif
endif

# Target architecture; to cross-compile, set CC, CXX, OBJCOPY and PKG_CONFIG, and RUN to an emulator
# for built programs, as tests/kernels/arm64 does.
ARCH ?= $(shell uname -m)
BPF_ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(ARCH)))
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
HEADERS := $(patsubst //%,/%,$(shell $(CC) -print-sysroot 2>/dev/null)/usr/include)

# libmicrohttpd is loaded at run time for --listen; the build needs only its headers.
LIBS := libbpf libelf libdw zlib libzstd capstone libprotobuf-c libseccomp ncursesw
# These run pkg-config once, at their first use: all recipes that compile or link expand them.
PKG_CFLAGS = $(eval PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBS) libmicrohttpd))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(LIBS)) -liberty -lm -pthread)$(PKG_LIBS)

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wformat=2 -Wno-unused-parameter $(if $(WERROR),-Werror)
# ASan's instrumentation takes long to optimize, and full debug information takes long to write.
CFLAGS ?= $(if $(SANITIZE),-O1 -g1,-O2 -g)
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DMEMLEAK_VERSION='"$(VERSION)"' \
	-I. $(addprefix -I,$(sort $(OBJ_O) $(BPF_O))) $(WARNINGS) $(PKG_CFLAGS) $(SANITIZE_FLAGS) $(CFLAGS)
ifdef SANITIZE
SANITIZE_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
else
ALL_CFLAGS += -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
HARDENED := -pie -Wl,-z,relro,-z,now
endif

BPF_CFLAGS := -target bpf -mcpu=v3 -O2 -g -std=gnu11 -Wall -Wextra $(if $(WERROR),-Werror) \
	-Wno-unused-parameter -Wno-address-of-packed-member -D__TARGET_ARCH_$(BPF_ARCH) -I. -idirafter $(HEADERS)/$(MULTIARCH)

# The rooms from top to bottom, in link order; each is an archive. A room may include only rooms
# after it in this list, as scripts/check-includes verifies.
ROOMS := app screen metrics recording sinks proof loader/agent loader/kernel loader/user loader/stacks loader/tables \
	loader/probes loader/target loader report options symbolizer symbolizer/server prober \
	prober/server unwinder unwinder/server helper base
SRC := $(sort $(wildcard $(ROOMS:%=%/*.c)))
OBJ := $(SRC:%.c=$(OBJ_O)/%.o) $(OBJ_O)/sinks/profile.pb-c.o
ARCHIVES := $(foreach room,$(filter-out loader,$(ROOMS)),$(OBJ_O)/lib/$(subst /,-,$(room)).a)

# Linked only for tests: replaces base/no_test_knobs.o, so that all other objects are the same.
KNOBS := $(OBJ_O)/base/test_knobs.o

# The agent is loaded into programs and not linked into memleak. From other rooms it uses only the
# parser of call frame information and the layout of CPython's frames. Programs call malloc() on
# small stacks, so the frames of its functions must be small.
AGENT_ROOM := agent
AGENT_SRC := $(sort $(wildcard agent/*.c)) unwinder/server/arch.c unwinder/server/cfi_program.c \
	prober/server/python_layout.c
AGENT_OBJ := $(AGENT_SRC:%.c=$(OBJ_O)/library/%.o) $(OBJ_O)/library/agent/entry.o
AGENT_CFLAGS = -std=gnu11 -D_GNU_SOURCE -I. $(WARNINGS) -O2 -g -fPIC -fvisibility=hidden -fno-builtin \
	-fno-stack-protector -ftls-model=initial-exec -Wno-missing-prototypes -Wframe-larger-than=640

BPF_SRC := $(sort $(wildcard bpf/*/*.bpf.c))
# Unit tests of ROOM are in tests/unit/ROOM, beside the code that they share.
UNIT_ALL := $(sort $(wildcard $(addsuffix /*.c,tests/unit/* tests/unit/*/*)))
UNIT_SRC := $(foreach source,$(UNIT_ALL),$(if $(filter test_%,$(notdir $(source))),$(source)))
UNIT_LIB := $(OBJ_O)/lib/tests-unit.a

SKELETONS := $(patsubst %.bpf.c,$(BPF_O)/%.skel.h,$(BPF_SRC))
PACKED := $(patsubst %.bpf.c,$(OBJ_O)/%.bpf.gz.o,$(BPF_SRC))
UNIT_BIN := $(UNIT_SRC:%.c=$(O)/%)

.PHONY: all static dist deb unit simulate programs bench bench-programs deps demo nightly $(CHECKS) check-includes check-kernels check-package check-arm64 \
	check-service check-verifier fuzz soak install uninstall clean FORCE
.DELETE_ON_ERROR:
.SECONDARY:

COMPLETIONS := $(addprefix $(O)/memleak.,bash zsh fish)

all: $(O)/memleak $(O)/libmemleak.so $(O)/memleak.8 $(COMPLETIONS)

$(O)/memleak: $(OBJ_O)/app/main.o $(if $(TEST_KNOBS),$(KNOBS)) $(ARCHIVES) $(O)/knobs
	$(CC) $(SANITIZE_FLAGS) $(HARDENED) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(PKG_LIBS)

# A memleak in one file. These sources load no shared library if they are built for it; their objects
# replace those in the archives.
STATIC_SRC := app/static_stubs.c base/user.c loader/agent/agent_find.c metrics/http_library.c \
	screen/terminal.c symbolizer/fetcher.c
STATIC_OBJ := $(STATIC_SRC:%.c=$(OBJ_O)/static/%.o) $(OBJ_O)/static/libmemleak.so.o
static: $(O)/static/memleak

# The linker warns of functions of the C library that load shared libraries.
$(O)/static/memleak: $(OBJ_O)/app/main.o $(if $(TEST_KNOBS),$(KNOBS)) $(STATIC_OBJ) $(ARCHIVES) \
		$(OBJ_O)/static/libmicrohttpd.a $(O)/knobs
	@mkdir -p $(@D)
	$(CC) -static-pie -s -Wl,-z,relro,-z,now,--fatal-warnings $(LDFLAGS) -o $@ $(filter %.o %.a,$^) \
		$(shell $(PKG_CONFIG) --static --libs $(LIBS)) -liberty -lm -pthread

$(OBJ_O)/static/%.o: %.c $(OBJ_O)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -DMEMLEAK_STATIC -MMD -MP -c -o $@ $<

$(OBJ_O)/static/screen/terminal.o: $(OBJ_O)/screen/terminfo.inc
$(OBJ_O)/screen/terminfo.inc: Makefile
	@mkdir -p $(@D)
	infocmp -q -Q2 xterm-256color | sed 's/.*/"&"/' > $@

# Without debug information, which depends on the folder of the build.
$(OBJ_O)/static/libmemleak.so.o: $(O)/libmemleak.so
	@mkdir -p $(@D)
	$(OBJCOPY) --strip-debug $< $(@:.o=)
	printf '%s\n' '.section .rodata' '.global libmemleak_so, libmemleak_so_end' \
		'libmemleak_so: .incbin "$(@:.o=)"' 'libmemleak_so_end:' \
		'.section .note.GNU-stack,"",%progbits' | $(CC) -c -x assembler -o $@ -

# The library calls GnuTLS only to encrypt, which memleak does not use.
$(OBJ_O)/static/libmicrohttpd.a: Makefile
	@mkdir -p $(@D)
	$(OBJCOPY) --wildcard --weaken-symbol='gnutls_*' "$$($(CC) -print-file-name=libmicrohttpd.a)" $@

# The agent runs within malloc, so symbols must not be bound lazily.
$(O)/libmemleak.so: $(AGENT_OBJ)
	$(CC) -shared -Wl,-z,now,-z,relro,-z,defs -o $@ $^

$(OBJ_O)/library/%.o: %.c $(OBJ_O)/flags
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -MMD -MP -c -o $@ $<

$(OBJ_O)/library/%.o: %.S $(OBJ_O)/flags
	@mkdir -p $(@D)
	$(CC) -c -o $@ $<

define archive
$(OBJ_O)/lib/$(subst /,-,$(1)).a: $(filter-out $(OBJ_O)/app/main.o $(KNOBS), \
	$(patsubst %.c,$(OBJ_O)/%.o,$(wildcard $(1)/*.c)))
endef
$(foreach room,$(ROOMS),$(eval $(call archive,$(room))))
$(OBJ_O)/lib/sinks.a: $(OBJ_O)/sinks/profile.pb-c.o
$(OBJ_O)/lib/loader-probes.a: $(PACKED)
$(OBJ_O)/lib/%.a:
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) rcs $@ $^

# Objects and memleak depend on these files, which are rewritten only when the flags change.
$(OBJ_O)/flags: flags = $(CC) $(ALL_CFLAGS)
$(BPF_O)/bpf_flags: flags = $(CLANG) $(BPF_CFLAGS)
$(O)/knobs: flags = $(TEST_KNOBS)
$(OBJ_O)/flags $(BPF_O)/bpf_flags $(O)/knobs: FORCE
	@mkdir -p $(@D)
	@echo '$(flags)' >$@.now; cmp -s $@.now $@ || cp $@.now $@

$(OBJ_O)/%.o: %.c $(OBJ_O)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Generated headers must exist before the first compilation; -MMD tracks them afterwards.
$(OBJ) $(UNIT_ALL:%.c=$(OBJ_O)/%.o): | $(SKELETONS) $(OBJ_O)/sinks/profile.pb-c.h

$(OBJ_O)/%.pb-c.c $(OBJ_O)/%.pb-c.h &: %.proto
	@mkdir -p $(@D)
	$(PROTOC_C) --c_out=$(OBJ_O) $<

$(OBJ_O)/%.pb-c.o: $(OBJ_O)/%.pb-c.c $(OBJ_O)/flags
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(OBJ_O)/sinks/html.o: | $(patsubst %,$(OBJ_O)/%.inc,$(wildcard sinks/html/*))

# Converts a text file to a C string.
$(OBJ_O)/%.inc: %
	@mkdir -p $(@D)
	sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< > $@

$(BPF_O)/%.bpf.o: %.bpf.c $(BPF_O)/bpf_flags
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

bpf_name = $(subst .,_,$(notdir $*))_bpf

# Removes the embedded object from the skeleton, as each file that includes the skeleton would
# contain a copy, and debug information, which the linked object does not have.
$(BPF_O)/bpf/%.skel.h: $(BPF_O)/bpf/%.bpf.o Makefile
	$(BPFTOOL) gen skeleton $< name $(bpf_name) | \
		sed '/^static inline .*elf_bytes(size_t \*sz)$$/,/^}/d; /elf_bytes/d' > $@

$(BPF_O)/%.skel.h: $(BPF_O)/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $(bpf_name) > $@

# The compressed BPF object embedded in memleak: see loader/probes/skeleton.h.
$(BPF_O)/%.bpf.gz: $(BPF_O)/%.bpf.o
	$(BPFTOOL) gen object $(@:.gz=.linked) $<
	gzip -9 -n < $(@:.gz=.linked) > $@

$(OBJ_O)/%.bpf.gz.o: $(BPF_O)/%.bpf.gz
	@mkdir -p $(@D)
	printf '%s\n' '.section .rodata' '.global $(bpf_name)_gz, $(bpf_name)_gz_end' \
		'$(bpf_name)_gz: .incbin "$<"' '$(bpf_name)_gz_end:' \
		'.section .note.GNU-stack,"",%progbits' | $(CC) -c -x assembler -o $@ -

# Options are defined only in options/table.c; man page and completions are generated from it.
$(O)/generate: man/generate.c $(ARCHIVES)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(O)/memleak.8: man/memleak.8.in $(O)/generate
	$(RUN) $(O)/generate man $< > $@

$(COMPLETIONS): $(O)/memleak.%: $(O)/generate
	$(RUN) $(O)/generate $* > $@

$(UNIT_LIB): $(patsubst %.c,$(OBJ_O)/%.o,$(filter-out $(UNIT_SRC),$(UNIT_ALL)))

# Looks up its own variables.
$(OBJ_O)/tests/unit/symbolizer/test_variables.o: override CFLAGS += -g

# Unit tests link the archives, so they can call every function.
$(O)/tests/unit/%: $(OBJ_O)/tests/unit/%.o $(UNIT_LIB) $(KNOBS) $(ARCHIVES)
	$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(PKG_LIBS) -lcmocka

# Deletes test programs whose source is gone, so that they are not run.
unit: $(UNIT_BIN)
	@find $(O)/tests/unit -type f -name 'test_*' ! -name '*.[do]' $(UNIT_BIN:%=! -path %) -delete

# Counts how often verdicts are wrong, and how early the right ones come.
SIMULATE_SEEDS ?= 200
simulate: $(O)/tests/unit/report/test_verdicts
	$< $(SIMULATE_SEEDS)

# Checks that rooms include only rooms below them, and that no files include each other.
check-includes:
	@scripts/check-includes $(ROOMS:symbolizer=symbolizer $(AGENT_ROOM))

# Test programs: each is one file, built by the rule in tests/programs/programs.mk.
include tests/programs/programs.mk
# Small leaking servers for tests/diagnosis/run.
include tests/diagnosis/diagnosis.mk
programs: $(PROGRAMS) $(SAMPLE)

# Programs of the benchmarks.
BENCH := $(addprefix $(O)/bench/,calls pairs heaps proofs floor libforwards.so)

$(O)/bench/calls $(O)/bench/pairs $(O)/bench/heaps: $(O)/bench/%: bench/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fomit-frame-pointer -fno-optimize-sibling-calls -o $@ $< -pthread

$(O)/bench/libforwards.so: bench/forwards.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fno-builtin -fPIC -shared -o $@ $<

$(OBJ_O)/bench/floor.o: $(BPF_O)/bench/floor.skel.h
$(O)/bench/floor $(O)/bench/proofs: $(O)/bench/%: $(OBJ_O)/bench/%.o $(ARCHIVES)
	$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

# Tests and benchmarks use a memleak with test knobs, in a separate build folder.
bench-programs:
	$(MAKE) O=$(O)/check TEST_KNOBS=1 all $(BENCH:$(O)/%=$(O)/check/%)

bench: bench-programs
	O=$(O)/check bench/run

deps:
	scripts/install-packages

demo:
	@exec tests/demo

# tests/check builds what each part needs.
check: parts := plain brief
gate: parts := style unit clang install cases+verifier+older+fuzz
$(filter check-%,$(CHECKS)): parts = $(@:check-%=%)
$(CHECKS): deps
	@scripts/install-packages --tests
	@exec tests/check $(parts)

nightly: deps
	@exec tests/nightly $(NIGHTLY_PARTS)

# Runs in QEMU without KVM; needs root only to install packages. KERNEL_ARGS names suites.
check-kernels:
	scripts/install-packages --kernels
	$(MAKE) O=$(O)/check TEST_KNOBS=1 all programs
	O=$(O)/check tests/kernels/run --folder $(O)/kernels $(KERNEL_ARGS)

# Cross-compiled against an unpacked Debian, and run on an emulated processor.
check-arm64:
	scripts/install-packages --arm64
	tests/kernels/arm64 $(O)/arm64
	tests/kernels/run --arm64 $(O)/arm64 --folder $(O)/arm64/kernels --timeout 3600 $(KERNEL_ARGS)

check-service:
	scripts/install-packages --service
	$(MAKE) O=$(O) all programs
	O=$(O) tests/service/run

check-package:
	scripts/install-packages --package
	$(MAKE) O=$(O) deb
	tests/package $(O) $(VERSION)

# By default uses all installed compilers, the running kernel and all kernels of check-kernels.
check-verifier:
	scripts/install-packages --kernels
	O='$(O)' tests/verifier/run $(VERIFIER_ARGS)

# Fuzzers use clang's libFuzzer; findings stay in $(O)/fuzz/FUZZER. Parsers of hostile input are
# rebuilt with instrumentation, other code is linked as it is.
FUZZ_SECONDS ?= 60
FUZZ_CC := $(CLANG) -O1 -gline-tables-only -std=gnu11 -D_GNU_SOURCE -I. $(WARNINGS) \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
FUZZ_OPTIONS = -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
	-print_final_stats=1
FUZZERS := account answers census core http prober process recording retrace script suppressions \
	symbolizer unwinder walker
FUZZ_SRC_account := $(addprefix loader/agent/,account_view.c agent_process.c code_files.c peak.c) \
	loader/tables/block_walk.c loader/target/mapped_ranges.c
FUZZ_SRC_answers := helper/message.c
FUZZ_SRC_core := app/core_account.c base/read_at.c $(addprefix proof/,core_build_id.c core_file.c core_notes.c)
FUZZ_SRC_census := base/proc_maps.c $(wildcard proof/heap_*.c proof/python_*.c) \
	$(addprefix proof/,arena_heaps.c \
	census.c free_lists.c main_heap.c mapped_chunks.c smaps.c thread_cache.c) \
	$(addprefix prober/server/,code_object.c python_layout.c)
FUZZ_SRC_retrace := base/proc_maps.c $(addprefix proof/,heap_proof.c python_dict.c python_variable.c retrace.c \
	root_kind.c roots.c window.c)
FUZZ_SRC_http := metrics/host.c metrics/web_server.c
FUZZ_SRC_process := base/proc.c loader/target/map_record.c metrics/host.c
FUZZ_SRC_suppressions := base/escape.c options/suppressions.c
FUZZ_SRC_walker := unwinder/server/walker_space.c
FUZZ_SRC_prober := prober/code_ranges.c $(filter-out %/server.c,$(wildcard prober/server/*.c))
FUZZ_SRC_script := $(addprefix prober/server/,code_object.c python_layout.c)
FUZZ_SRC_recording := recording/format.c recording/recording.c \
	$(wildcard recording/reader*.c report/diff*.c) base/byte_buffer.c \
	$(addprefix report/,heap_census.c ranking.c report.c grouping.c thread_split.c)
FUZZ_SRC_symbolizer := base/proc_maps.c $(wildcard symbolizer/kallsyms*.c) \
	$(addprefix symbolizer/,answer.c kernel_files.c perf_map.c) \
	$(filter-out %/server.c,$(wildcard symbolizer/server/*.c))
FUZZ_SRC_unwinder := $(addprefix tests/unit/unwinder/,cfi_file.c table_find.c) \
	$(addprefix unwinder/server/,arch.c builder.c cfi_program.c elf_view.c fde_list.c rule.c \
	table.c)
$(O)/fuzz/fuzz_recording: FUZZ_CC += -DRECORDING_MEMORY_MAX=67108864
$(O)/fuzz/fuzz_census: FUZZ_CC += -DREADER_WINDOW_BYTES=16384U -DREADER_PAGES=16U
$(O)/fuzz/fuzz_prober: FUZZ_CC += $(PKG_CFLAGS)
$(O)/fuzz/fuzz_http: FUZZ_CC += -DMEMLEAK_VERSION='"$(VERSION)"'

define fuzz_inputs
$(O)/fuzz/fuzz_$(1): tests/fuzz/fuzz_$(1).c $(FUZZ_SRC_$(1)) $(ARCHIVES)
endef
$(foreach fuzzer,$(FUZZERS),$(eval $(call fuzz_inputs,$(fuzzer))))
$(FUZZERS:%=$(O)/fuzz/fuzz_%):
	@mkdir -p $(@D)
	$(FUZZ_CC) -o $@ $^ $(PKG_LIBS)

$(O)/fuzz/core_seeds $(O)/fuzz/recording_seeds: $(O)/fuzz/%: $(OBJ_O)/tests/fuzz/%.o $(UNIT_LIB) \
	$(ARCHIVES)
$(O)/fuzz/%_seeds: $(OBJ_O)/tests/fuzz/%_seeds.o $(UNIT_LIB) $(ARCHIVES)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(PKG_LIBS) -lcmocka

.PHONY: $(FUZZERS:%=fuzz-%) fuzz-programs
fuzz:
	FUZZ_SECONDS=$(FUZZ_SECONDS) O='$(O)' tests/check fuzz

fuzz-programs: $(FUZZERS:%=$(O)/fuzz/fuzz_%) $(addprefix $(O)/fuzz/,core_seeds census_seeds recording_seeds)

fuzz-core fuzz-recording: fuzz-%: $(O)/fuzz/%_seeds
fuzz-census: $(O)/fuzz/census_seeds
fuzz-recording: $(O)/fuzz/recording_seeds
$(FUZZERS:%=fuzz-%): fuzz-%: $(O)/fuzz/fuzz_%
	mkdir -p $(O)/fuzz/$*/seeds $(O)/fuzz/$*/corpus
	O='$(O)' CC='$(CC)' tests/fuzz/seeds $* $(O)/fuzz/$*/seeds
	cd $(O)/fuzz/$* && nice ../fuzz_$* $(FUZZ_OPTIONS) corpus seeds

# Runs all random cases one after another and prints a line for each round.
SOAK_SECONDS ?= 300
soak: all programs
	O='$(O)' SHADOW_TELL=1 SHADOW_SECONDS=$$(($(SOAK_SECONDS) / $$(tests/run --list shadow. | wc -l))) \
		tests/run shadow.

# Installed files, below PREFIX.
SHARE := $(DESTDIR)$(PREFIX)/share
INSTALLED := $(DESTDIR)$(PREFIX)/bin/memleak $(DESTDIR)$(PREFIX)/lib/memleak/libmemleak.so \
	$(SHARE)/man/man8/memleak.8 $(SHARE)/bash-completion/completions/memleak \
	$(SHARE)/zsh/site-functions/_memleak $(SHARE)/fish/vendor_completions.d/memleak.fish \
	$(SHARE)/memleak/report.schema.json

install: all
	install -D -m 755 -s --strip-program=$(STRIP) $(O)/memleak $(word 1,$(INSTALLED))
	install -D -m 755 $(O)/libmemleak.so $(word 2,$(INSTALLED))
	install -D -m 644 $(O)/memleak.8 $(word 3,$(INSTALLED))
	install -D -m 644 $(O)/memleak.bash $(word 4,$(INSTALLED))
	install -D -m 644 $(O)/memleak.zsh $(word 5,$(INSTALLED))
	install -D -m 644 $(O)/memleak.fish $(word 6,$(INSTALLED))
	install -D -m 644 docs/report.schema.json $(word 7,$(INSTALLED))

uninstall:
	rm -f $(INSTALLED)

# The commit's files, with its date: the same bytes each time.
dist:
	@mkdir -p $(O)
	git archive -9 --format=tar.gz --prefix=memleak-$(VERSION)/ -o $(O)/dist.part HEAD
	mv $(O)/dist.part $(O)/memleak-$(VERSION).tar.gz

deb: dist
	scripts/make-deb $(O) $(VERSION) $(O)/memleak-$(VERSION).tar.gz

clean:
	rm -rf $(O)

-include $(shell find $(sort $(O) $(OBJ_O) $(BPF_O)) -type f -name '*.d' 2>/dev/null)
