// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "amqp/codec/value.hpp"
#include "core/result.hpp"

namespace sessionq::detail::servicebus {

/// A request to a node that answers: $cbs, or the $management of an entity.
struct Request {
    std::string operation{};
    amqp::Map properties{}; ///< application properties beside the operation
    amqp::Value body{};
    Duration wait{}; ///< how long the broker may wait with the answer, if it can
};

/// Where a request goes and its answer comes from.
struct Correspondence {
    std::string id{};
    std::string node{};
    std::string reply_to{};
};

/// The request as a message.
[[nodiscard]] std::string encode(Request request, const Correspondence& between);

[[nodiscard]] amqp::Array to_array(const std::vector<std::int64_t>& sequence_numbers);

struct Response {
    std::int64_t status{0};
    std::string description{};
    std::string condition{};
    amqp::Value body{};

    [[nodiscard]] bool is_success() const noexcept { return status >= 200 && status < 300; }
    /// Maps a failed response to a `Failure`. `what` names the request. `not_found` is the code of
    /// status 404, if it has one of its own.
    [[nodiscard]] Failure to_failure(std::string what, std::optional<Errc> not_found = {}) const;
    /// The items of a list or array in the body; null if it is absent.
    [[nodiscard]] const amqp::List* find_items(std::string_view key) const noexcept;
    /// The same; none if it is absent.
    [[nodiscard]] const amqp::List& items(std::string_view key) const noexcept;
};

/// The broker said that a request succeeded, and left the answer out.
[[nodiscard]] Failure answer_without(std::string_view key, const std::string& what);

/// The bytes of a value in a map; none if it is absent.
[[nodiscard]] std::optional<std::string_view> bytes_of(const amqp::Value& map,
                                                       std::string_view key) noexcept;

/// A response and the id of its request; nothing if the message is none.
[[nodiscard]] std::optional<std::pair<std::string, Response>> decode_response(
    std::string_view encoded);

using ResponseHandler = std::function<void(core::Result<Response>)>;

/// A handler that reads the response for `handler`.
template <typename T, typename Read>
[[nodiscard]] ResponseHandler reading(std::function<void(core::Result<T>)> handler, Read read) {
    return [handler = std::move(handler),
            read = std::move(read)](const core::Result<Response>& answer) {
        handler(answer.ok() ? read(answer.value()) : core::Result<T>{answer.failure()});
    };
}

} // namespace sessionq::detail::servicebus
