#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <sessionq/message_content.hpp>

#include "broker/instant.hpp"
#include "core/result.hpp"
#include "server/limits.hpp"

namespace sessionq::server {

/// Returns the messages of a transfer, one or a batch, each kept as received. Fails with
/// protocol_error, with message_too_large beyond `limits`, or with not_supported for an unknown
/// format.
[[nodiscard]] core::Result<std::vector<MessageContentPtr>> decode_transfer(
    std::string_view encoded, std::uint32_t message_format, broker::Instant now,
    const Limits& limits);

} // namespace sessionq::server
