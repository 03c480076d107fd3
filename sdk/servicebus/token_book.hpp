// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/deadline.hpp>
#include <sessionq/error.hpp>

#include "core/random.hpp"
#include "servicebus/claim.hpp"

namespace sessionq::detail::servicebus {

/// Decides for which nodes of a broker a token is sent to $cbs and when, and keeps those who wait
/// for one. No I/O, no clock.
class TokenBook {
public:
    /// Null: the node may be used.
    using Waiter = std::function<void(const Failure* why)>;
    using Waiters = std::vector<Waiter>;
    /// Names one attempt to send a token. Never reused.
    using Attempt = std::uint64_t;

    struct Order {
        std::string node{};
        Attempt attempt{0};
        Deadline deadline{};
    };

    TokenBook(Duration timeout, std::uint64_t seed) noexcept : timeout_{timeout}, random_{seed} {}

    [[nodiscard]] bool is_granted(const std::string& node, TimePoint now) const;

    /// The waiter is never run from within the book.
    void wait(const std::string& node, Waiter waiter);

    /// Tokens to send now: of nodes that somebody waits for, and of those whose token expires soon.
    [[nodiscard]] std::vector<Order> take_orders(TimePoint now);

    /// Whether the outcome of an attempt still counts.
    [[nodiscard]] bool is_current(const Order& order) const;

    /// The outcome of an attempt; returns the waiters to run. One that does not count has none.
    /// The broker accepted a token valid for `life`. Zero means our clock is wrong; trust the
    /// broker's.
    [[nodiscard]] Waiters granted(const Order& order, TimePoint now, Duration life);
    [[nodiscard]] Waiters failed(const Order& order, TimePoint now);

    /// Attempts whose deadline has passed.
    [[nodiscard]] std::vector<Order> overdue(TimePoint now) const;

    /// The broker rejected a use that the token allows: a new one is sent when the node is needed
    /// next.
    void rejected(const std::string& node);

    /// The connection ended, and every token with it. Returns the waiters to run with the failure.
    [[nodiscard]] Waiters clear();

    /// When to call `take_orders` and `overdue` next. `TimePoint::max()`: not before another call.
    [[nodiscard]] TimePoint next() const;

private:
    struct Right {
        Claim claim{};
        Order order{}; // attempt zero: none is under way
        Waiters waiters{};
    };

    template <typename Note>
    [[nodiscard]] Waiters end(const Order& order, Note note);

    const Duration timeout_;
    core::Random random_;
    std::map<std::string, Right> rights_{};
    Attempt last_attempt_{0};
};

} // namespace sessionq::detail::servicebus
