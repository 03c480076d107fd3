#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "amqp/codec/value.hpp"

namespace sessionq::server {

/// A request to a node that answers, `$cbs` or `$management`, as clients send it.
struct Request {
    amqp::Value message_id{}; ///< of whichever type; comes back as it is
    std::string reply_to{};
    amqp::Value properties{}; ///< the application properties, a map
    amqp::Value body{};       ///< of an amqp-value body; null: another kind or none

    [[nodiscard]] std::string_view operation() const { return text("operation"); }
    /// An application property that is text; empty: not there.
    [[nodiscard]] std::string_view text(std::string_view key) const;
};

/// Nothing: it is no message.
[[nodiscard]] std::optional<Request> read_request(std::string_view encoded);

/// The answer to a request.
struct Answer {
    std::int32_t status{200};
    std::string description{"OK"};
    std::string condition{}; ///< empty: none
    amqp::Value body{};
    bool is_confirmation{false}; ///< of a change: it is true only once that is durable
};

/// How an answer names its status: the two nodes differ, and so do the clients that read them.
enum class AnswerStyle : std::uint8_t { claims, management };

[[nodiscard]] std::string write_answer(const Answer& answer, const amqp::Value& message_id,
                                       AnswerStyle style);

} // namespace sessionq::server
