// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include <sessionq/time.hpp>

namespace sessionq::detail::servicebus {

/// A token that gives its bearer the rights of a key to a resource until it expires (documented by
/// Azure Service Bus): HMAC-SHA256 with the key as it is written, not decoded.
[[nodiscard]] std::string make_shared_access_signature(std::string_view resource,
                                                       std::string_view key_name,
                                                       std::string_view key, WallTime expires);

} // namespace sessionq::detail::servicebus
