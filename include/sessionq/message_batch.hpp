// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sessionq/message.hpp>

namespace sessionq {

namespace client {
struct Access;
} // namespace client

/// Messages for one send. A batch tells whether one more fits. `Sender::create_batch` makes one
/// with the entity's limit. `Sender::send` sends it.
///
/// Example:
///
///     const Sender orders{client, "orders"};
///     MessageBatch batch = orders.create_batch();
///     for (int i = 0; i < 100'000; ++i) {
///         Message next = Message::text("ada", "line " + std::to_string(i));
///         if (!batch.try_add(next)) {
///             orders.send(std::move(batch)); // it is empty again
///             if (!batch.try_add(next)) {
///                 throw std::runtime_error{"the message is too large"};
///             }
///         }
///     }
///     orders.send(std::move(batch));
///
/// Size: bytes in AMQP's form, with the parts that `Sender` adds: the message id, and the deadline
/// and trace context in scope. They count as they are when the message is added. So add messages in
/// the scope in which you send them; a deadline that comes later can make a full batch too large.
/// With a `Tracer`, a batch of `create_batch` has room for the context that each message gets when
/// it is sent, with the `tracestate` in scope.
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class MessageBatch {
public:
    /// `max_bytes`: the most that fits. Zero: no limit.
    explicit MessageBatch(std::uint64_t max_bytes) noexcept
        : max_bytes_{max_bytes}, max_message_bytes_{max_bytes} {}

    /// Adds a copy of the message if it fits. False: it does not, and the batch is unchanged. The
    /// first message of a batch of `Sender::create_batch()` may be as large as the entity takes it,
    /// also if that is more than `max_bytes`. It then stays alone. The number of messages has no
    /// limit.
    /// Errors: invalid_argument (names the field, as `Sender::send` does; scheduled_enqueue_time
    /// must be unset).
    [[nodiscard]] bool try_add(const Message& message);

    [[nodiscard]] std::size_t size() const noexcept { return messages_.size(); }
    [[nodiscard]] bool empty() const noexcept { return messages_.empty(); }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    /// Zero: no limit.
    [[nodiscard]] std::uint64_t max_bytes() const noexcept { return max_bytes_; }

private:
    friend struct client::Access;

    MessageBatch(std::uint64_t max_bytes, std::uint64_t max_message_bytes,
                 std::uint32_t beside_message, bool traced = false) noexcept
        : max_bytes_{max_bytes},
          max_message_bytes_{max_message_bytes},
          beside_message_{beside_message},
          traced_{traced} {}

    std::uint64_t max_bytes_;
    std::uint64_t max_message_bytes_;
    std::uint32_t beside_message_{0}; // the bytes that this broker's form adds to each message
    bool traced_{false};              // messages get their trace contexts when they are sent
    std::uint64_t bytes_{0};
    std::uint64_t as_batch_{0}; // of the envelope and the messages, also if there is only one
    std::vector<Message> messages_{};
};

} // namespace sessionq
