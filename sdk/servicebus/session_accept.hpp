// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ports/accept_book.hpp"
#include "servicebus/first_credit_trial.hpp"
#include "servicebus/pooled_link.hpp"

namespace sessionq::detail::servicebus {

/// Asks for a session: attaches a receiver link with a session filter, and waits for the broker's
/// answer. Or attaches without a filter, to an entity without sessions. Destroying it detaches, so
/// that the broker stops looking. Bound to the loop.
class SessionAccept final : public ports::Asking, private amqp::LinkListener {
public:
    /// Runs once, within a later event. Must not destroy the accept.
    using Done = std::function<void(core::Result<ports::SessionLinkPtr>)>;

    SessionAccept(BrokerConnection& connection, FirstCreditTrial& trial,
                  ports::AcceptRequest request, Done done);

    void start();

private:
    void on_link_open() override;
    void on_link_closed(const amqp::Condition& condition, bool) override { on_refused(condition); }
    void on_link_gone(const amqp::Condition& condition) override { on_refused(condition); }
    void on_disposition(amqp::DeliveryHandle) override {}

    /// Whether credit follows the attach.
    enum class Try : std::uint8_t { with_credit, without_credit };

    void attach();
    void note_credit();
    void on_refused(const amqp::Condition& condition);

    BrokerConnection& connection_;
    FirstCreditTrial& trial_;
    const ports::AcceptRequest request_;
    const Done done_;
    std::unique_ptr<PooledLink> link_;
    Try try_{Try::with_credit};
    ports::FirstCredit given_{}; // with the attach
    TimePoint attached_at_{};
    const core::Anchor<SessionAccept> anchor_{*this};
};

} // namespace sessionq::detail::servicebus
