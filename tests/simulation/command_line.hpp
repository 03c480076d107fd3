// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace sessionq::simulation {

struct CommandLine {
    std::uint64_t seeds{100};
    std::uint64_t first_seed{1};
    std::string scenario{}; ///< empty: each in turn
    std::optional<std::uint64_t> replay{};
    bool trace{false};
    bool mutants{false};
    std::string mutant{}; ///< the one to run; empty: all with `mutants`, else none
    bool network{false};
    bool help{false};
    unsigned jobs{2};
};

/// Names the argument that is wrong.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

[[nodiscard]] CommandLine parse(int count, const char* const* arguments);
[[nodiscard]] std::string usage();

} // namespace sessionq::simulation
