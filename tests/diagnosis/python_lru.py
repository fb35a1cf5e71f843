#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# Healthy: an LRU cache that is full.
# expect: nothing
import functools
import time


@functools.lru_cache(maxsize=100)
def page(number):
    return "x" * (600 + number % 100)


for request in range(200):
    page(request)
print("ready", flush=True)
for request in range(24000):
    page(request)
    time.sleep(0.025)
