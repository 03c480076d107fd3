// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "core/lock_bound.hpp"
#include "dispatch/dispatcher.hpp"
#include "ports/lock_keeper.hpp"
#include "processor/workplace.hpp"

namespace sessionq::detail::processor {

/// The message that an error concerns.
struct FailedMessage {
    const ReceivedMessage* message{nullptr}; ///< null: the error concerns no message
    std::uint32_t attempt{0};                ///< zero: none
    MessageFate fate{MessageFate::none};
};

/// The part of a held session that workers may read: its names, its lane, its lock's end and its
/// stop token. `SessionDriver` owns it, and updates it on the loop. The calls of messages and
/// handlers use it on workers. Any thread, except the members marked otherwise.
class SessionView {
public:
    SessionView(Workplace& workplace, const std::string& entity, std::string session_id,
                std::uint32_t calls)
        : workplace_{workplace},
          entity_{entity},
          session_id_{std::move(session_id)},
          ordered_{workplace.shared->scope == ports::Scope::session},
          lane_{workplace.shared->environment.dispatcher->make_lane(calls, ordered_)},
          examines_{workplace.shared->scope == ports::Scope::session &&
                    workplace.endpoint.capabilities().has(ports::Capability::session_state) &&
                    !workplace.options().receive_and_delete} {}

    [[nodiscard]] Workplace& workplace() const noexcept { return workplace_; }
    [[nodiscard]] SharedState& shared() const noexcept { return *workplace_.shared; }
    [[nodiscard]] core::EventLoop& loop() const noexcept { return workplace_.loop(); }
    [[nodiscard]] const std::string& entity() const noexcept { return entity_; }
    [[nodiscard]] const std::string& session_id() const noexcept { return session_id_; }
    [[nodiscard]] dispatch::Lane& lane() const noexcept { return *lane_; }
    [[nodiscard]] std::stop_token stop_token() const noexcept { return lock_->stop_token(); }
    /// Whether this session's record is read before a `Suspect` starts. The record may say that the
    /// message waits (`retry_later`), or that it has killed too many consumers.
    [[nodiscard]] bool examines() const noexcept { return examines_; }
    /// Whether the messages have an order to keep. The messages of an entity without sessions have
    /// none.
    [[nodiscard]] bool ordered() const noexcept { return ordered_; }
    /// Returns whether the handler of a call may start now. False if the session waits or is left.
    /// Called by the worker that took the call, just before the start.
    [[nodiscard]] bool begin(dispatch::Call& call) const {
        return shared().environment.dispatcher->begin(*lane_, call);
    }
    /// The handler of a call will not start. If no later call may start before the session has
    /// dealt with this call, the caller has already put the lane on hold.
    void skip(dispatch::Call& call) const { shared().environment.dispatcher->skip(*lane_, call); }
    [[nodiscard]] Deadline lock_expires() const noexcept { return lock_->expires(); }
    /// The end of the lock and its stop token. The object may outlive the session.
    [[nodiscard]] const std::shared_ptr<LockBound>& lock() const noexcept { return lock_; }
    /// The context of a handler whose request has this deadline.
    [[nodiscard]] OperationContext context(Deadline deadline = {}) const {
        return LockBound::context(lock_, deadline);
    }

    /// No handler starts at this instant or after it.
    [[nodiscard]] TimePoint last_start() const noexcept {
        return last_start_.load(std::memory_order_acquire);
    }
    [[nodiscard]] bool lock_over(TimePoint now) const noexcept {
        return last_start() == TimePoint::min() || lock_expires().passed(now);
    }

    // On the loop
    void show(const ports::LockKeeper& lock) noexcept {
        last_start_.store(lock.last_start(), std::memory_order_release);
        lock_->set_expires(lock.expires());
    }
    void end_lock() {
        last_start_.store(
            TimePoint::min(),
            std::memory_order_release); // also stops a call that a worker took and has not begun
        fire_stop();
    }
    void fire_stop() {
        shared().environment.notifier->post([lock = lock_] { lock->request_stop(); });
    }
    void report(ErrorSource source, Failure failure, const FailedMessage& failed = {}) const {
        ErrorContext context{.source = source,
                             .failure = std::move(failure),
                             .entity = entity_,
                             .session_id = session_id_,
                             .attempt = failed.attempt,
                             .fate = failed.fate};
        if (failed.message != nullptr) {
            context.message_id = failed.message->message_id();
            context.sequence_number = failed.message->sequence_number();
        }
        shared().report(std::move(context));
    }

private:
    using Instant = std::atomic<TimePoint>;
    static_assert(Instant::is_always_lock_free);

    Workplace& workplace_;
    const std::string& entity_;
    const std::string session_id_;
    const bool ordered_;
    const dispatch::LanePtr lane_;
    const std::shared_ptr<LockBound> lock_{std::make_shared<LockBound>()};
    Instant last_start_{};
    const bool examines_;
};

/// Returns the place of a span in this session. Valid as long as the session.
[[nodiscard]] inline core::SpanPlace span_place(const SessionView& session) noexcept {
    return {.entity = session.entity(), .session_id = session.session_id()};
}

} // namespace sessionq::detail::processor
