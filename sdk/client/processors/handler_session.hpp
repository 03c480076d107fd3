// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/calls/operation.hpp"
#include "client/receiving/message_holder.hpp"
#include "processor/session/session_driver.hpp"

namespace sessionq::detail::client {

/// The session of a processor's handler. The handler makes its requests through it. Messages of
/// `receive_deferred` keep this object alive. If the session has ended, they cannot be settled any
/// more.
class HandlerSession final : public MessageHolder {
public:
    explicit HandlerSession(processor::SessionDriver& driver);

    [[nodiscard]] Deadline lock_expires() const noexcept override { return lock_->expires(); }
    [[nodiscard]] std::stop_token stop_token() const noexcept override {
        return lock_->stop_token();
    }
    void require(ports::Capability capability) const override;
    void require_held() const override;
    [[nodiscard]] std::optional<Operation<core::Done>> settle(DeliveryPtr delivery,
                                                              ports::Settlement settlement,
                                                              const CallOptions& call) override;
    /// Throws not_supported, because the processor renews the lock.
    [[nodiscard]] Operation<Deadline> renew_lock(const HeldDelivery& delivery,
                                                 const CallOptions& call) override;

    /// Returns an operation that makes a request of the session. When the operation starts, it
    /// calls `ask(driver, pending)` on the loop, and `ask` makes the request. If the session is not
    /// held any more, the operation fails with `lock_lost`, and `ask` is not called. `ask` returns
    /// a function that gives the request up. The function gets the driver. Null: the request cannot
    /// be given up.
    template <typename T, typename Ask>
    [[nodiscard]] Operation<T> operation(const CallOptions& call, Ask ask) const {
        const TimePoint now = clock_->now();
        CallScope scope = scope_of(call, now);
        const Deadline deadline = scope.deadline_or(timeout_, now);
        return {.client = host_.lock(),
                .loop = loop_,
                .deadline = deadline,
                .context = std::move(scope.context),
                .start =
                    [weak = driver_, lost = loss(),
                     ask = std::move(ask)](const PendingPtr<T>& pending) mutable {
                        const auto driver = held(weak);
                        if (!driver) {
                            pending->complete(lost);
                            return;
                        }
                        const GiveUp give_up = ask(*driver, pending);
                        if (give_up) {
                            pending->ask_port([weak, give_up] {
                                if (const auto there = held(weak)) {
                                    give_up(*there);
                                }
                            });
                        }
                    },
                // If the session is lost, the answer is the loss: it has fired the stop token, too,
                // and the deadline may have passed since.
                .unstarted = [weak = driver_, lost = loss()](Failure why) -> core::Result<T> {
                    return held(weak) ? std::move(why) : lost;
                }};
    }
    using GiveUp = std::function<void(processor::SessionDriver&)>;

private:
    using WeakDriver = std::weak_ptr<processor::SessionDriver>;

    /// On the loop. Null: the session is not held any more.
    [[nodiscard]] static std::shared_ptr<processor::SessionDriver> held(const WeakDriver& weak) {
        auto driver = weak.lock();
        return driver && driver->held_link() != nullptr ? std::move(driver) : nullptr;
    }
    [[nodiscard]] Failure loss() const {
        return {.code = Errc::lock_lost,
                .detail = "session '" + session_id_ + "' is not held any more"};
    }

    const WeakDriver driver_;
    const std::weak_ptr<const void> host_; ///< lock it to use the next three members
    core::EventLoop& loop_;
    const ports::Capabilities& capabilities_;
    const core::Clock* clock_;
    const std::shared_ptr<LockBound> lock_;
    const std::string session_id_;
    const Duration timeout_;
};

} // namespace sessionq::detail::client
