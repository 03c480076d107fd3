// SPDX-License-Identifier: MIT
// The bodies of the public classes for tests of handlers.
#include <utility>
#include <vector>

#include <sessionq/testing/fake_message.hpp>
#include <sessionq/testing/fake_session.hpp>

#include "client/test_message.hpp"
#include "client/test_session.hpp"

namespace sessionq::testing {

FakeSession::FakeSession(FakeSessionOptions options)
    : session_{std::make_shared<client::TestSession>(std::move(options))} {}
FakeSession::~FakeSession() = default;
FakeSession::FakeSession(FakeSession&&) noexcept = default;
FakeSession& FakeSession::operator=(FakeSession&&) noexcept = default;

SessionContext& FakeSession::context() noexcept { return session_->context(); }
std::optional<std::string> FakeSession::state() const { return session_->broker().state(); }
void FakeSession::set_state(std::optional<std::string> state) {
    session_->broker().set_state(std::move(state));
}
bool FakeSession::released() const { return session_->broker().released(); }
std::int64_t FakeSession::add_deferred(Message message) {
    const std::int64_t number = session_->broker().next_sequence();
    session_->broker().defer(
        client::to_received(std::move(message), session_->session_id(),
                            {.sequence_number = number, .state = MessageState::deferred}));
    return number;
}
std::optional<Settlement> FakeSession::settlement_of(std::int64_t sequence_number) const {
    return session_->broker().settlement_of(sequence_number);
}
void FakeSession::request_stop() { session_->request_stop(); }
void FakeSession::lose_lock() {
    session_->broker().lose();
    session_->request_stop();
}
void FakeSession::fail_requests(std::optional<Errc> error) {
    session_->broker().fail_requests(error);
}

FakeMessage::FakeMessage(FakeSession& session, Message message, DeliveryFacts facts,
                         std::uint32_t attempt)
    : message_{std::make_unique<client::TestMessage>(session.session_, std::move(message),
                                                     std::move(facts), attempt)} {}
FakeMessage::~FakeMessage() = default;
FakeMessage::FakeMessage(FakeMessage&&) noexcept = default;
FakeMessage& FakeMessage::operator=(FakeMessage&&) noexcept = default;

MessageContext& FakeMessage::context() noexcept { return message_->context(); }
const ReceivedMessage& FakeMessage::message() const noexcept { return message_->message; }
void FakeMessage::run(const MessageHandler& handler) { message_->run(handler); }
void FakeMessage::run_batch(std::span<FakeMessage> batch, const BatchHandler& handler) {
    std::vector<client::TestMessage*> messages;
    messages.reserve(batch.size());
    for (const FakeMessage& each : batch) {
        messages.push_back(each.message_.get());
    }
    client::TestMessage::run(messages, handler);
}
std::optional<Settlement> FakeMessage::settlement() const { return message_->settlement(); }

} // namespace sessionq::testing
