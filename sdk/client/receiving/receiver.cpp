// SPDX-License-Identifier: MIT
#include <sessionq/receiver.hpp>

#include <utility>

#include "client/calls/blocking.hpp"
#include "client/receiving/session_receiver_operations.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"

namespace sessionq::inline v1 {

Receiver::Receiver(std::shared_ptr<detail::client::HeldSession> session) noexcept
    : session_{std::move(session)} {}

Receiver::Receiver(Receiver&& other) noexcept = default;

Receiver& Receiver::operator=(Receiver&& other) noexcept {
    if (this != &other) {
        detail::client::give_back(session_);
        session_ = std::move(other.session_);
    }
    return *this;
}

Receiver::~Receiver() { detail::client::give_back(session_); }

Receiver Receiver::open(const Client& client, const std::string& entity, ReceiverOptions options,
                        const CallOptions& call) {
    return detail::client::block(detail::client::open_receiver(client, entity, options, call));
}

const std::string& Receiver::entity() const {
    return detail::client::Access::session(*this)->status()->entity();
}

std::stop_token Receiver::stop_token() const {
    return detail::client::Access::session(*this)->status()->stop_token();
}

std::optional<Failure> Receiver::loss() const {
    return detail::client::Access::session(*this)->status()->loss();
}

std::vector<LockedMessage> Receiver::receive(std::size_t max_messages, Timeout wait,
                                             const CallOptions& call) & {
    return detail::client::block(detail::client::receive(*this, max_messages, wait, call));
}

std::optional<LockedMessage> Receiver::receive_one(Timeout wait, const CallOptions& call) {
    return detail::client::block(detail::client::receive_one(*this, wait, call));
}

std::vector<LockedMessage> Receiver::receive_deferred(std::vector<std::int64_t> sequence_numbers,
                                                      const CallOptions& call) & {
    return detail::client::block(
        detail::client::receive_deferred(*this, std::move(sequence_numbers), call));
}

void Receiver::close(const CallOptions& call) {
    detail::client::block(detail::client::close(*this, call));
}

Result<Receiver> Receiver::try_open(const Client& client, const std::string& entity,
                                    ReceiverOptions options, const CallOptions& call) noexcept {
    return core::as_result([&] { return open(client, entity, options, call); });
}

Result<std::vector<LockedMessage>> Receiver::try_receive(std::size_t max_messages, Timeout wait,
                                                         const CallOptions& call) & noexcept {
    return core::as_result([&] { return receive(max_messages, wait, call); });
}

Result<std::optional<LockedMessage>> Receiver::try_receive_one(Timeout wait,
                                                               const CallOptions& call) noexcept {
    return core::as_result([&] { return receive_one(wait, call); });
}

Result<std::vector<LockedMessage>> Receiver::try_receive_deferred(
    std::vector<std::int64_t> sequence_numbers, const CallOptions& call) & noexcept {
    return core::as_result([&] { return receive_deferred(std::move(sequence_numbers), call); });
}

Result<void> Receiver::try_close(const CallOptions& call) noexcept {
    return core::as_result([&] { close(call); });
}

} // namespace sessionq::inline v1
