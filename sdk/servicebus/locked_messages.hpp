// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "servicebus/locked_session.hpp"

namespace sessionq::detail::servicebus {

/// A receiver link to an entity without sessions. Each message that it has received is locked on
/// its own, until the message's lock ends or the link is closed.
class LockedMessages final : public LockedSession, private ports::MessageLocks {
public:
    LockedMessages(std::unique_ptr<PooledLink> link, SessionAddress address, Terms terms)
        : LockedSession{std::move(link), std::move(address), terms, std::nullopt} {}
    ~LockedMessages() override;

    [[nodiscard]] ports::MessageLocks* message_locks() noexcept override { return this; }
    void close(DoneHandler handler) override;

private:
    using Tokens = std::vector<core::Uuid>;
    using Grants = std::vector<core::Result<ports::LockGrant>>;

    ports::RequestId renew(std::vector<std::uint64_t> tags, Deadline deadline,
                           Handler handler) override;
    ports::RequestId ask_renewal(const Tokens& tokens, Deadline deadline,
                                 std::function<void(core::Result<Grants>)> handler);
    void renew_singly(const Tokens& tokens, Deadline deadline, Handler handler);
    void release_unsettled();
};

} // namespace sessionq::detail::servicebus
