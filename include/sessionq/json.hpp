// SPDX-License-Identifier: MIT
#pragma once

/// Messages whose body is JSON, with nlohmann/json. The application needs that library itself (the
/// package nlohmann-json3-dev of Debian). <sessionq/sessionq.hpp> does not include this header.

#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json.hpp>

#include <sessionq/error.hpp>
#include <sessionq/message.hpp>
#include <sessionq/received_message.hpp>

namespace sessionq::detail {

/// Throws `Error{Errc::invalid_argument}` with the message's id and this reason.
[[noreturn]] void refuse_body(const ReceivedMessage& message, std::string_view reason);

} // namespace sessionq::detail

namespace sessionq::inline v1 {

/// Returns a message whose body is the JSON text of `value`, with the content type
/// "application/json". Everything that nlohmann/json converts is a value, so also a type with a
/// `to_json` of its own.
/// Errors: invalid_argument (a text in `value` is not valid UTF-8, or `value` is discarded).
///
/// Example:
///
///     sender.send(json_message({{"part", "bolt"}, {"count", 5}}).in_session("ada"));
///
/// Thread safety: safe.
[[nodiscard]] inline Message json_message(const nlohmann::json& value) {
    if (value.is_discarded()) {
        throw Error{Errc::invalid_argument, "json_message: the value is discarded"};
    }
    Message made;
    made.content_type = "application/json";
    try {
        made.body = value.dump();
    } catch (const nlohmann::json::exception& error) {
        throw Error{Errc::invalid_argument, std::string{"json_message: "} + error.what()};
    }
    return made;
}

/// Returns the JSON in the body of a message, as a `T` that nlohmann/json converts to. It reads
/// bytes, and an AMQP value that is a text or bytes. The content type does not matter.
/// Errors: invalid_argument (names the message id: the body is not JSON, or not a `T`),
/// invalid_state (the message is empty: made by default, or moved from). A `from_json` of the
/// application may throw anything else.
///
/// Example:
///
///     for (const SessionMessage& message : receiver.receive(10, std::chrono::seconds{1})) {
///         const nlohmann::json order = json_of(message.message());
///         std::cout << order.value("count", 0) << '\n';
///     }
///
/// Thread safety: safe.
template <typename T = nlohmann::json>
[[nodiscard]] T json_of(const ReceivedMessage& received) {
    nlohmann::json parsed;
    try {
        parsed = nlohmann::json::parse(received.text());
    } catch (const nlohmann::json::parse_error& error) {
        detail::refuse_body(received,
                            "the body is not JSON, at byte " + std::to_string(error.byte));
    }
    if constexpr (std::is_same_v<T, nlohmann::json>) {
        return parsed;
    } else {
        try {
            return parsed.template get<T>();
        } catch (const nlohmann::json::exception& error) {
            detail::refuse_body(received,
                                std::string{"the JSON is of another form: "} + error.what());
        }
    }
}

} // namespace sessionq::inline v1
