// SPDX-License-Identifier: MIT
#pragma once

#include "core/reply_queue.hpp"
#include "groups/dialect.hpp"
#include "ports/session_link.hpp"

namespace sessionq::groups {

/// A session link of a broker that has no locks, no session state and no deferral. Refuses requests
/// for these.
class PlainLink : public ports::SessionLink {
public:
    PlainLink(core::EventLoop& loop, const Dialect& dialect) : replies_{loop}, dialect_{dialect} {}
    PlainLink(const PlainLink&) = delete;
    PlainLink& operator=(const PlainLink&) = delete;

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

    core::ReplyQueue replies_;
    const Dialect& dialect_;

private:
    template <typename Handler>
    ports::RequestId refuse(ports::Capability capability, Handler handler) {
        replies_.push([handler = std::move(handler),
                       why = dialect_.capabilities.missing(capability)] { handler(why); });
        return 0;
    }
};

} // namespace sessionq::groups
