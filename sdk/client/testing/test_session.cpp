// SPDX-License-Identifier: MIT
#include "client/testing/test_session.hpp"

#include <utility>

#include "client/calls/operation.hpp"
#include "client/receiving/held_delivery.hpp"
#include "client/testing/test_message.hpp"
#include "core/access.hpp"

namespace sessionq::client {

TestSession::TestSession(testing::FakeSessionOptions options)
    : options_{std::move(options)},
      broker_{options_.state},
      context_{Access::make<SessionContext>(static_cast<processor::HandledSession&>(*this))} {}

TestSession* TestSession::of(const SessionContext& session) noexcept {
    processor::HandledSession& held = *Access::session(session);
    return held.driver() == nullptr ? static_cast<TestSession*>(&held) : nullptr;
}

std::optional<Operation<core::Done>> TestSession::settle(DeliveryPtr delivery,
                                                         ports::Settlement settlement,
                                                         const OperationContext& /*context*/) {
    broker_.settle_deferred(static_cast<std::int64_t>(delivery->port_tag),
                            to_public(std::move(settlement)));
    return std::nullopt;
}

Operation<Deadline> TestSession::renew_lock(const HeldDelivery& /*delivery*/,
                                            const OperationContext& /*context*/) {
    throw Error{Errc::not_supported, "the processor renews the locks of its sessions"};
}

} // namespace sessionq::client
