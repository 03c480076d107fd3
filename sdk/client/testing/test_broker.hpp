// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include <sessionq/error.hpp>
#include <sessionq/received_message.hpp>
#include <sessionq/testing/settlement.hpp>

#include "client/receiving/receive_book.hpp"

namespace sessionq::client {

/// Stands for the broker in an application's test: keeps the changes that a handler makes to its
/// session, and answers its requests at once. Any thread.
class TestBroker {
public:
    explicit TestBroker(std::optional<std::string> state) { keep(std::move(state)); }

    // For handlers. They throw lock_lost, and the failure that the test wants for requests.
    [[nodiscard]] std::optional<std::string> read_state() const;
    void write_state(std::optional<std::string> state);
    /// `removes`: they need no settling.
    [[nodiscard]] Deliveries receive_deferred(std::span<const std::int64_t> numbers, bool removes);
    void settle_deferred(std::int64_t number, testing::Settlement settlement);
    void require_held() const;
    void release() noexcept;

    // For the test
    [[nodiscard]] std::int64_t next_sequence() noexcept;
    void defer(ReceivedMessage message);
    [[nodiscard]] std::optional<testing::Settlement> settlement_of(std::int64_t number) const;
    [[nodiscard]] std::optional<std::string> state() const;
    void set_state(std::optional<std::string> state);
    [[nodiscard]] bool released() const;
    void lose();
    void fail_requests(std::optional<Errc> why);

private:
    struct Deferred {
        ReceivedMessage message{};
        bool held{false}; ///< received, and not settled
        bool gone{false}; ///< completed, dead-lettered or removed
        std::optional<testing::Settlement> settlement{};
    };
    struct Kept {
        std::optional<std::string> state{};
        std::map<std::int64_t, Deferred> deferred{};
        std::int64_t last_sequence{0};
        std::optional<Errc> fails{};
        bool released{false};
        bool lost{false};
    };

    // `mutex_` is held, or the object is being made.
    void begin_request() const;
    void keep(std::optional<std::string> state);

    mutable std::mutex mutex_{};
    Kept kept_{}; ///< guarded by `mutex_`
};

} // namespace sessionq::client
