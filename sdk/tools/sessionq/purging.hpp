// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include <sessionq/purge.hpp>

namespace sessionq::cli {

/// Has the broker delete messages, and adds their number to `removed`. Returns false if the broker
/// cannot; an instant that it cannot keep to is an error.
[[nodiscard]] bool delete_messages(const Client& client, const std::string& entity,
                                   const sessionq::PurgeOptions& which, std::size_t& removed);

} // namespace sessionq::cli
