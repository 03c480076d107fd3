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

/// Fills the options of `app` with the arguments. Returns the help text instead if it was
/// requested: that of the subcommand, if there is one. Throws UsageError. What belongs to no option
/// is not repeated, because it may be a secret behind a mistyped option.
[[nodiscard]] std::optional<std::string> parse(CLI::App& app, int count,
                                               const char* const* arguments);

} // namespace sessionq::tools
