// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <new>
#include <utility>

#include <sessionq/message_content.hpp>

#include "amqp/engine/link.hpp"
#include "core/intrusive_list.hpp"
#include "core/recycler.hpp"
#include "groups/unanswered_ids.hpp"
#include "ports/delivery.hpp"

namespace sessionq::groups {

/// Keeps the messages that the owner of a link has, until the broker knows that they are settled.
/// Each `EntityLink` has one. `release` gives the messages back to the broker before a detach. The
/// memory of removed messages is reused.
class UnsettledMessages {
public:
    struct One : core::ListHook<> {
        amqp::DeliveryHandle handle{};
        MessageContentPtr content{};
        ports::Delivery* settling{nullptr}; ///< set: the broker has not answered
    };

    UnsettledMessages() = default;
    UnsettledMessages(const UnsettledMessages&) = delete;
    UnsettledMessages& operator=(const UnsettledMessages&) = delete;
    ~UnsettledMessages() {
        while (One* const each = all_.pop_front()) {
            forget(*each);
        }
    }

    One& add(amqp::DeliveryHandle handle, MessageContentPtr content) {
        One& made = *::new (memory_.take()) One;
        made.handle = handle;
        made.content = std::move(content);
        handle.set_context(&made);
        all_.push_back(made);
        return made;
    }
    /// Sends the outcome to the broker, and forgets the message.
    void settle(One& one, const amqp::Outcome& outcome) {
        one.handle.settle(outcome);
        forget(one);
    }
    void forget(One& one) noexcept {
        one.~One();
        memory_.give_back(&one);
    }
    /// Gives the messages that the owner has not settled back to the broker.
    void release() {
        for (One* each = all_.front(); each != nullptr;) {
            One& one = *std::exchange(each, all_.next(*each));
            if (one.settling == nullptr) {
                settle(one, {.kind = amqp::OutcomeKind::released});
            }
        }
    }
    /// The link is lost, so the broker has all messages back.
    void lose(UnansweredIds& unanswered) {
        while (One* const each = all_.pop_front()) {
            unanswered.held(each->content->message_id());
            forget(*each);
        }
    }

private:
    core::Recycler memory_{sizeof(One), 256};
    core::IntrusiveList<One> all_{};
};

} // namespace sessionq::groups
