# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the servers of tests/diagnosis/run into $(O)/tests/diagnosis, with the flags of
# distributions. Each is one file linked with server.c; its first lines name its library.
D := $(O)/tests/diagnosis
SERVER := tests/diagnosis/server.c
SERVER_DEPS := $(SERVER) tests/diagnosis/server.h tests/diagnosis/diagnosis.mk
SERVERS := $(patsubst tests/%,$(O)/tests/%,$(basename $(filter-out $(SERVER),\
	$(wildcard tests/diagnosis/*.c tests/diagnosis/*.cpp))))
# Servers that `make check` runs as well.
SAMPLE := $(addprefix $(D)/,$(shell sed -nE \
	'/^(LEAKING|HEALTHY) = /{s/.*\((.*)\)/\1/; s/[",]/ /g; p}' tests/cases/diagnosis.py))

SERVER_FLAGS := -D_GNU_SOURCE -O2 -g -Wall -Wno-unused-result -pthread
libraries = $$(sed -n 's|^// library: ||p' $< | while read -r name _; do \
	case $$name in -*) echo $$name ;; *) $(PKG_CONFIG) --cflags --libs $$name ;; esac; done)

$(D)/server.o: $(SERVER_DEPS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(SERVER_FLAGS) -c -o $@ $<

$(D)/%: tests/diagnosis/%.c $(D)/server.o
	$(CC) -std=gnu11 $(SERVER_FLAGS) -o $@ $< $(D)/server.o $(libraries)

$(D)/%: tests/diagnosis/%.cpp $(D)/server.o
	$(CXX) -std=c++17 $(SERVER_FLAGS) -o $@ $< $(D)/server.o $(libraries)

.PHONY: diagnosis diagnosis-programs
diagnosis-programs: $(SERVERS)

# Takes some five minutes; DIAGNOSIS_ARGS: see tests/diagnosis/run --help.
diagnosis:
	scripts/install-packages --diagnosis
	$(MAKE) O=$(O)/check TEST_KNOBS=1 all diagnosis-programs
	O=$(O)/check tests/diagnosis/run $(DIAGNOSIS_ARGS)
