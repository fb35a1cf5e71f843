# SPDX-License-Identifier: GPL-2.0-or-later
# Builds memleak: BPF objects by clang, their skeletons by bpftool, everything else by CC.
#   make              build/memleak             make check     every test that can run here
#   make demo         see a leak found          make install   PREFIX, DESTDIR
#   make bench        what tracing costs: tables of ratios, as root
#   make check-kernels   cases on other kernels, in QEMU
#   make fuzz         hostile files for the unwinder and recordings, FUZZ_SECONDS long each
#   O=DIR             another build folder      SANITIZE=1     ASan and UBSan

O ?= build
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= cc
CLANG ?= clang
BPFTOOL ?= $(or $(shell PATH=$$PATH:/usr/sbin:/sbin command -v bpftool),bpftool)
PKG_CONFIG ?= pkg-config
PROTOC_C ?= protoc-c
VERSION := 0.1

# Any target but these needs the packages; say which one is missing before a compiler does.
PLAIN_GOALS := clean demo check check-kernels deps uninstall help
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

LIBS := libbpf libelf libdw zlib capstone libmicrohttpd libprotobuf-c
PKG_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(LIBS))
PKG_LIBS = $(shell $(PKG_CONFIG) --libs $(LIBS)) -liberty -lm

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wformat=2 -Wno-unused-parameter
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DMEMLEAK_VERSION='"$(VERSION)"' \
	-I. -I$(O) $(WARNINGS) $(PKG_CFLAGS) $(SANITIZE_FLAGS) $(CFLAGS)
ifdef SANITIZE
SANITIZE_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
else
ALL_CFLAGS += -D_FORTIFY_SOURCE=2 -fstack-protector-strong
endif

BPF_CFLAGS := -target bpf -mcpu=v3 -O2 -g -std=gnu11 -Wall -Wextra -Wno-unused-parameter \
	-Wno-address-of-packed-member -D__TARGET_ARCH_$(BPF_ARCH) -I. -idirafter /usr/include/$(MULTIARCH)

UNWINDER_SRC := $(sort $(wildcard unwinder/*.c))
SYMBOLIZER_SRC := $(sort $(wildcard symbolizer/*.c))
LOADER_SRC := $(sort $(filter-out loader/main.c,\
	$(wildcard $(addsuffix /*.c,loader report sinks recording metrics))))
BPF_SRC := $(sort $(wildcard bpf/*/*.bpf.c))
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))

UNWINDER_OBJ := $(UNWINDER_SRC:%.c=$(O)/%.o)
SYMBOLIZER_OBJ := $(SYMBOLIZER_SRC:%.c=$(O)/%.o)
LOADER_OBJ := $(LOADER_SRC:%.c=$(O)/%.o) $(O)/sinks/profile.pb-c.o
SKELETONS := $(patsubst %.bpf.c,$(O)/%.skel.h,$(BPF_SRC))
UNIT_BIN := $(UNIT_SRC:%.c=$(O)/%)

.PHONY: all bench clean check check-kernels fuzz fuzz-unwinder fuzz-recording demo deps install uninstall unit programs
.DELETE_ON_ERROR:
.SECONDARY:

all: $(O)/memleak $(O)/memleak.8 $(O)/memleak.bash

$(O)/memleak: $(O)/loader/main.o $(O)/libloader.a $(O)/libunwinder.a $(O)/libsymbolizer.a
	$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(O)/libsymbolizer.a: $(SYMBOLIZER_OBJ)
$(O)/libunwinder.a: $(UNWINDER_OBJ)
$(O)/libloader.a: $(LOADER_OBJ)
$(O)/lib%.a:
	@rm -f $@
	$(AR) rcs $@ $^

$(O)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Generated headers must exist before the first compilation; -MMD tracks them afterwards.
$(LOADER_OBJ) $(O)/loader/main.o $(O)/tests/unit/test_formats.o: | $(SKELETONS) \
	$(O)/sinks/profile.pb-c.h

$(O)/%.pb-c.c $(O)/%.pb-c.h &: %.proto
	@mkdir -p $(@D)
	$(PROTOC_C) --c_out=$(O) $<

$(O)/%.pb-c.o: $(O)/%.pb-c.c Makefile
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/sinks/sink_html.o: | $(patsubst %,$(O)/%.inc,$(wildcard sinks/html/*))

# A text as a string of C.
$(O)/%.inc: %
	@mkdir -p $(@D)
	sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< > $@

$(O)/%.bpf.o: %.bpf.c Makefile
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/%.skel.h: $(O)/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $(subst .,_,$(notdir $*))_bpf > $@

# Options exist once, in loader/options.c: man page and completion are printed from there.
$(O)/generate: man/generate.c $(O)/libloader.a $(O)/libunwinder.a $(O)/libsymbolizer.a
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(O)/memleak.8: man/memleak.8.in $(O)/generate
	$(O)/generate man $< > $@

$(O)/memleak.bash: $(O)/generate
	$(O)/generate completion > $@

# Unit tests see every function of the libraries.
$(O)/tests/unit/%: $(O)/tests/unit/%.o $(O)/libloader.a $(O)/libunwinder.a $(O)/libsymbolizer.a
	$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(PKG_LIBS) -lcmocka

unit: $(UNIT_BIN)

# Test programs: each is one file, built by the rule in tests/programs/programs.mk.
include tests/programs/programs.mk
programs: $(PROGRAMS)

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
$(O)/bench/probe $(O)/bench/floor: $(O)/bench/%: $(O)/bench/%.o $(O)/libloader.a \
		$(O)/libunwinder.a $(O)/libsymbolizer.a
	$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

bench: all $(BENCH)
	O=$(O) bench/run

deps:
	scripts/install-packages

check demo: deps
	@+exec tests/$@

# Machines without KVM: no root is needed once the packages are there.
check-kernels:
	scripts/install-packages --kernels
	$(MAKE) all programs
	O=$(O) tests/kernels/run

# With clang's libFuzzer, whose findings stay in $(O)/fuzz.
FUZZ_SECONDS ?= 60
FUZZ_CC := $(CLANG) -O1 -g -std=gnu11 -D_GNU_SOURCE -I. $(WARNINGS) \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined

FUZZ_SRC := tests/fuzz/fuzz_unwinder.c \
	$(addprefix unwinder/,arch.c builder.c elf_image.c fde_list.c rule.c table.c)

$(O)/fuzz/fuzz_unwinder: $(FUZZ_SRC) $(wildcard unwinder/*.h) tests/unit/cfi_file.h bpf/unwind.h
	@mkdir -p $(@D)
	$(FUZZ_CC) -o $@ $(FUZZ_SRC) $(PKG_LIBS)

# What reads recordings is built anew, as fuzzing needs it; what comes after it is as it is.
FUZZ_RECORDING_SRC := tests/fuzz/fuzz_recording.c $(wildcard recording/recording*.c recording/diff*.c) \
	recording/byte_buffer.c $(addprefix report/,ranking.c report.c grouping.c thread_split.c)

$(O)/fuzz/fuzz_recording: $(FUZZ_RECORDING_SRC) $(O)/libloader.a $(O)/libunwinder.a \
		$(O)/libsymbolizer.a
	@mkdir -p $(@D)
	$(FUZZ_CC) -DRECORDING_MEMORY_MAX=67108864 -o $@ $^ $(PKG_LIBS)

$(O)/fuzz/recording_seeds: $(O)/tests/fuzz/recording_seeds.o $(O)/libloader.a $(O)/libunwinder.a \
		$(O)/libsymbolizer.a
	@mkdir -p $(@D)
	$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(PKG_LIBS) -lcmocka

FUZZ_OPTIONS = -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
	-print_final_stats=1

fuzz: fuzz-unwinder fuzz-recording

fuzz-unwinder: $(O)/fuzz/fuzz_unwinder
	CC='$(CC)' tests/fuzz/seeds $(O)/fuzz/seeds
	mkdir -p $(O)/fuzz/corpus
	cd $(O)/fuzz && nice ./fuzz_unwinder $(FUZZ_OPTIONS) corpus seeds

fuzz-recording: $(O)/fuzz/fuzz_recording $(O)/fuzz/recording_seeds
	mkdir -p $(O)/fuzz/recording_seed $(O)/fuzz/recording_corpus
	$(O)/fuzz/recording_seeds $(O)/fuzz/recording_seed
	cd $(O)/fuzz && nice ./fuzz_recording $(FUZZ_OPTIONS) recording_corpus recording_seed

install: all
	install -D -m 755 $(O)/memleak $(DESTDIR)$(PREFIX)/sbin/memleak
	install -D -m 644 $(O)/memleak.8 $(DESTDIR)$(PREFIX)/share/man/man8/memleak.8
	install -D -m 644 $(O)/memleak.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/memleak

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/sbin/memleak $(DESTDIR)$(PREFIX)/share/man/man8/memleak.8 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/memleak

clean:
	rm -rf $(O)

-include $(shell find $(O) -type f -name '*.d' 2>/dev/null)
