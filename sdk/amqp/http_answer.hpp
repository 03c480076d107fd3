// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace sessionq::amqp {

// Answers of a port to peers that ask for HTTP there: administration clients, browsers, scanners.

/// Whether a peer's first bytes are a request of HTTP.
[[nodiscard]] bool is_http_request(std::string_view first) noexcept;

/// Whether they are, or are too few to tell.
[[nodiscard]] bool may_become_http_request(std::string_view first) noexcept;

/// Refuses a request. `status` is the number with its reason, and `sentence` is the body. `field`:
/// a header field besides.
[[nodiscard]] std::string http_refusal(std::string_view status, std::string_view sentence,
                                       std::string_view field = {});

} // namespace sessionq::amqp
