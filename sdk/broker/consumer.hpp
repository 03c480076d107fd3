#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "broker/consumer_target.hpp"
#include "broker/delivery_table.hpp"
#include "core/intrusive_list.hpp"
#include "timing/timer.hpp"

namespace sessionq::broker {

class Entity;
struct Session;

enum class ReceiveMode : std::uint8_t { peek_lock, receive_and_delete };

/// Where a consumer stands between "say when there is work" and taking it.
enum class Interest : std::uint8_t {
    none,       ///< no credit, or busy pulling
    interested, ///< found nothing, waits to be told
    notified,   ///< told, has not pulled yet
};

/// The right to the messages of one session, or to share in those of an entity without sessions;
/// made by an accept or by `Queue::open`.
///
/// The constants are for everybody. All else is the engine's and guarded by its queue's lock.
struct Consumer : core::ListHook<Consumer> {
    Consumer(Entity& of, std::shared_ptr<ConsumerTarget> told, std::string held, bool is_session,
             ReceiveMode how, int rank, TimePoint until, timing::Timer::Callback lock_expired)
        : session_id{std::move(held)},
          has_session{is_session},
          mode{how},
          priority{rank},
          first_locked_until{until},
          entity{of},
          target{std::move(told)},
          locked_until{until},
          lock_timer{this, lock_expired} {}

    const std::string session_id;
    const bool has_session;
    const ReceiveMode mode;
    const int priority;                 ///< higher is served first (DG6)
    const TimePoint first_locked_until; ///< the session's lock as granted; max without a session

    Entity& entity;
    std::shared_ptr<ConsumerTarget> target;
    Session* session{nullptr}; ///< null: without sessions, or ended
    bool ended{false};         ///< closed or lost
    Interest interest{Interest::none};
    TimePoint locked_until;
    timing::Timer lock_timer;
    DeliveryTable in_hand{};
};

} // namespace sessionq::broker
