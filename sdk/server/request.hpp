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
    /// Where a search that takes several turns goes on; unset: it has not begun.
    std::optional<std::int64_t> searched_to{};

    [[nodiscard]] std::string_view operation() const { return text("operation"); }
    /// Returns the application property if it is a string, else an empty text.
    [[nodiscard]] std::string_view text(std::string_view key) const;
};

/// The values in a request, however they are nested. Decoding as many takes about two milliseconds.
/// A request for `Limits::items_per_request` messages has fewer.
inline constexpr std::uint32_t most_request_values = 65'536;

/// Returns nothing if the bytes are not a message, or have more than `most_request_values`.
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
    /// Set: this is no answer yet. The search goes on from there in another turn.
    std::optional<std::int64_t> searched_to{};
};

/// The property names of an answer's status, which differ between the two nodes.
enum class AnswerStyle : std::uint8_t { claims, management };

[[nodiscard]] std::string write_answer(const Answer& answer, const amqp::Value& message_id,
                                       AnswerStyle style);

} // namespace sessionq::server
