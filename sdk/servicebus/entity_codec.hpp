// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/message.hpp>
#include <sessionq/received_message.hpp>

#include "amqp/codec/encoded_content.hpp"
#include "core/result.hpp"
#include "ports/endpoint.hpp"
#include "servicebus/request.hpp"

namespace sessionq::detail::servicebus {

// Requests to the $management of an entity and the answers to them. Pure.

[[nodiscard]] amqp::Map scheduled_messages(const std::vector<Message>& messages,
                                           const amqp::ClockReading& at);
[[nodiscard]] core::Result<std::vector<std::int64_t>> read_sequence_numbers(
    const Response& response, std::size_t count, const std::string& entity);
[[nodiscard]] core::Result<core::Done> read_cancellation(const Response& response);
/// Tells the broker how long it may wait with the answer, if the properties of its open offer that
/// (`amqp::peek_wait`).
void offer_wait(Request& request, std::string_view open_properties);
[[nodiscard]] core::Result<std::vector<ReceivedMessage>> read_peeked(const Response& response,
                                                                     const amqp::ClockReading& at,
                                                                     const std::string& entity);
[[nodiscard]] core::Result<std::vector<std::string>> read_session_ids(const Response& response,
                                                                      const std::string& entity);
[[nodiscard]] amqp::Map deletion(const ports::DeleteMessagesRequest& request,
                                 amqp::Timestamp before);
/// `before`: the instant that the request named.
[[nodiscard]] core::Result<ports::DeletedMessages> read_deleted(const Response& response,
                                                                WallTime before,
                                                                const std::string& entity);

} // namespace sessionq::detail::servicebus
