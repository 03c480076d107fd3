// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "core/uuid.hpp"

namespace sessionq::detail::servicebus {

/// The lock tokens of a session's deferred messages, which are settled by request. A port tag names
/// a message. Tags are odd. Other deliveries have the address of their handle, which is even.
class DeferredBook {
public:
    [[nodiscard]] std::uint64_t add(const core::Uuid& lock_token) {
        last_ += 2;
        if (tokens_ == nullptr) {
            tokens_ = std::make_unique<Tokens>();
        }
        tokens_->emplace(last_, lock_token);
        return last_;
    }
    /// None: the delivery came over the link.
    [[nodiscard]] std::optional<core::Uuid> take(std::uint64_t tag) {
        const auto token =
            (tag & 1U) != 0 && tokens_ != nullptr ? tokens_->extract(tag) : Tokens::node_type{};
        return token ? std::optional{token.mapped()} : std::nullopt;
    }

    /// The same, and the book keeps it.
    [[nodiscard]] std::optional<core::Uuid> find(std::uint64_t tag) const {
        if (tokens_ == nullptr) {
            return std::nullopt;
        }
        const auto found = tokens_->find(tag);
        return found != tokens_->end() ? std::optional{found->second} : std::nullopt;
    }

private:
    using Tokens = std::unordered_map<std::uint64_t, core::Uuid>;

    std::unique_ptr<Tokens> tokens_{}; // null: no message of the session was asked for
    std::uint64_t last_{1};
};

} // namespace sessionq::detail::servicebus
