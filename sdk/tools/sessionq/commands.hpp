#pragma once

#include "tools/sessionq/options.hpp"

namespace sessionq::cli {

/// Runs the command and returns the exit code. Throws `Error`.
[[nodiscard]] int run(const Options& options);

} // namespace sessionq::cli
