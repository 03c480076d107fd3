// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/quantities.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace sessionq::cli {
namespace {

constexpr double minute = 60;
constexpr double hour = 3600;
constexpr double day = 86'400;

/// Three digits, as many behind the point as fit.
std::string short_number(double value) {
    constexpr double two_digits = 9.995;
    constexpr double three_digits = 99.95;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), value < two_digits ? "%.2f" : "%.1f", value);
    if (value >= three_digits) {
        std::snprintf(text.data(), text.size(), "%.0f", value);
    }
    std::string shown{text.data()};
    if (shown.find('.') != std::string::npos) {
        shown.erase(shown.find_last_not_of('0') + 1);
        if (shown.ends_with('.')) {
            shown.pop_back();
        }
    }
    return shown;
}

/// "4m05s": whole units and the next smaller ones.
std::string two_units(double seconds, double unit, const char* name, double part,
                      const char* part_name) {
    const double whole = std::floor(seconds / unit);
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.0f%s%02.0f%s", whole, name,
                  std::floor((seconds - whole * unit) / part), part_name);
    return text.data();
}

} // namespace

std::string length_text(double seconds) {
    constexpr double milli = 1e-3;
    constexpr double micro = 1e-6;
    constexpr double nano = 1e-9;
    constexpr double longest = 1e11; // three thousand years: "never"
    if (!(seconds > 0)) {
        return "0";
    }
    if (seconds >= longest) {
        return "never";
    }
    if (seconds < micro) {
        return short_number(seconds / nano) + "ns";
    }
    if (seconds < milli) {
        return short_number(seconds / micro) + "us";
    }
    if (seconds < 1) {
        return short_number(seconds / milli) + "ms";
    }
    if (seconds < minute) {
        return short_number(seconds) + "s";
    }
    return seconds < hour  ? two_units(seconds, minute, "m", 1, "s")
           : seconds < day ? two_units(seconds, hour, "h", minute, "m")
                           : two_units(seconds, day, "d", hour, "h");
}

std::string count_text(std::uint64_t count) {
    constexpr std::size_t group = 3;
    std::string text = std::to_string(count);
    for (std::size_t at = text.size(); at > group; at -= group) {
        text.insert(at - group, 1, ',');
    }
    return text;
}

std::string counted(std::uint64_t count, const std::string& noun) {
    return count_text(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string bytes_text(std::uint64_t bytes) {
    constexpr double unit = 1024;
    constexpr std::array names{"KiB", "MiB", "GiB", "TiB"};
    auto size = static_cast<double>(bytes);
    if (size < unit) {
        return std::to_string(bytes) + " B";
    }
    std::size_t at = 0;
    for (size /= unit; size >= unit && at + 1 < names.size(); ++at) {
        size /= unit;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f %s", size, names[at]);
    return text.data();
}

std::optional<double> rate_of(double before, double now, double seconds) {
    return seconds > 0 && now >= before ? std::optional{(now - before) / seconds} : std::nullopt;
}

std::string rate_text(const std::optional<double>& rate) {
    constexpr double shown_whole = 100;
    if (!rate) {
        return "-";
    }
    return *rate < shown_whole ? short_number(*rate)
                               : count_text(static_cast<std::uint64_t>(std::llround(*rate)));
}

} // namespace sessionq::cli
