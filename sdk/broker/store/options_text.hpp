// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "broker/queue_options.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

/// Writes a queue's options as a store holds them: a line `name=value` for each option that is set.
[[nodiscard]] std::string to_text(const QueueOptions& options);

/// Fails with protocol_error, naming the line.
[[nodiscard]] core::Result<QueueOptions> read_options(std::string_view text);

} // namespace sessionq::broker
