#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "amqp/codec/value.hpp"
#include "broker/queue.hpp"

namespace sessionq::server {

/// A request to the `$cbs` or `$management` node.
struct Request {
    amqp::Value message_id{}; ///< of any type; returned unchanged
    std::string reply_to{};
    amqp::Value properties{}; ///< the application properties, a map
    amqp::Value body{};       ///< of an amqp-value section; null otherwise
    std::size_t bytes{0};     ///< the size of the message

    [[nodiscard]] std::string_view operation() const { return text("operation"); }
    /// Returns the application property if it is a string, else an empty text.
    [[nodiscard]] std::string_view text(std::string_view key) const;
};

/// Returns nothing if the bytes are not a message.
[[nodiscard]] std::optional<Request> read_request(std::string_view encoded);

/// A wait for a message at an entity.
struct Hold {
    broker::QueuePtr queue{};
    broker::BrowseSpec spec{};
    Duration wait{}; ///< at most
};

/// The answer to a request.
struct Answer {
    std::int32_t status{200};
    std::string description{"OK"};
    std::string condition{}; ///< empty on success
    amqp::Value body{};
    bool is_confirmation{false}; ///< confirms a change, so it must wait until that is durable
    /// Set: a message will change the answer, and the request may wait for it.
    std::optional<Hold> hold{};
};

/// The property names of an answer's status, which differ between the two nodes.
enum class AnswerStyle : std::uint8_t { claims, management };

[[nodiscard]] std::string write_answer(const Answer& answer, const amqp::Value& message_id,
                                       AnswerStyle style);

} // namespace sessionq::server
