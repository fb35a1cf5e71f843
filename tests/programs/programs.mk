# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the programs that the tests and the demo trace into $(O)/tests/programs. They have frame
# pointers and no tail calls, as they test the counts. Programs that test the unwinder, below, are
# built with the flags of distributions.
P := $(O)/tests/programs
comma := ,
PROGRAM_DEPS := tests/programs/truth.h tests/programs/programs.mk
PROGRAM_FLAGS := -D_GNU_SOURCE -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	-Wall -Wextra -Wno-unused-result -Wno-unused-parameter -pthread
PROGRAM_CC = $(CC) -std=gnu11 $(PROGRAM_FLAGS) -o $@

# Programs with a single source file.
PLAIN := leak births functions chase edges handover mappings threads pending churn relocated process dlopen again sizes \
	wide many batches pairs mix places return_probe sites noreturn jit nosyscall demo frames \
	allocator_api family hog prefork untraced inherited growing spread arrays moving strings odd_strings runtime_init after_free \
	two_allocators copies moved_text leaderless workers named linked mapped mapper reload forged_hook census resident keeps pins held heirs fds prove_shapes prove_waits prove_places prove_heap prove_threads
# Sources built in other ways, and programs with several files.
VARIANTS := unreported unreported_bare dlopen_static_pie leak_nopie leak_nodebug leak_go leak_static leak_static_pie leak_stripped_static family_static moved_text_static \
	after_free_static runtime_init_static resident_static libplugin.so libwrapper.so libwrapper_jump.so libwrapper_header.so libearly.so \
	kernel kernel_flow command libbump.so libbump_je.so own_malloc own_malloc_static \
	own_malloc_library own_malloc_prefixed own_malloc_built_in own_malloc_hidden \
	unwind libunwind_library.so unwind_static unwind_fp unwind_stripped \
	unwind_debug_frame unwind_packed unwind_bare unwind_bare_fp unwind_exotic \
	stack_cache libstack_cache_small.so libstack_cache_large.so \
	confined libprove_library.so libframes_first.so libframes_other.so libframes_wide.so shadow shadow_static

PROGRAMS := $(PLAIN:%=$(P)/%) $(VARIANTS:%=$(P)/%)

# Programs that only some machines can build; the cases skip the missing ones.
ifneq ($(shell command -v $(CXX)),)
PROGRAMS += $(P)/cxx $(P)/prove_cxx $(P)/unwind_cxx $(P)/pools $(P)/templates $(P)/cxx_static $(P)/cxx_built_in $(P)/cxx_own_new \
	$(P)/libown_new.so
# Linked with another allocator's library file, so that no header package is needed.
ALLOCATORS := jemalloc=libjemalloc.so.2 tcmalloc=libtcmalloc_minimal.so.4 \
	tcmalloc_full=libtcmalloc.so.4 mimalloc=libmimalloc.so.2
library_file = $(filter /%,$(shell $(CXX) -print-file-name=$(1)))
LINKED := $(foreach pair,$(ALLOCATORS),$(if $(call library_file,$(lastword $(subst =, ,$(pair)))),\
	$(firstword $(subst =, ,$(pair)))))
PROGRAMS += $(LINKED:%=$(P)/cxx_%)
endif
# With a sanitizer's allocator, from a library and built in.
ifneq ($(filter /%,$(shell $(CXX) -print-file-name=libasan.so)),)
PROGRAMS += $(P)/functions_asan $(P)/strings_asan $(P)/cxx_asan
endif
# Built by compilers that support only this machine.
ifeq ($(ARCH),$(shell uname -m))
CLANG_LIBRARIES := $(wildcard $(shell $(CLANG) -print-resource-dir)/lib/linux/*.a)
ifneq ($(findstring /libclang_rt.asan-,$(CLANG_LIBRARIES)),)
PROGRAMS += $(P)/functions_clang_asan $(P)/strings_clang_asan $(P)/cxx_clang_asan
endif
ifneq ($(findstring /libclang_rt.scudo,$(CLANG_LIBRARIES)),)
PROGRAMS += $(P)/functions_clang_scudo $(P)/strings_clang_scudo $(P)/cxx_clang_scudo
endif
RUSTC ?= rustc
ifneq ($(shell command -v $(RUSTC)),)
PROGRAMS += $(P)/rusty $(P)/rusty_v0 $(P)/rusty_debug $(P)/rusty_release
endif
ifneq ($(shell command -v musl-gcc),)
PROGRAMS += $(P)/leak_musl $(P)/leak_musl_static $(P)/again_musl $(P)/shadow_musl
endif
endif
ifeq ($(ARCH),aarch64)
PROGRAMS += $(P)/unwind_signed
endif
ifeq ($(ARCH),x86_64)
PROGRAMS += $(P)/tiny32 $(P)/own_malloc_fentry $(P)/locked_map
endif

# A folder's time changes with its files, so only its existence counts.
$(PROGRAMS): | $(P)
$(P):
	mkdir -p $@

$(PLAIN:%=$(P)/%): $(P)/%: tests/programs/%.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) $< -ldl

$(P)/inherited: tests/programs/inherited.h
$(filter $(P)/prove_%,$(PROGRAMS)): tests/programs/prove.h

SHADOW := tests/programs/shadow.c tests/programs/shadow.h

# Uses operators of C++ from a library, if available, so that a preloaded allocator can replace
# them.
$(P)/shadow: $(SHADOW) $(PROGRAM_DEPS)
	$(PROGRAM_CC) $< $(if $(shell command -v $(CXX)),-Wl$(comma)--no-as-needed -lstdc++)

$(P)/shadow_static: $(SHADOW) $(PROGRAM_DEPS)
	$(PROGRAM_CC) -static $<

$(P)/shadow_musl: $(SHADOW) $(PROGRAM_DEPS)
	musl-gcc -std=gnu11 $(PROGRAM_FLAGS) -o $@ $<

$(P)/unreported: tests/programs/unreported.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -foptimize-sibling-calls $<

# Linked with the code that confines memleak's helpers.
$(P)/confined: tests/programs/confined.c $(O)/lib/helper.a $(O)/lib/base.a $(PROGRAM_DEPS)
	$(PROGRAM_CC) -I. $(filter %.c %.a,$^) -lseccomp

# Without unwind tables, stacks do not show which calls are in progress.
$(P)/unreported_bare: tests/programs/unreported.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -foptimize-sibling-calls -fno-asynchronous-unwind-tables \
		-fno-unwind-tables $<

$(P)/dlopen_static_pie: tests/programs/dlopen.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -fpie -static-pie $<

$(P)/leak_nopie: tests/programs/leak.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -fno-pie -no-pie $<

$(P)/leak_nodebug: tests/programs/leak.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -g0 $<

# Go adds this section to every program.
$(P)/leak_go: $(P)/leak $(PROGRAM_DEPS)
	$(OBJCOPY) --add-section .go.buildinfo=tests/programs/truth.h $< $@

$(P)/leak_static: tests/programs/leak.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -static $<

$(P)/leak_static_pie: tests/programs/leak.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -fpie -static-pie $<

$(P)/leak_stripped_static: tests/programs/leak.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -static -s $<

$(P)/after_free_static: tests/programs/after_free.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -static $<

$(P)/runtime_init_static: tests/programs/runtime_init.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -static $<

$(P)/moved_text_static: tests/programs/moved_text.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -static $<

$(P)/family_static: tests/programs/family.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -static $<

$(P)/resident_static: tests/programs/resident.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -static $<

# musl-gcc does not build PIE by default here; only musl's malloc matters.
$(P)/leak_musl: tests/programs/leak.c $(PROGRAM_DEPS)
	musl-gcc -std=gnu11 $(PROGRAM_FLAGS) -o $@ $<

$(P)/again_musl: tests/programs/again.c $(PROGRAM_DEPS)
	musl-gcc -std=gnu11 $(PROGRAM_FLAGS) -o $@ $<

$(P)/leak_musl_static: tests/programs/leak.c $(PROGRAM_DEPS)
	musl-gcc -std=gnu11 $(PROGRAM_FLAGS) -static -o $@ $<

$(P)/libplugin.so: tests/programs/plugin.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -fPIC -shared $<

$(P)/libwrapper.so $(P)/libwrapper_jump.so: HEADER := 0
$(P)/libwrapper_header.so: HEADER := 32
$(P)/libwrapper_jump.so: JUMP := -foptimize-sibling-calls
$(P)/libwrapper.so $(P)/libwrapper_jump.so $(P)/libwrapper_header.so: tests/programs/wrapper.c \
		$(PROGRAM_DEPS)
	$(PROGRAM_CC) $(JUMP) -fno-builtin -DHEADER=$(HEADER) -fPIC -shared $< -ldl

$(P)/libprove_library.so: tests/programs/prove_library.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -fPIC -shared $<

$(P)/prove_places: $(P)/libprove_library.so

$(P)/libearly.so: tests/programs/early.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -fPIC -shared $<

$(P)/command: tests/programs/command.c $(P)/libearly.so $(PROGRAM_DEPS)
	$(PROGRAM_CC) $< -L$(P) -Wl,--no-as-needed -learly -Wl,-rpath,'$$ORIGIN'

KERNEL_THINGS := tests/programs/kernel_things.c tests/programs/kernel_pages.c

$(P)/kernel $(P)/kernel_flow: $(P)/%: tests/programs/%.c $(KERNEL_THINGS) \
		tests/programs/kernel_things.h $(PROGRAM_DEPS)
	$(PROGRAM_CC) -Wno-unused-parameter $< $(KERNEL_THINGS)

# bump.c defines malloc: the compiler must not assume what malloc does.
BUMP := tests/programs/own_malloc.c tests/programs/bump.c
BUMP_FLAGS := -fno-builtin

$(P)/libbump.so: tests/programs/bump.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) $(BUMP_FLAGS) -fPIC -shared $<

$(P)/libbump_je.so: tests/programs/bump.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) $(BUMP_FLAGS) -DPREFIX=je_ -fPIC -shared $<

$(P)/own_malloc: $(BUMP) $(PROGRAM_DEPS)
	$(PROGRAM_CC) $(BUMP_FLAGS) $(BUMP)

# Each function begins with a call to __fentry__.
$(P)/own_malloc_fentry: $(BUMP) $(PROGRAM_DEPS)
	$(PROGRAM_CC) $(BUMP_FLAGS) -fno-pie -pg -mfentry -fcf-protection -c -o $@.o \
		tests/programs/bump.c
	$(PROGRAM_CC) $(BUMP_FLAGS) -no-pie tests/programs/own_malloc.c $@.o

$(P)/own_malloc_static: $(BUMP) $(PROGRAM_DEPS)
	$(PROGRAM_CC) $(BUMP_FLAGS) -static $(BUMP)

$(P)/own_malloc_library: tests/programs/own_malloc.c $(P)/libbump.so $(PROGRAM_DEPS)
	$(PROGRAM_CC) $(BUMP_FLAGS) $< -L$(P) -lbump -Wl,-rpath,'$$ORIGIN'

$(P)/own_malloc_prefixed: tests/programs/own_malloc.c $(P)/libbump_je.so $(PROGRAM_DEPS)
	$(PROGRAM_CC) $(BUMP_FLAGS) -DPREFIX=je_ $< -L$(P) -lbump_je -Wl,-rpath,'$$ORIGIN'

$(P)/cxx $(P)/prove_cxx: $(P)/%: tests/programs/%.cpp $(PROGRAM_DEPS)
	$(CXX) -std=c++17 $(PROGRAM_FLAGS) -o $@ $<

$(P)/cxx_static: tests/programs/cxx.cpp $(PROGRAM_DEPS)
	$(CXX) -std=c++17 $(PROGRAM_FLAGS) -static -o $@ $<

$(P)/cxx_built_in: tests/programs/cxx.cpp $(PROGRAM_DEPS)
	$(CXX) -std=c++17 $(PROGRAM_FLAGS) -static-libstdc++ -static-libgcc -o $@ $<

$(P)/cxx_own_new: tests/programs/cxx.cpp tests/programs/own_new.cpp $(PROGRAM_DEPS)
	$(CXX) -std=c++17 $(PROGRAM_FLAGS) -o $@ $< tests/programs/own_new.cpp

$(P)/libown_new.so: tests/programs/own_new.cpp $(PROGRAM_DEPS)
	$(CXX) -std=c++17 $(PROGRAM_FLAGS) -fPIC -shared -o $@ $<

$(LINKED:%=$(P)/cxx_%): $(P)/cxx_%: tests/programs/cxx.cpp $(PROGRAM_DEPS)
	$(CXX) -std=c++17 $(PROGRAM_FLAGS) -o $@ $< -Wl,--no-as-needed \
		$(call library_file,$(patsubst $*=%,%,$(filter $*=%,$(ALLOCATORS))))

$(P)/functions_asan $(P)/strings_asan: $(P)/%_asan: tests/programs/%.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) -fsanitize=address $<

$(P)/cxx_asan: tests/programs/cxx.cpp $(PROGRAM_DEPS)
	$(CXX) -std=c++17 $(PROGRAM_FLAGS) -fsanitize=address -o $@ $<

$(P)/functions_clang_asan $(P)/strings_clang_asan $(P)/cxx_clang_asan: SANITIZER := address
$(P)/functions_clang_scudo $(P)/strings_clang_scudo $(P)/cxx_clang_scudo: SANITIZER := scudo

CLANG_PROGRAM = $(CLANG) -std=gnu11 $(PROGRAM_FLAGS) -fsanitize=$(SANITIZER) -o $@ $<

$(P)/functions_clang_%: tests/programs/functions.c $(PROGRAM_DEPS)
	$(CLANG_PROGRAM)

$(P)/strings_clang_%: tests/programs/strings.c $(PROGRAM_DEPS)
	$(CLANG_PROGRAM)

$(P)/cxx_clang_%: tests/programs/cxx.cpp $(PROGRAM_DEPS)
	$(CLANG) --driver-mode=g++ -std=c++17 $(PROGRAM_FLAGS) -fsized-deallocation \
		-fsanitize=$(SANITIZER) -o $@ $<

# By default Rust omits frame pointers, and lines in optimised builds.
$(P)/rusty: RUST_FLAGS := -O -g
$(P)/rusty_v0: RUST_FLAGS := -O -g -C symbol-mangling-version=v0
$(P)/rusty_debug: RUST_FLAGS := -g
$(P)/rusty_release: RUST_FLAGS := -O

$(P)/rusty $(P)/rusty_v0 $(P)/rusty_debug $(P)/rusty_release: tests/programs/rusty.rs \
		tests/programs/programs.mk
	MAKEFLAGS= $(RUSTC) --edition 2018 --crate-name rusty $(RUST_FLAGS) -o $@ $<

$(P)/pools $(P)/templates: $(P)/%: tests/programs/%.cpp $(PROGRAM_DEPS)
	$(CXX) -std=c++17 $(PROGRAM_FLAGS) -o $@ $<

# A prefix that only one allocator uses, as in languages that build it in.
BUILT_IN := $(BUMP_FLAGS) -DPREFIX=_rjem_

$(P)/own_malloc_built_in: $(BUMP) $(PROGRAM_DEPS)
	$(PROGRAM_CC) $(BUILT_IN) $(BUMP)
	$(OBJCOPY) --wildcard --localize-symbol '_rjem_*' $@

$(P)/own_malloc_hidden: $(BUMP) $(PROGRAM_DEPS)
	echo '{ global: run; local: *; };' > $@.map
	$(PROGRAM_CC).so $(BUILT_IN) -Dmain=run -fPIC -shared -Wl,--version-script=$@.map $(BUMP)
	echo 'int run(void); int main(void) { return run(); }' | \
		$(PROGRAM_CC) -x c - -x none $@.so -Wl,-rpath,'$$ORIGIN'

NO_FP := -fomit-frame-pointer -foptimize-sibling-calls
UNWIND_DEPS := tests/programs/unwind.h $(PROGRAM_DEPS)

$(P)/libunwind_library.so: tests/programs/unwind_library.c $(UNWIND_DEPS)
	$(PROGRAM_CC) $(NO_FP) -fPIC -shared $<

$(P)/unwind: tests/programs/unwind.c $(P)/libunwind_library.so $(UNWIND_DEPS)
	$(PROGRAM_CC) $(NO_FP) $< -L$(P) -lunwind_library -Wl,-rpath,'$$ORIGIN'

# The same file without symbols: frames must be at equal offsets.
$(P)/unwind_stripped: $(P)/unwind
	$(OBJCOPY) --strip-all $< $@

$(P)/unwind_static: tests/programs/unwind.c tests/programs/unwind_library.c $(UNWIND_DEPS)
	$(PROGRAM_CC) $(NO_FP) -static $< tests/programs/unwind_library.c

# Return addresses are signed (PAC), and targets of jumps begin with bti.
$(P)/unwind_signed: tests/programs/unwind.c tests/programs/unwind_library.c $(UNWIND_DEPS)
	$(PROGRAM_CC) $(NO_FP) -mbranch-protection=standard $< tests/programs/unwind_library.c

$(P)/unwind_fp: tests/programs/unwind.c $(P)/libunwind_library.so $(UNWIND_DEPS)
	$(PROGRAM_CC) -foptimize-sibling-calls $< -L$(P) -lunwind_library -Wl,-rpath,'$$ORIGIN'

# Only .debug_frame describes the functions of these programs; in the second it is compressed.
DEBUG_FRAME := $(NO_FP) -fno-asynchronous-unwind-tables -fno-unwind-tables

$(P)/unwind_debug_frame: tests/programs/unwind.c $(P)/libunwind_library.so $(UNWIND_DEPS)
	$(PROGRAM_CC) $(DEBUG_FRAME) $< -L$(P) -lunwind_library -Wl,-rpath,'$$ORIGIN'

$(P)/unwind_packed: tests/programs/unwind.c $(P)/libunwind_library.so $(UNWIND_DEPS)
	$(PROGRAM_CC) $(DEBUG_FRAME) -gz=zlib $< -L$(P) -lunwind_library -Wl,-rpath,'$$ORIGIN'

# Removes all unwind information.
NO_FRAMES := --remove-section .eh_frame --remove-section .eh_frame_hdr

$(P)/unwind_bare: $(P)/unwind
	$(OBJCOPY) $(NO_FRAMES) $< $@

$(P)/unwind_bare_fp: $(P)/unwind_fp
	$(OBJCOPY) $(NO_FRAMES) $< $@

$(P)/unwind_exotic: tests/programs/unwind_exotic.c $(P)/libunwind_library.so $(PROGRAM_DEPS)
	$(PROGRAM_CC) $(NO_FP) $< -ldl -Wl,-rpath,'$$ORIGIN'

# Names of equal length: the first two libraries differ only in names and numbers.
FRAMES_LIBRARY = $(PROGRAM_CC) -fPIC -shared -Wl,--build-id tests/programs/frames_library.c

$(P)/libframes_first.so: tests/programs/frames_library.c $(PROGRAM_DEPS)
	$(FRAMES_LIBRARY) -DLEAK=first_leak -DSIZE=48 -DROOM=24

$(P)/libframes_other.so: tests/programs/frames_library.c $(PROGRAM_DEPS)
	$(FRAMES_LIBRARY) -DLEAK=other_leak -DSIZE=56 -DROOM=24

$(P)/libframes_wide.so: tests/programs/frames_library.c $(PROGRAM_DEPS)
	$(FRAMES_LIBRARY) -DLEAK=widely_leak -DSIZE=64 -DROOM=424

$(P)/unwind_cxx: tests/programs/unwind_cxx.cpp $(PROGRAM_DEPS)
	$(CXX) -std=c++17 $(PROGRAM_FLAGS) $(NO_FP) -o $@ $<

$(P)/stack_cache: tests/programs/stack_cache.c $(PROGRAM_DEPS)
	$(PROGRAM_CC) $(NO_FP) $< -ldl

$(P)/libstack_cache_small.so: ROOM := 16
$(P)/libstack_cache_large.so: ROOM := 272
$(P)/libstack_cache_small.so $(P)/libstack_cache_large.so: tests/programs/stack_cache_library.c \
		$(PROGRAM_DEPS)
	$(PROGRAM_CC) $(NO_FP) -DROOM=$(ROOM) -fPIC -shared $<

# A program without libraries needs no 32-bit libraries to build.
$(P)/tiny32: tests/programs/tiny32.c tests/programs/programs.mk
	$(CC) -m32 -O1 -ffreestanding -nostdlib -static -fno-pic -no-pie -fno-stack-protector \
		-o $@ $<

$(P)/locked_map: tests/programs/locked_map.c tests/programs/programs.mk
	$(CC) -O1 -ffreestanding -nostdlib -static -fno-pic -no-pie -fno-stack-protector -o $@ $<
