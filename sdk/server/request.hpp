// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "amqp/codec/value.hpp"
#include "broker/queue.hpp"

namespace sessionq::server {

class FetchedMessages;

/// How far a request has come that takes several turns.
struct Progress {
    std::int64_t searched_to{0}; ///< by a search
    /// Of the messages to schedule, those that are decoded.
    std::shared_ptr<std::vector<MessageContentPtr>> decoded{};
    std::shared_ptr<FetchedMessages> fetched{};
    std::optional<broker::DeleteSpec> to_delete{}; ///< the rest of a deletion
    std::size_t settled{0};                        ///< of the lock tokens, the first ones

    /// Of the answer, as far as it is written.
    [[nodiscard]] std::size_t bytes() const noexcept;
};

/// A request to the `$cbs` or `$management` node.
struct Request {
    amqp::Value message_id{}; ///< of any type; returned unchanged
    std::string reply_to{};
    amqp::Value properties{};           ///< the application properties, a map
    amqp::Value body{};                 ///< of an amqp-value section; null otherwise
    std::size_t bytes{0};               ///< the size of the message
    std::optional<Progress> progress{}; ///< unset: it has not begun

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
    std::string encoded_body{};  ///< takes the place of `body` if it is not empty
    bool is_confirmation{false}; ///< confirms a change, so it must wait until that is durable
    /// Set: a message will change the answer, and the request may wait for it.
    std::optional<Hold> hold{};
    /// Set: this is no answer yet. The request goes on from there in another turn.
    std::optional<Progress> progress{};
};

/// The property names of an answer's status, which differ between the two nodes.
enum class AnswerStyle : std::uint8_t { claims, management };

[[nodiscard]] std::string write_answer(const Answer& answer, const amqp::Value& message_id,
                                       AnswerStyle style);

} // namespace sessionq::server
