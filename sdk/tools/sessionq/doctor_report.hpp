// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "tools/sessionq/doctor_findings.hpp"

namespace sessionq::cli {

/// Turns findings into lines, and remembers whether one failed. Writes nothing.
class DoctorReport {
public:
    explicit DoctorReport(bool json) noexcept : json_{json} {}

    /// The line of a finding, with its end.
    [[nodiscard]] std::string add(const Finding& finding);

    /// The exit code: 0, or 1 if a check failed.
    [[nodiscard]] int exit_code() const noexcept { return has_failed_ ? 1 : 0; }

private:
    const bool json_;
    bool has_failed_{false};
};

} // namespace sessionq::cli
