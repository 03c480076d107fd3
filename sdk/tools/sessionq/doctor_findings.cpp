// SPDX-License-Identifier: MIT
#include "tools/sessionq/doctor_findings.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

namespace sessionq::cli {

const char* word_of(Verdict verdict) noexcept {
    switch (verdict) {
    case Verdict::ok: return "ok";
    case Verdict::warning: return "warning";
    case Verdict::failed: return "failed";
    case Verdict::skipped: break;
    }
    return "skipped";
}

Finding skipped(std::string check, std::string why) {
    return {.check = std::move(check), .verdict = Verdict::skipped, .found = std::move(why)};
}

double milliseconds_of(Duration time) noexcept {
    constexpr double rounding = 1000;
    const double milliseconds = std::chrono::duration<double, std::milli>(time).count();
    return std::round(milliseconds * rounding) / rounding;
}

std::string milliseconds_text(Duration time) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f ms", milliseconds_of(time));
    return text;
}

std::string long_time_text(Duration time) {
    using std::chrono::duration_cast;
    const auto seconds = duration_cast<std::chrono::seconds>(std::chrono::abs(time)).count();
    constexpr std::int64_t minute = 60;
    constexpr std::int64_t hour = 60 * minute;
    constexpr std::int64_t day = 24 * hour;
    if (seconds < 2 * minute) {
        return std::to_string(seconds) + " s";
    }
    if (seconds < 2 * hour) {
        return std::to_string(seconds / minute) + " min";
    }
    return seconds < 2 * day ? std::to_string(seconds / hour) + " h"
                             : std::to_string(seconds / day) + " days";
}

bool is_failure(const std::optional<Failure>& failure, Errc code) noexcept {
    return failure && failure->code == code;
}

} // namespace sessionq::cli
