#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sessionq/message_content.hpp>

#include "broker/instant.hpp"
#include "core/result.hpp"

namespace sessionq::server {

/// The messages a transfer of this format carries, one or a batch, each kept as it came. Fails with
/// protocol_error or not_supported (a format nobody knows).
[[nodiscard]] core::Result<std::vector<MessageContentPtr>> decode_transfer(
    std::string_view encoded, std::uint32_t message_format, broker::Instant now);

} // namespace sessionq::server
