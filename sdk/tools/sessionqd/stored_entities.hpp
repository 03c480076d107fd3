// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "tools/sessionqd/options.hpp"

/// Work on the entities of `--data` without serving them: those that no option names any more can
/// be found and removed. Throws Error, also while a daemon uses the directory.
namespace sessionq::sessionqd {

/// A line for each entity: its name, kind and numbers of messages.
[[nodiscard]] std::string list_entities(const Options& options);

/// Deletes `Options::deleted_entities` with their messages, all or none. Returns a line for each.
[[nodiscard]] std::string delete_entities(const Options& options);

} // namespace sessionq::sessionqd
