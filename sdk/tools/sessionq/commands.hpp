#pragma once

#include "tools/sessionq/options.hpp"

namespace sessionq::cli {

/// Does what is asked for; returns the exit code. Throws `Error`.
[[nodiscard]] int run(const Options& options);

} // namespace sessionq::cli
