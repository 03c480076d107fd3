// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

namespace CLI { // NOLINT(readability-identifier-naming): theirs
class App;
}

namespace sessionq::tools {

/// A mistake in the arguments of a program. Names the invalid option.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Fills the options of `app` with the arguments. Returns a text to print instead if it was
/// requested: the help, that of the command if there is one, or the version (`--version` is added
/// to the options). Throws UsageError.
///
/// Every text arrives unchanged, also "[1,2]", which CLI11 would split, and the empty one of
/// "--name=". An unknown option or command is named, with the nearest one that exists. The text
/// behind an unknown option is not repeated, because it may be a secret.
[[nodiscard]] std::optional<std::string> parse(CLI::App& app, int count,
                                               const char* const* arguments);

} // namespace sessionq::tools
