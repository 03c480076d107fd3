// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>

#include "broker/journal.hpp"
#include "core/reply_queue.hpp"
#include "core/result.hpp"
#include "core/weak_handle.hpp"
#include "in_process/turn_queue.hpp"
#include "ports/request.hpp"
#include "timing/timer.hpp"

namespace sessionq::in_process {

/// Answers requests that the broker has carried out: by a later turn of the loop, in order, and
/// once each. An answer that confirms a change waits until the journal has kept the change.
/// Destroying this drops the answers that are left. Bound to the loop.
class Confirmations {
public:
    /// `why` is null once everything that happened before is kept.
    using WhenKept = std::function<void(const Failure* why)>;

    /// Without a journal every change counts as kept. The journal outlives the confirmations that
    /// are held.
    Confirmations(std::shared_ptr<TurnQueue> turns, broker::Journal* journal)
        : turns_{std::move(turns)}, journal_{journal}, replies_{turns_->loop()} {}
    Confirmations(const Confirmations&) = delete;
    Confirmations& operator=(const Confirmations&) = delete;

    [[nodiscard]] ports::RequestId next_id() noexcept { return ++last_id_; }

    template <typename T>
    ports::RequestId reply(std::function<void(core::Result<T>)> handler,
                           std::type_identity_t<core::Result<T>> answer) {
        run_later([this, handler = std::move(handler), answer = std::move(answer)]() mutable {
            handler(phase_ == Phase::open ? std::move(answer) : core::Result<T>{closed()});
        });
        return next_id();
    }

    /// Replies once all changes so far are kept, or could not be. A failed change changed nothing
    /// and need not wait.
    template <typename T>
    ports::RequestId confirm(std::function<void(core::Result<T>)> handler,
                             std::type_identity_t<core::Result<T>> answer, Deadline deadline) {
        if (journal_ == nullptr || !answer) {
            return reply(std::move(handler), std::move(answer));
        }
        return hold(
            [handler = std::move(handler), answer = std::move(answer)](const Failure* why) {
                handler(why != nullptr ? core::Result<T>{*why} : answer);
            },
            deadline);
    }

    /// Runs `action` once all changes so far are kept, or could not be; with `timeout` at the
    /// deadline. Only with a journal.
    ports::RequestId hold(WhenKept action, Deadline deadline = Deadline::never());
    /// Runs `task` once all changes so far are kept, however often the journal must try.
    void when_kept(core::Task task);

    /// Ends a confirmation that is held with `cancelled`. Other ids are ignored.
    void give_up(ports::RequestId id) { end_early(id, Errc::cancelled); }

    /// Runs `task` by a later turn.
    void run_later(core::Task task) { replies_.push(std::move(task)); }

    /// Gives every answer that is left as `cancelled`, now.
    void cancel();

private:
    class Commit;
    enum class Phase : std::uint8_t { open, cancelled };
    struct Held {
        Held(Confirmations& by, ports::RequestId number, WhenKept what)
            : owner{by}, id{number}, action{std::move(what)} {}
        void expire() { owner.end_early(id, Errc::timeout); }

        Confirmations& owner;
        const ports::RequestId id;
        const WhenKept action;
        timing::Timer timer{timing::Timer::calling<&Held::expire>(this)};
    };

    void end(ports::RequestId id, const Failure* why);
    void end_early(ports::RequestId id, Errc why);
    [[nodiscard]] static Failure closed();

    const std::shared_ptr<TurnQueue> turns_;
    broker::Journal* const journal_;
    core::ReplyQueue replies_;
    std::map<ports::RequestId, Held> held_{};
    ports::RequestId last_id_{0};
    Phase phase_{Phase::open};
    const core::Anchor<Confirmations> anchor_{*this};
};

} // namespace sessionq::in_process
