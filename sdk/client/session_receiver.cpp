#include <sessionq/session_receiver.hpp>

#include <utility>

#include <sessionq/error.hpp>

#include "client/access.hpp"
#include "client/blocking.hpp"
#include "client/session_receiver_operations.hpp"

namespace sessionq {
namespace {

SessionReceiver accept(const Client& client, client::AcceptTerms terms,
                       const OperationContext& context) {
    const auto& core = client::Access::core(client);
    auto session = client::block(client::accept_operation(core, std::move(terms), context));
    return client::Access::make_receiver(
        std::make_shared<client::HeldSession>(core, std::move(session)));
}

void give_back(const client::HeldSessionPtr& session) noexcept {
    if (session != nullptr) {
        session->status()->give_back();
    }
}

} // namespace

SessionReceiver::SessionReceiver(std::shared_ptr<client::HeldSession> session) noexcept
    : session_{std::move(session)} {}

SessionReceiver::SessionReceiver(SessionReceiver&& other) noexcept = default;

SessionReceiver& SessionReceiver::operator=(SessionReceiver&& other) noexcept {
    if (this != &other) {
        give_back(session_);
        session_ = std::move(other.session_);
    }
    return *this;
}

SessionReceiver::~SessionReceiver() { give_back(session_); }

SessionReceiver SessionReceiver::accept(const Client& client, const std::string& entity,
                                        const std::string& session_id,
                                        SessionReceiverOptions options,
                                        const OperationContext& context) {
    return sessionq::accept(
        client, {.entity = entity, .session_id = session_id, .options = options}, context);
}

SessionReceiver SessionReceiver::accept_next(const Client& client, const std::string& entity,
                                             SessionReceiverOptions options,
                                             const OperationContext& context) {
    return sessionq::accept(client, {.entity = entity, .options = options}, context);
}

std::optional<SessionReceiver> SessionReceiver::try_accept_next(const Client& client,
                                                                const std::string& entity,
                                                                Duration wait,
                                                                SessionReceiverOptions options,
                                                                const OperationContext& context) {
    try {
        return sessionq::accept(client, {.entity = entity, .wait = wait, .options = options},
                                context);
    } catch (const Error& error) {
        if (error.failure().code == Errc::no_session_available) {
            return std::nullopt;
        }
        throw;
    }
}

const std::string& SessionReceiver::session_id() const noexcept {
    return session_->status()->session_id();
}

const std::string& SessionReceiver::entity() const noexcept { return session_->status()->entity(); }

Deadline SessionReceiver::lock_expires() const noexcept {
    return session_->status()->lock_expires();
}

std::stop_token SessionReceiver::stop_token() const noexcept {
    return session_->status()->stop_token();
}

std::optional<Failure> SessionReceiver::loss() const { return session_->status()->loss(); }

std::vector<SessionMessage> SessionReceiver::receive(std::size_t max_messages, Duration wait,
                                                     const OperationContext& context) {
    return client::to_messages(
        session_, client::block(client::receive_operation(session_, max_messages, wait, context)));
}

std::optional<SessionMessage> SessionReceiver::receive_one(Duration wait,
                                                           const OperationContext& context) {
    auto messages = receive(1, wait, context);
    return messages.empty() ? std::nullopt : std::optional{std::move(messages.front())};
}

std::vector<SessionMessage> SessionReceiver::receive_deferred(
    std::vector<std::int64_t> sequence_numbers, const OperationContext& context) {
    return client::to_messages(session_, client::block(client::receive_deferred_operation(
                                             session_, std::move(sequence_numbers), context)));
}

std::optional<std::string> SessionReceiver::state(const OperationContext& context) {
    return client::block(client::get_state_operation(session_, context));
}

void SessionReceiver::set_state(std::optional<std::string> state, const OperationContext& context) {
    client::block(client::set_state_operation(session_, std::move(state), context));
}

Deadline SessionReceiver::renew_lock(const OperationContext& context) {
    return client::block(client::renew_lock_operation(session_, context));
}

void SessionReceiver::close(const OperationContext& context) {
    client::block(client::close_operation(session_, context));
}

} // namespace sessionq
