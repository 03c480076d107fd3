// SPDX-License-Identifier: MIT
// The work that the ledger measures: `ledger_load CASE MESSAGES`. It fills a queue, runs a
// processor until everything is handled, and prints the allocations of that run. Under callgrind
// with `--instr-atstart=no` only the same run counts. It includes the start and the stop, so the
// difference of two runs, with N and 2N messages, is the cost of N messages and of nothing else.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <atomic>
#include <chrono>
#include <future>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <valgrind/callgrind.h>

#include <sessionq/sessionq.hpp>

#include "support/daemon_process.hpp"

namespace {

std::atomic<unsigned long> allocations{0};
std::atomic<unsigned long> allocated_bytes{0};

void count_allocation(std::size_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    allocated_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

} // namespace

// The other forms call these.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    count_allocation(bytes);
    if (void* memory = std::malloc(bytes != 0 ? bytes : 1)) {
        return memory;
    }
    throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
    count_allocation(bytes);
    const auto unit = static_cast<std::size_t>(alignment);
    if (void* memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)) {
        return memory;
    }
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

namespace {

using namespace std::chrono_literals;
using namespace sessionq;

constexpr const char* queue = "ledger";

struct Case {
    const char* name;
    std::uint32_t slots;
    bool is_rolling{false}; ///< each message is a session of its own
    bool is_remote{false};  ///< the broker is a process of its own, behind a network connection
};
constexpr Case cases[]{
    {.name = "steady-64", .slots = 64},
    {.name = "steady-1000", .slots = 1000},
    {.name = "rolling", .slots = 64, .is_rolling = true},
    {.name = "network-steady", .slots = 64, .is_remote = true},
    {.name = "network-rolling", .slots = 64, .is_rolling = true, .is_remote = true},
};

/// A broker with an empty queue, and a client of it. Callgrind does not follow other processes, so
/// a remote broker costs nothing.
class Place {
public:
    explicit Place(bool is_remote) {
        if (is_remote) {
            daemon_.emplace(SESSIONQD,
                            std::vector<std::string>{"--listen", "127.0.0.1:0", "--queue",
                                                     std::string{queue} + ":session:lock=300"});
            client_.emplace(Client::connect(daemon_->connection_string()));
        } else {
            local_.emplace();
            local_->create_queue(queue, {.requires_session = true, .lock_duration = 5min});
            client_.emplace(Client::in_process(*local_));
        }
    }

    [[nodiscard]] const Client& client() const { return *client_; }

private:
    std::optional<test::DaemonProcess> daemon_{};
    std::optional<LocalBroker> local_{};
    std::optional<Client> client_{};
};

/// Sends `messages` to `sessions` in turn.
void fill(const Client& client, std::size_t sessions, std::size_t messages) {
    Sender sender{client, queue};
    std::vector<Message> batch;
    for (std::size_t i = 0; i < messages; ++i) {
        batch.push_back(
            Message::of("0123456789abcdef").in_session("s" + std::to_string(i % sessions)));
        if (batch.size() == 500 || i + 1 == messages) {
            sender.send_all(std::exchange(batch, {}));
        }
    }
}

/// Runs a processor until `messages` are handled and settled.
void consume(const Client& client, const Case& each, std::size_t messages) {
    // Little depends on the order of threads, because there is one of each kind. Nothing depends on
    // the time, which callgrind stretches: with `max_hold` no session is left because others wait,
    // and with `prefetch` the window does not grow because a handler waited.
    const SessionProcessorOptions options{.max_concurrent_sessions = each.slots,
                                          .session_idle_timeout = each.is_rolling ? 0min : 10min,
                                          .max_hold = 1h,
                                          .prefetch = 32,
                                          .worker_threads = 1};
    std::size_t left = messages;
    std::promise<void> done;
    SessionProcessor processor{client, queue, options};
    processor.on_message([&](MessageContext&) {
        if (--left == 0) {
            done.set_value();
        }
    });
    processor.start();
    done.get_future().wait();
    processor.stop(1min); // also waits for the settlements
}

} // namespace

int main(int count, char** arguments) {
    const Case* chosen = nullptr;
    for (const Case& each : cases) {
        if (count == 3 && std::strcmp(arguments[1], each.name) == 0) {
            chosen = &each;
        }
    }
    const unsigned long messages = count == 3 ? std::strtoul(arguments[2], nullptr, 10) : 0;
    if (chosen == nullptr || messages == 0) {
        std::fputs("usage: ledger_load CASE MESSAGES\n", stderr);
        return 2;
    }
    const Place place{chosen->is_remote};
    fill(place.client(), chosen->is_rolling ? messages : chosen->slots, messages);
    const unsigned long allocations_before = allocations;
    const unsigned long bytes_before = allocated_bytes;
    CALLGRIND_START_INSTRUMENTATION;
    consume(place.client(), *chosen, messages);
    CALLGRIND_STOP_INSTRUMENTATION;
    std::printf("{\"allocations\": %lu, \"bytes\": %lu}\n", allocations - allocations_before,
                allocated_bytes - bytes_before);
    return 0;
}
