// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "broker/consumer_target.hpp"
#include "broker/delivery_table.hpp"
#include "core/intrusive_list.hpp"
#include "timing/timer.hpp"

namespace sessionq::broker {

class EntityConsumers;
struct Session;

enum class ReceiveMode : std::uint8_t { peek_lock, receive_and_delete };

/// Whether a consumer wants to be notified of work.
enum class Interest : std::uint8_t {
    none,       ///< no credit, or busy pulling
    interested, ///< found no work and waits for a notification
    notified,   ///< was notified and has not pulled yet
};

/// The right to the messages of one session, or a share in the messages of an entity without
/// sessions. Made by `Queue::accept` or `Queue::open`.
///
/// Any thread may read the constants. The engine owns everything else, under its queue's lock.
struct Consumer : core::ListHook<Consumer> {
    Consumer(EntityConsumers& of, std::shared_ptr<ConsumerTarget> told, std::string held,
             bool is_session, ReceiveMode how, int rank, TimePoint until,
             timing::Timer::Callback lock_expired)
        : session_id{std::move(held)},
          has_session{is_session},
          mode{how},
          priority{rank},
          first_locked_until{until},
          owner{of},
          target{std::move(told)},
          lock_timer{this, lock_expired} {}

    const std::string session_id; ///< in the casing in which the client asked for it
    const bool has_session;
    const ReceiveMode mode;
    const int priority; ///< the highest is served first (DG6)
    /// when the session's lock ends as first granted; max without a session
    const TimePoint first_locked_until;

    EntityConsumers& owner;
    std::shared_ptr<ConsumerTarget> target; ///< null once the consumer is retired or has ended
    Session* session{nullptr}; ///< null without sessions, or once the consumer has ended
    bool ended{false};         ///< closed or lost
    // Of its `ConsumerManager`, without sessions.
    std::size_t place{0};     ///< in the list of consumers
    std::uint32_t wanted{0};  ///< how many messages its last pull did not find
    std::size_t announced{0}; ///< of the messages that are available, by its notification
    Interest interest{Interest::none};
    timing::Timer lock_timer;
    DeliveryTable unsettled{};
};

} // namespace sessionq::broker
