// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/sessionq/doctor_findings.hpp"

namespace sessionq::cli {

/// The text without the secrets, and without signatures of tokens. A broker may repeat what it was
/// sent.
[[nodiscard]] std::string without_secrets(std::string text,
                                          const std::vector<std::string>& secrets);

/// Turns findings into lines, and remembers whether one failed. Writes nothing.
class DoctorReport {
public:
    DoctorReport(bool json, std::vector<std::string> secrets);

    /// The line of a finding, with its end.
    [[nodiscard]] std::string add(const Finding& finding);

    /// The exit code: 0, or 1 if a check failed.
    [[nodiscard]] int exit_code() const noexcept { return has_failed_ ? 1 : 0; }

private:
    [[nodiscard]] std::string clean(const std::string& text) const;

    const bool json_;
    const std::vector<std::string> secrets_;
    bool has_failed_{false};
};

} // namespace sessionq::cli
