// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "report.hpp"
#include "tally.hpp"

namespace replay {

struct Run {
    Report report{};
    std::vector<Tally::SessionOutcome> outcomes{}; ///< Filled if an outcome was requested.
    std::vector<std::string> errors{};             ///< The first few errors outside of handlers.
};

/// Sends the file's records and consumes them all. Throws InputError for any unreadable record. It
/// never reports a part as the whole.
[[nodiscard]] Run replay_file(const Options& options);

} // namespace replay
