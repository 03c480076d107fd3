// SPDX-License-Identifier: MIT
#include "dispatch/thread_sync.hpp"

#include <doctest/doctest.h>

#include <mutex>
#include <thread>
#include <vector>

using namespace sessionq::dispatch;

TEST_CASE("small lock: excludes other threads, even when its holder is preempted") {
    SmallLock lock;
    int counter = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 2000; ++i) {
                const std::lock_guard guard{lock};
                const int read = counter;
                if (t == 0 && i % 100 == 0) {
                    std::this_thread::yield();
                }
                counter = read + 1;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(counter == 8000);
}

TEST_CASE("semaphore: acquires succeed as often as it was released") {
    Semaphore semaphore;
    semaphore.release();
    semaphore.release();
    semaphore.acquire();
    semaphore.acquire();
    std::thread giver{[&] { semaphore.release(); }};
    semaphore.acquire();
    giver.join();
}
