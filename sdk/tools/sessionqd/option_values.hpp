// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "tools/sessionqd/options.hpp"

namespace sessionq::sessionqd {

/// Reads ADDRESS:PORT, an IPv6 address in brackets. Throws UsageError, which names `option`.
[[nodiscard]] Endpoint parse_endpoint(const std::string& option, std::string_view text);

/// Reads NAME[:session][:lock=SECONDS]. Throws UsageError.
[[nodiscard]] server::QueueEntry parse_queue(const std::string& text);

} // namespace sessionq::sessionqd
