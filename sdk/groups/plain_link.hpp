// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "core/reply_queue.hpp"
#include "core/weak_handle.hpp"
#include "groups/dialect.hpp"
#include "ports/session_link.hpp"
#include "ports/settlement_book.hpp"

namespace sessionq::groups {

/// The common base of `GroupLink` and `EntityLink`: a session link of a broker without locks,
/// session state and deferral. It refuses requests for these. It tells the owner when a settlement
/// is answered, when a close has ended, and when the link is lost.
class PlainLink : public ports::SessionLink {
public:
    PlainLink(core::EventLoop& loop, const Dialect& dialect, DoneHandler waiter = {})
        : replies_{loop}, dialect_{dialect}, waiter_{std::move(waiter)} {}
    PlainLink(const PlainLink&) = delete;
    PlainLink& operator=(const PlainLink&) = delete;

    ports::FirstCredit set_events(ports::LinkEvents& events) final;

    [[nodiscard]] ports::LockGrant initial_lock() const noexcept final { return {}; }
    ports::RequestId renew_lock(Deadline, LockHandler handler) final {
        return refuse(ports::Capability::lock_renewal, std::move(handler));
    }
    ports::RequestId get_state(Deadline, StateHandler handler) final {
        return refuse(ports::Capability::session_state, std::move(handler));
    }
    ports::RequestId set_state(std::optional<std::string>, Deadline, DoneHandler handler) final {
        return refuse(ports::Capability::session_state, std::move(handler));
    }
    ports::RequestId receive_deferred(std::vector<std::int64_t>, Deadline,
                                      DeliveriesHandler handler) final {
        return refuse(ports::Capability::defer, std::move(handler));
    }
    void give_up(ports::RequestId) final {} // every answer is on the way

protected:
    ~PlainLink() override = default;

    /// Tells the owner of a settlement. May destroy the link.
    void tell(ports::Delivery& delivery, const Failure* failure);
    /// Tells the owner of a settlement in a later turn of the loop.
    void answer(ports::Delivery& delivery, std::optional<Failure> failure = std::nullopt);
    /// The owner was told of a settlement.
    virtual void answered() = 0;
    /// The attach or the close that the owner waits for is done. May destroy the link.
    void end_wait(const core::Result<core::Done>& result);
    /// The link is gone. `is_held`: its owner has not closed it. May destroy the link.
    void tell_lost(const Failure& why, bool is_held);

    core::ReplyQueue replies_;
    const Dialect& dialect_;
    DoneHandler waiter_; // for the attach, then for the end of a close
    ports::SettlementBook settlements_{};
    ports::LinkEvents* events_{nullptr};

private:
    template <typename Handler>
    ports::RequestId refuse(ports::Capability capability, Handler handler) {
        replies_.push([handler = std::move(handler),
                       why = dialect_.capabilities.missing(capability)] { handler(why); });
        return 0;
    }

    std::unique_ptr<Failure> untold_loss_{}; // the link was lost before it had events
    const core::Anchor<PlainLink> anchor_{*this};
};

} // namespace sessionq::groups
