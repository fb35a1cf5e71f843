// SPDX-License-Identifier: GPL-2.0-or-later
/* A debuginfod server, which the test itself runs. */
#include "tests/unit/symbolizer/debuginfod.h"

#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "helper/starter.h"
#include "tests/unit/symbolizer/known.h"

int listen_here(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char text[128];

	assert_true(sock >= 0);
	assert_int_equal(bind(sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(sock, 8), 0);
	assert_int_equal(getsockname(sock, (struct sockaddr *)&addr, &len), 0);
	snprintf(text, sizeof(text), "http://127.0.0.1:%d", ntohs(addr.sin_port));
	setenv("DEBUGINFOD_URLS", text, 1);
	/* Root uses CACHE_DIRECTORY, other users use DEBUGINFOD_CACHE_PATH. */
	setenv("CACHE_DIRECTORY", in_folder("cache"), 1);
	setenv("DEBUGINFOD_CACHE_PATH", in_folder("cache/debuginfod"), 1);
	/* A client must wait for a hanging server longer than any test runs. */
	setenv("DEBUGINFOD_TIMEOUT", "86400", 1);
	setenv("no_proxy", "127.0.0.1", 1);
	starter_end();
	run("chmod 755 . && rm -rf cache && mkdir cache");
	return sock;
}

void forget_server(int sock)
{
	unsetenv("DEBUGINFOD_URLS");
	close(sock);
}

bool has_debuginfod(void)
{
	void *lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (lib)
		dlclose(lib);
	return lib;
}

pid_t serve(int sock, const char *name, int go)
{
	pid_t pid = fork();

	if (!pid) {
		int client = accept(sock, NULL, NULL);
		int file = open(in_folder(name), O_RDONLY);
		char buf[65536];
		struct stat st;
		ssize_t got;

		if (client < 0 || file < 0 || fstat(file, &st) ||
		    read(client, buf, sizeof(buf)) < 0)
			_exit(1);
		if (read(go, buf, 1) < 0)
			_exit(1);
		dprintf(client,
			"HTTP/1.1 200 OK\r\nContent-Length: %lld\r\nConnection: close\r\n\r\n",
			(long long)st.st_size);
		while ((got = read(file, buf, sizeof(buf))) > 0)
			if (write(client, buf, got) != got)
				_exit(1);
		_exit(0);
	}
	return pid;
}
