// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/receiver.hpp>
#include <sessionq/session_receiver.hpp>

#include "ports/endpoint.hpp"

namespace sessionq::client {

/// How a receiver holds its session, or the messages of an entity without sessions.
struct ReceiverTerms {
    ports::Scope scope{ports::Scope::session};
    ports::ReceiveMode mode{ports::ReceiveMode::peek_lock};
    bool renews{true}; ///< the locks, by itself
    Duration max_lock_renewal{};
    std::uint32_t prefetch{0};
    int priority{0};

    [[nodiscard]] bool removes() const noexcept {
        return mode == ports::ReceiveMode::receive_and_delete;
    }
};

[[nodiscard]] inline ports::ReceiveMode mode_of(bool receive_and_delete) noexcept {
    return receive_and_delete ? ports::ReceiveMode::receive_and_delete
                              : ports::ReceiveMode::peek_lock;
}

[[nodiscard]] inline ReceiverTerms terms_of(const SessionReceiverOptions& options) noexcept {
    return {.mode = mode_of(options.receive_and_delete),
            .renews = options.renew_lock,
            .max_lock_renewal = options.max_lock_renewal,
            .priority = options.priority};
}

[[nodiscard]] inline ReceiverTerms terms_of(const ReceiverOptions& options) noexcept {
    return {.scope = ports::Scope::entity,
            .mode = mode_of(options.receive_and_delete),
            .renews = options.renew_locks,
            .max_lock_renewal = options.max_lock_renewal,
            .prefetch = options.prefetch,
            .priority = options.priority};
}

} // namespace sessionq::client
