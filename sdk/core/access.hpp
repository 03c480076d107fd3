// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

namespace sessionq::detail::client {

/// Throws `invalid_state`: the object was moved from.
[[noreturn]] void refuse_moved_from();

/// The library's way into the public classes, which name it as their friend. It lies here because
/// the processor makes contexts with it. A part of an object that was moved from is refused.
struct Access {
    [[nodiscard]] static const auto& core(const auto& object) { return there(object.core_); }
    [[nodiscard]] static const auto& runtime(const auto& processor) {
        return there(processor.runtime_);
    }
    /// Leaves the batch empty.
    [[nodiscard]] static auto take_messages(auto&& batch) noexcept {
        batch.bytes_ = batch.as_batch_ = 0;
        return std::exchange(batch.messages_, {});
    }
    [[nodiscard]] static std::uint64_t max_message_bytes(const auto& batch) noexcept {
        return batch.max_message_bytes_;
    }
    [[nodiscard]] static const auto& ring(const auto& credential) {
        return there(credential.ring_);
    }
    [[nodiscard]] static const auto& host(const auto& broker) { return there(broker.host_); }
    [[nodiscard]] static const auto& session(const auto& held) { return there(held.session_); }
    [[nodiscard]] static const auto& delivery(const auto& message) {
        return there(message.delivery_);
    }
    [[nodiscard]] static const auto& test(const auto& fake) { return there(fake.message_); }
    [[nodiscard]] static auto& call(const auto& context) noexcept { return *context.call_; }

    [[nodiscard]] static auto share(const auto& completion) { return completion.share(); }
    [[nodiscard]] static bool revoke(const auto& completion) noexcept {
        return completion.revoke();
    }
    /// The two forms of a handler. One of them is empty.
    [[nodiscard]] static const auto& function(const auto& handler) noexcept {
        return handler.function_;
    }
    [[nodiscard]] static const auto& start(const auto& handler) noexcept { return handler.start_; }

    template <typename T, typename... Args>
    [[nodiscard]] static T make(Args&&... args) {
        return T{std::forward<Args>(args)...};
    }

private:
    template <typename Pointer>
    [[nodiscard]] static const Pointer& there(const Pointer& part) {
        if (part == nullptr) {
            refuse_moved_from();
        }
        return part;
    }
};

} // namespace sessionq::detail::client
