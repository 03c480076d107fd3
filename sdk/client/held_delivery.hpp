#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <sessionq/deadline.hpp>

#include "client/pending.hpp"
#include "core/intrusive_list.hpp"
#include "ports/delivery.hpp"
#include "ports/message_lock_keeper.hpp"

namespace sessionq::client {

/// The lock that a delivery has of its own. Outlives the delivery while a renewal is under way.
struct HeldLock {
    enum class Phase : std::uint8_t {
        held,
        dropped, ///< The application destroyed the message and has not settled it.
        lost,
    };

    explicit HeldLock(std::uint64_t tag) noexcept : port_tag{tag} {}

    const std::uint64_t port_tag;
    // Any thread
    std::atomic<Phase> phase{Phase::held};
    std::atomic<Duration::rep> expires{TimePoint::max().time_since_epoch().count()};
    // On the loop
    struct Kept final : ports::MessageLock {
        std::shared_ptr<HeldLock> owner{}; ///< while a keeper has it
    } kept{};
};

/// A delivery that the application has.
struct HeldDelivery final : ports::Delivery, core::ListHook<> {
    ~HeldDelivery() override {
        if (own_lock != nullptr) {
            auto held = HeldLock::Phase::held;
            own_lock->phase.compare_exchange_strong(held, HeldLock::Phase::dropped);
        }
    }

    /// Any thread: the settling call that counts was made.
    std::atomic<bool> decided{false};
    /// Itself, while its settlement is unanswered.
    std::shared_ptr<HeldDelivery> kept{};
    PendingPtr<core::Done> settling{};
    /// Null: its session's lock covers it.
    std::shared_ptr<HeldLock> own_lock{};

    [[nodiscard]] bool is_lost() const noexcept {
        return own_lock != nullptr && own_lock->phase.load() == HeldLock::Phase::lost;
    }
};

} // namespace sessionq::client
