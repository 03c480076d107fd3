// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sessionq/message.hpp>
#include <sessionq/result.hpp>

namespace sessionq::detail::client {
struct Access;
} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

/// Collects messages for one send, and tells whether one more fits. `Sender::create_batch` makes a
/// batch with the entity's limit. `Sender::send` sends it.
///
/// Example:
///
///     const Sender orders{client, "orders"};
///     MessageBatch batch = orders.create_batch();
///     for (int i = 0; i < 100'000; ++i) {
///         Message next = Message::of("line " + std::to_string(i)).in_session("ada");
///         if (!batch.add_if_fits(next)) {
///             orders.send(std::move(batch)); // it is empty again
///             if (!batch.add_if_fits(next)) {
///                 throw std::runtime_error{"the message is too large"};
///             }
///         }
///     }
///     orders.send(std::move(batch));
///
/// Size: the bytes of the messages in AMQP's form. They include the message id, the deadline and
/// the trace context that `Sender` adds. The deadline and the trace context count as they are when
/// a message is added. So add messages in the scope in which you send them. A deadline that is set
/// later can make a full batch too large. With a `Tracer`, each message gets its trace context only
/// when it is sent. A batch of `create_batch` keeps room for that, with the `tracestate` in scope.
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class MessageBatch {
public:
    /// `max_bytes`: the most bytes that fit. Zero: no limit.
    explicit MessageBatch(std::uint64_t max_bytes) noexcept
        : max_bytes_{max_bytes}, max_message_bytes_{max_bytes} {}

    /// Adds a copy of the message if it fits. Returns false if it does not fit, and leaves the
    /// batch unchanged. The number of messages has no limit. If `Sender::create_batch` made the
    /// batch with the entity's limit, the first message may be as large as the entity takes a
    /// single message, even if that is more than `max_bytes()`. No other message fits beside such a
    /// message.
    /// Errors: invalid_argument (names the invalid field; `scheduled_enqueue_time` must be unset).
    [[nodiscard]] bool add_if_fits(const Message& message);

    /// Adds a copy of the message, or returns the failure and leaves the batch unchanged. It never
    /// throws. To send a full batch and go on, use `add_if_fits`.
    /// Errors: message_too_large (the message does not fit beside the others), invalid_argument
    /// (names the invalid field; `scheduled_enqueue_time` must be unset), resource_exhausted (no
    /// memory).
    Result<void> try_add(const Message& message) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return messages_.size(); }
    [[nodiscard]] bool empty() const noexcept { return messages_.empty(); }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    /// Zero: no limit.
    [[nodiscard]] std::uint64_t max_bytes() const noexcept { return max_bytes_; }

private:
    friend struct detail::client::Access;

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
    std::uint64_t as_batch_{0}; // size of the messages as a batch, even of a single one
    std::vector<Message> messages_{};
};

} // namespace sessionq::inline v1
