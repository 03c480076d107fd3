// SPDX-License-Identifier: MIT
// Preloaded into a program, it writes down for how long its event loops do not look for new input:
// a line "began processor waited faults", in seconds of the monotonic clock and milliseconds, for
// each turn that takes more than a millisecond of its thread's processor time. The file is named by
// LOOP_TURNS. Processor time does not depend on what else the machine does, but it counts what the
// kernel does for the thread: `faults` is how often it gave it a page of memory.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

constexpr double told_from = 0.001;

double seconds_of(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

long faults_of_thread() {
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_minflt;
}

struct Turn {
    double began{-1}; // below zero: the thread has not looked yet
    double processor{0};
    long faults{0};

    void begin() {
        began = seconds_of(CLOCK_MONOTONIC);
        faults = faults_of_thread();
        processor = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    }
    void end() const {
        const double used = seconds_of(CLOCK_THREAD_CPUTIME_ID) - processor;
        const char* const name = std::getenv("LOOP_TURNS");
        if (began < 0 || used < told_from || name == nullptr) {
            return;
        }
        char line[128];
        const int size = std::snprintf(line, sizeof line, "%.6f %.3f %.3f %ld\n", began,
                                       used * 1000, (seconds_of(CLOCK_MONOTONIC) - began) * 1000,
                                       faults_of_thread() - faults);
        const int file = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (file >= 0) {
            static_cast<void>(!write(file, line, static_cast<std::size_t>(size)));
            close(file);
        }
    }
};

thread_local Turn turn;

} // namespace

extern "C" __attribute__((visibility("default"))) int epoll_wait(int descriptor,
                                                                 epoll_event* events, int most,
                                                                 int timeout) {
    using Wait = int (*)(int, epoll_event*, int, int);
    static const auto next = reinterpret_cast<Wait>(dlsym(RTLD_NEXT, "epoll_wait"));
    turn.end();
    const int found = next(descriptor, events, most, timeout);
    turn.begin();
    return found;
}
