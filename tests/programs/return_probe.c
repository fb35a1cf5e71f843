// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * return_probe PID FILE OFFSET: acts as a second tracer of the process PID. Attaches a return probe
 * to the function at OFFSET of FILE; the probe only counts returns. Ends when a byte is read from
 * stdin.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "truth.h"

#define TYPE_FILE "/sys/bus/event_source/devices/uprobe/type"

static int read_type(void)
{
	char text[16] = "";
	int fd = open(TYPE_FILE, O_RDONLY);

	must(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, TYPE_FILE);
	close(fd);
	return atoi(text);
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .config = 1 /* return probe */};
	uint64_t cnt = 0;
	int fd;

	must(argc == 4, "usage");
	attr.type = read_type();
	attr.config1 = (uintptr_t)argv[2];
	attr.config2 = strtoull(argv[3], NULL, 0);
	fd = syscall(SYS_perf_event_open, &attr, atoi(argv[1]), -1, -1, PERF_FLAG_FD_CLOEXEC);
	must(fd >= 0, "perf_event_open");
	ready();
	must(read(fd, &cnt, sizeof(cnt)) == sizeof(cnt) && cnt, "a return was seen");
	ready();
	return 0;
}
