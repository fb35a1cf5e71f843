#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# Leaks: each request is appended to a module-level list.
# expect: *
import time

seen = []


def remember(number):
    seen.append({"number": number, "path": f"/page/{number}", "body": "x" * (600 + number % 10)})


print("ready", flush=True)
for request in range(24000):
    remember(request)
    time.sleep(0.025)
