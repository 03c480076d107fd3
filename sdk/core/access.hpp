// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

namespace sessionq::client {

/// The library's way into the public classes, which name it as their friend. It lies here because
/// the processor makes contexts with it.
struct Access {
    [[nodiscard]] static const auto& core(const auto& object) noexcept { return object.core_; }
    [[nodiscard]] static auto take_messages(auto&& batch) noexcept {
        return std::move(batch.messages_);
    }
    [[nodiscard]] static const auto& host(const auto& broker) noexcept { return broker.host_; }
    [[nodiscard]] static const auto& session(const auto& held) noexcept { return held.session_; }
    [[nodiscard]] static const auto& delivery(const auto& message) noexcept {
        return message.delivery_;
    }
    [[nodiscard]] static auto& call(const auto& context) noexcept { return *context.call_; }

    [[nodiscard]] static bool revoke(const auto& done) noexcept { return done.revoke(); }

    template <typename T, typename... Args>
    [[nodiscard]] static T make(Args&&... args) {
        return T{std::forward<Args>(args)...};
    }
};

} // namespace sessionq::client
