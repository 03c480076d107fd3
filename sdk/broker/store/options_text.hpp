#pragma once

#include <string>
#include <string_view>

#include "broker/queue_options.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

/// A queue's options as a store keeps them: a line `name=value` each, those that are not set left
/// out.
[[nodiscard]] std::string to_text(const QueueOptions& options);

/// Fails with protocol_error, naming the line.
[[nodiscard]] core::Result<QueueOptions> read_options(std::string_view text);

} // namespace sessionq::broker
