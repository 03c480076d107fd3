// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "server/shared_access.hpp"

namespace sessionq::sessionqd {

/// The key of the Service Bus emulator, which everybody knows.
inline constexpr const char* well_known_key_name = "RootManageSharedAccessKey";
inline constexpr const char* well_known_key = "SAS_KEY_VALUE";

/// Adds the key in NAME=VALUE[:RIGHT]...[@ENTITY]. The value ends at the first ':' or '@'. Throws
/// UsageError, which begins with `where` and never holds the value.
void add_key(server::AccessKeys& keys, const std::string& where, std::string_view text);

/// Adds the keys in `text`, one a line. Ignores empty lines and lines that begin with '#'.
void add_keys(server::AccessKeys& keys, const std::string& where, std::string_view text);

/// Adds the keys of a file, one a line. Refuses a file that others than its owner may
/// use, and one of another user.
void add_key_file(server::AccessKeys& keys, const std::string& name);

[[nodiscard]] bool has_well_known_key(const server::AccessKeys& keys);

} // namespace sessionq::sessionqd
