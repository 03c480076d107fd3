// SPDX-License-Identifier: MIT
// The bodies of the public classes for tests of handlers.
#include <utility>
#include <vector>

#include <sessionq/testing/fake_message.hpp>
#include <sessionq/testing/fake_session.hpp>

#include "client/testing/test_message.hpp"
#include "client/testing/test_session.hpp"
#include "core/access.hpp"

namespace sessionq::testing {

FakeSession::FakeSession(FakeSessionOptions options)
    : session_{std::make_shared<client::TestSession>(std::move(options))} {}
FakeSession::~FakeSession() = default;
FakeSession::FakeSession(FakeSession&&) noexcept = default;
FakeSession& FakeSession::operator=(FakeSession&&) noexcept = default;

SessionContext& FakeSession::context() { return client::Access::session(*this)->context(); }
std::optional<std::string> FakeSession::state() const {
    return client::Access::session(*this)->broker().state();
}
void FakeSession::set_state(std::optional<std::string> state) {
    client::Access::session(*this)->broker().set_state(std::move(state));
}
bool FakeSession::released() const { return client::Access::session(*this)->broker().released(); }
std::int64_t FakeSession::add_deferred(Message message) {
    const std::int64_t number = client::Access::session(*this)->broker().next_sequence();
    client::Access::session(*this)->broker().defer(
        client::to_received(std::move(message), client::Access::session(*this)->session_id(),
                            {.sequence_number = number, .state = MessageState::deferred}));
    return number;
}
std::optional<Settlement> FakeSession::settlement_of(std::int64_t sequence_number) const {
    return client::Access::session(*this)->broker().settlement_of(sequence_number);
}
void FakeSession::request_stop() { client::Access::session(*this)->request_stop(); }
void FakeSession::lose_lock() {
    client::Access::session(*this)->broker().lose();
    client::Access::session(*this)->request_stop();
}
void FakeSession::fail_requests(std::optional<Errc> error) {
    client::Access::session(*this)->broker().fail_requests(error);
}

FakeMessage::FakeMessage(FakeSession& session, Message message, DeliveryFacts facts,
                         std::uint32_t attempt)
    : message_{std::make_unique<client::TestMessage>(
          client::Access::session(session), std::move(message), std::move(facts), attempt)} {}
FakeMessage::~FakeMessage() = default;
FakeMessage::FakeMessage(FakeMessage&&) noexcept = default;
FakeMessage& FakeMessage::operator=(FakeMessage&&) noexcept = default;

MessageContext& FakeMessage::context() { return client::Access::test(*this)->context(); }
const ReceivedMessage& FakeMessage::message() const { return client::Access::test(*this)->message; }
void FakeMessage::run(const MessageHandler& handler) { client::Access::test(*this)->run(handler); }
void FakeMessage::run_batch(std::span<FakeMessage> batch, const BatchHandler& handler) {
    std::vector<client::TestMessage*> messages;
    messages.reserve(batch.size());
    for (const FakeMessage& each : batch) {
        messages.push_back(client::Access::test(each).get());
    }
    client::TestMessage::run(messages, handler);
}
std::optional<Settlement> FakeMessage::settlement() const {
    return client::Access::test(*this)->settlement();
}

} // namespace sessionq::testing
