// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "client/calls/pending.hpp"
#include "ports/delivery.hpp"

namespace sessionq::detail::client {

using Deliveries = std::vector<ports::DeliveryPtr>;

/// The answer of a receive call that ended without messages. A timeout is not a failure: the call
/// returns no messages.
[[nodiscard]] inline core::Result<Deliveries> answer_in_vain(Failure why) {
    return why.code == Errc::timeout ? core::Result<Deliveries>{Deliveries{}} : std::move(why);
}

/// Decides which receive operation gets which messages, and how much credit the waiting operations
/// need. Each `SessionReceiverCore` has a book. The book also keeps the messages that no operation
/// waits for.
class ReceiveBook {
public:
    /// The changes of the credit to send on the link: first more credit, then the drain.
    struct Flow {
        std::uint32_t credit{0};
        bool drain{false};
    };

    /// An operation and the messages that answer it.
    struct Answer {
        PendingPtr<Deliveries> pending{};
        Deliveries messages{};
    };

    /// `reclaim`: true takes unused credit back as soon as no operation waits. False leaves it to
    /// the next operation. `prefetch`: how many messages are kept or asked for while no operation
    /// waits. Above zero, no credit is taken back.
    explicit ReceiveBook(bool reclaim, std::size_t prefetch = 0) noexcept
        : reclaim_{reclaim && prefetch == 0}, prefetch_{prefetch} {}

    /// An operation waits for up to `max` messages. `present_only`: the operation takes only
    /// messages that the broker has now.
    void want(PendingPtr<Deliveries> pending, std::size_t max, bool present_only);

    /// The operation gave up.
    void forget(const PendingBase& pending);

    /// A message came and used one credit. Returns true if the caller must arrange a call of
    /// `serve`. Returns false if nobody waits, or if an earlier message has returned true since the
    /// last `serve`.
    [[nodiscard]] bool delivered(ports::DeliveryPtr delivery);

    /// The broker has answered the drain. No credit is outstanding.
    void drained() noexcept;

    /// Drops the kept messages for which `is_lost` is true.
    template <typename IsLost>
    void drop(IsLost is_lost) {
        std::erase_if(ready_, [&](const ports::DeliveryPtr& each) { return is_lost(*each); });
    }

    /// Takes the operations that can be answered now.
    [[nodiscard]] std::vector<Answer> serve();

    /// Returns the flow to send on the link now. The book counts it as sent.
    [[nodiscard]] Flow next_flow();

    /// Returns the flow that takes unused credit back: a drain, if credit is outstanding and no
    /// drain is under way.
    [[nodiscard]] Flow last_flow();

    /// Removes and returns all waiting operations, without messages.
    [[nodiscard]] std::vector<Answer> take_waiting();

    [[nodiscard]] bool is_draining() const noexcept { return draining_; }

private:
    struct Want {
        PendingPtr<Deliveries> pending;
        std::size_t max;
        bool present_only;
        bool in_drain{false}; ///< The drain under way tells whether more messages are there.
        bool final{false};    ///< The broker has no more messages now.
    };

    [[nodiscard]] bool may_answer(const Want& want) const noexcept;
    Answer answer(const Want& want);

    const bool reclaim_;
    const std::size_t prefetch_;
    std::deque<Want> wants_;
    std::deque<ports::DeliveryPtr> ready_;
    std::size_t credit_{0};
    bool draining_{false};
    bool announced_{false};
};

} // namespace sessionq::detail::client
