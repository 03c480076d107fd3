// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <sessionq/message.hpp>
#include <sessionq/time.hpp>

namespace sessionq::detail::client {

/// Throws `Error{Errc::invalid_option}` unless `in_range`. `complaint` is the error's text and
/// names the member.
void require_option(bool in_range, std::string_view complaint);

/// Throws `Error{Errc::invalid_option}` if the value of the member is negative.
void require_not_negative(std::string_view member, Duration value);

// Each of these throws `Error{Errc::invalid_argument}` if its argument is invalid. The error names
// the argument.

void require_argument(bool usable, std::string_view complaint);

void check_wait(Duration wait);

/// AMQP requires UTF-8.
void check_text(std::string_view text, std::string_view name);

void check_properties(const Properties& properties, std::string_view name);

void check_entity(std::string_view entity);

void check_session_id(std::string_view id);

void check_message(const Message& message);

} // namespace sessionq::detail::client
