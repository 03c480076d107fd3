#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "report.hpp"
#include "tally.hpp"

namespace replay {

struct Run {
    Report report{};
    std::vector<Tally::SessionOutcome> outcomes{}; ///< Filled if an outcome was asked for.
    std::vector<std::string>
        errors{}; ///< What went wrong beside the handling itself, the first few.
};

/// Sends the file's records and consumes them all. Throws InputError for what cannot be read,
/// wherever in the file it is: a part is never reported as the whole.
[[nodiscard]] Run replay_file(const Options& options);

} // namespace replay
