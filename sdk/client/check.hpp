#pragma once

#include <string_view>

#include <sessionq/message.hpp>

namespace sessionq::client {

/// Whether it can be a session or message id: up to 128 characters (of UTF-8, not bytes).
[[nodiscard]] bool is_id(std::string_view text) noexcept;

/// Throws `Error{Errc::invalid_option}` with the complaint, which names the member, unless it is in
/// range.
void require_option(bool in_range, std::string_view complaint);

// Each throws `Error{Errc::invalid_argument}` naming what is wrong with a value passed to a call.

void require_argument(bool usable, std::string_view complaint);

void check_entity(std::string_view entity);

void check_session_id(std::string_view id);

void check_message(const Message& message);

} // namespace sessionq::client
