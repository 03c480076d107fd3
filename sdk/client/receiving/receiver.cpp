// SPDX-License-Identifier: MIT
#include <sessionq/receiver.hpp>

#include <utility>

#include "client/calls/blocking.hpp"
#include "client/receiving/session_receiver_operations.hpp"
#include "core/access.hpp"

namespace sessionq {

Receiver::Receiver(std::shared_ptr<client::HeldSession> session) noexcept
    : session_{std::move(session)} {}

Receiver::Receiver(Receiver&& other) noexcept = default;

Receiver& Receiver::operator=(Receiver&& other) noexcept {
    if (this != &other) {
        client::give_back(session_);
        session_ = std::move(other.session_);
    }
    return *this;
}

Receiver::~Receiver() { client::give_back(session_); }

Receiver Receiver::open(const Client& client, const std::string& entity, ReceiverOptions options,
                        const CallOptions& call) {
    return client::block(client::open_receiver(client, entity, options, call));
}

const std::string& Receiver::entity() const {
    return client::Access::session(*this)->status()->entity();
}

std::stop_token Receiver::stop_token() const {
    return client::Access::session(*this)->status()->stop_token();
}

std::optional<Failure> Receiver::loss() const {
    return client::Access::session(*this)->status()->loss();
}

std::vector<LockedMessage> Receiver::receive(std::size_t max_messages, Duration wait,
                                             const CallOptions& call) & {
    return client::block(client::receive(*this, max_messages, wait, call));
}

std::optional<LockedMessage> Receiver::receive_one(Duration wait, const CallOptions& call) {
    return client::block(client::receive_one(*this, wait, call));
}

std::vector<LockedMessage> Receiver::receive_deferred(std::vector<std::int64_t> sequence_numbers,
                                                      const CallOptions& call) & {
    return client::block(client::receive_deferred(*this, std::move(sequence_numbers), call));
}

void Receiver::close(const CallOptions& call) { client::block(client::close(*this, call)); }

} // namespace sessionq
