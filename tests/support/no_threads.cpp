// SPDX-License-Identifier: MIT
// Linked into programs that are declared to start no thread: NO_THREADS in tests/CMakeLists.txt.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

/// Takes the place of the C library's function, also for the libraries that the program uses.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) noexcept {
    std::fputs("a thread was started: remove NO_THREADS from this program's sessionq_test, so that "
               "ThreadSanitizer runs it too\n",
               stderr);
    std::abort();
}
