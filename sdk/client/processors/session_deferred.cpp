// SPDX-License-Identifier: MIT
#include "client/processors/session_deferred.hpp"

#include <functional>
#include <memory>
#include <utility>

#include "client/calls/blocking.hpp"
#include "client/processors/handler_session.hpp"
#include "client/receiving/session_receiver_operations.hpp"
#include "client/testing/test_session.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"

namespace sessionq::detail::client {
namespace {

/// Converts the deliveries, so that the handler settles the messages, and not the processor.
core::Result<Deliveries> hand_over(Deliveries deliveries, ports::HeldLink& link) {
    for (ports::DeliveryPtr& each : deliveries) {
        auto held = std::make_unique<HeldDelivery>(std::move(*each));
        held->own_lock = link.lock_of(*held);
        each = std::move(held);
    }
    return deliveries;
}

} // namespace

PublicCall<Deliveries, std::vector<LockedMessage>> receive_deferred(
    const SessionContext& session, std::vector<std::int64_t> sequence_numbers,
    const CallOptions& call) {
    if (TestSession* const test = TestSession::of(session)) {
        return {.operation = std::nullopt,
                .finish = std::bind_front(
                    [test](const std::vector<std::int64_t>& numbers, core::Result<Deliveries>) {
                        return to_messages(
                            test->shared_from_this(),
                            test->broker().receive_deferred(numbers, test->removes()));
                    },
                    std::move(sequence_numbers))};
    }
    const auto holder = std::make_shared<HandlerSession>(*Access::session(session)->driver());
    holder->require(ports::Capability::defer);
    return {
        holder->operation<Deliveries>(
            call,
            [numbers = std::move(sequence_numbers)](
                detail::processor::SessionDriver& driver,
                const PendingPtr<Deliveries>& pending) mutable -> HandlerSession::GiveUp {
                if (numbers.empty()) {
                    pending->complete(Deliveries{});
                    return nullptr;
                }
                ports::HeldLink& link = *driver.held_link();
                const ports::RequestId id = link->receive_deferred(
                    std::move(numbers), pending->deadline(),
                    [pending, &link, answer_to = AnswerTo<Deliveries>{pending, Errc::lock_lost}](
                        core::Result<Deliveries> answer) {
                        answer_to(answer && !pending->ended()
                                      ? hand_over(std::move(answer).value(), link)
                                      : std::move(answer));
                    });
                return [id](detail::processor::SessionDriver& there) {
                    (*there.held_link())->give_up(id);
                };
            }),
        std::bind_front(to_messages, holder)};
}

} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

std::vector<SessionMessage> SessionContext::receive_deferred(
    std::vector<std::int64_t> sequence_numbers, const CallOptions& call) {
    return detail::client::block(
        detail::client::receive_deferred(*this, std::move(sequence_numbers), call));
}

Result<std::vector<SessionMessage>> SessionContext::try_receive_deferred(
    std::vector<std::int64_t> sequence_numbers, const CallOptions& call) noexcept {
    return core::as_result([&] { return receive_deferred(std::move(sequence_numbers), call); });
}

} // namespace sessionq::inline v1
