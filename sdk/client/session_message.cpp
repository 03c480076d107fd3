#include <sessionq/session_message.hpp>

#include <utility>

#include "client/blocking.hpp"
#include "client/session_receiver_operations.hpp"
#include "client/unanswered_settlements.hpp"

namespace sessionq {

SessionMessage::SessionMessage(std::shared_ptr<client::HeldSession> session,
                               std::shared_ptr<client::HeldDelivery> delivery) noexcept
    : session_{std::move(session)}, delivery_{std::move(delivery)} {}

SessionMessage::SessionMessage(SessionMessage&& other) noexcept = default;

SessionMessage& SessionMessage::operator=(SessionMessage&& other) noexcept = default;

SessionMessage::~SessionMessage() = default;

const ReceivedMessage& SessionMessage::message() const noexcept { return delivery_->message; }

bool SessionMessage::settled() const noexcept {
    return delivery_->settled_by_sender || delivery_->decided.load(std::memory_order_acquire);
}

void SessionMessage::complete(const OperationContext& context) {
    client::block(client::settle(*this, ports::Outcome::complete, context));
}

void SessionMessage::abandon(Properties properties_to_modify, const OperationContext& context) {
    client::block(
        client::settle(*this, ports::Outcome::abandon, context, std::move(properties_to_modify)));
}

void SessionMessage::release(const OperationContext& context) {
    client::block(client::settle(*this, ports::Outcome::release, context));
}

void SessionMessage::defer(Properties properties_to_modify, const OperationContext& context) {
    client::block(
        client::settle(*this, ports::Outcome::defer, context, std::move(properties_to_modify)));
}

void SessionMessage::dead_letter(std::string reason, std::string description,
                                 Properties properties_to_modify, const OperationContext& context) {
    client::block(
        client::settle(*this, ports::Outcome::dead_letter, context, std::move(properties_to_modify),
                       {.reason = std::move(reason), .description = std::move(description)}));
}

} // namespace sessionq
