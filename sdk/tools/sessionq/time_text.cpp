// SPDX-License-Identifier: MIT
#include "tools/sessionq/time_text.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace sessionq::cli {
namespace {

/// Reads fields of fixed width. It fails once and for all.
class Fields {
public:
    explicit Fields(std::string_view text) : rest_{text} {}

    int number(std::size_t digits, int least, int most) {
        int value = 0;
        const std::string_view field = take(digits);
        for (const char c : field) {
            valid_ = valid_ && c >= '0' && c <= '9';
            value = value * 10 + (c - '0');
        }
        valid_ = valid_ && value >= least && value <= most;
        return value;
    }
    char one_of(std::string_view characters) {
        const std::string_view field = take(1);
        valid_ = valid_ && characters.find(field) != std::string_view::npos;
        return valid_ ? field.front() : '\0';
    }
    std::string_view digits() {
        const std::size_t end = rest_.find_first_not_of("0123456789");
        const std::size_t size = end == std::string_view::npos ? rest_.size() : end;
        valid_ = valid_ && size != 0;
        return take(size);
    }
    [[nodiscard]] bool next_is(char wanted) const { return rest_.starts_with(wanted); }
    [[nodiscard]] bool valid() const { return valid_; }
    [[nodiscard]] bool at_end() const { return valid_ && rest_.empty(); }

private:
    std::string_view take(std::size_t size) {
        valid_ = valid_ && size <= rest_.size();
        const std::string_view field = valid_ ? rest_.substr(0, size) : std::string_view{};
        rest_.remove_prefix(field.size());
        return field;
    }

    std::string_view rest_;
    bool valid_{true};
};

/// The fraction of a second, to the nanosecond. Further digits have no effect.
std::chrono::nanoseconds fraction(std::string_view digits) {
    std::chrono::nanoseconds::rep value = 0;
    constexpr std::size_t places = 9;
    for (std::size_t i = 0; i < places; ++i) {
        value = value * 10 + (i < digits.size() ? digits[i] - '0' : 0);
    }
    return std::chrono::nanoseconds{value};
}

} // namespace

std::optional<Duration> parse_duration(std::string_view text) {
    double amount = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), amount, std::chars_format::fixed);
    const std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
    const double factor = unit == "ms"                  ? 1e6
                          : unit == "s"                 ? 1e9
                          : unit == "m"                 ? 60e9
                          : unit == "h"                 ? 3600e9
                          : unit == "d"                 ? 86'400e9
                          : unit.empty() && amount == 0 ? 1
                                                        : 0;
    constexpr double century = 36'525 * 86'400e9;
    if (error != std::errc{} || !(amount >= 0) || factor == 0 || amount * factor > century) {
        return std::nullopt;
    }
    return Duration{static_cast<Duration::rep>(amount * factor)};
}

std::string duration_text(std::chrono::milliseconds duration) {
    constexpr int thousand = 1000;
    const auto count = duration.count();
    return count % thousand == 0 ? std::to_string(count / thousand) + "s"
                                 : std::to_string(count) + "ms";
}

std::optional<WallTime> parse_time(std::string_view text) {
    namespace chrono = std::chrono;
    constexpr int first_year = 1700; // nanoseconds in 64 bits cover 1678 to 2261
    constexpr int last_year = 2250;
    Fields fields{text};
    const int year = fields.number(4, first_year, last_year);
    fields.one_of("-");
    const int month = fields.number(2, 1, 12);
    fields.one_of("-");
    const int day = fields.number(2, 1, 31);
    fields.one_of("Tt ");
    const int hour = fields.number(2, 0, 23);
    fields.one_of(":");
    const int minute = fields.number(2, 0, 59);
    fields.one_of(":");
    const int second = fields.number(2, 0, 59);
    chrono::nanoseconds part{};
    if (fields.next_is('.')) {
        fields.one_of(".");
        part = fraction(fields.digits());
    }
    const char zone = fields.one_of("Zz+-");
    chrono::minutes offset{};
    if (zone == '+' || zone == '-') {
        offset = chrono::hours{fields.number(2, 0, 23)};
        fields.one_of(":");
        offset += chrono::minutes{fields.number(2, 0, 59)};
    }
    const chrono::year_month_day date{chrono::year{year},
                                      chrono::month{static_cast<unsigned>(month)},
                                      chrono::day{static_cast<unsigned>(day)}};
    if (!fields.at_end() || !date.ok()) {
        return std::nullopt;
    }
    return chrono::time_point_cast<WallTime::duration>(
        chrono::sys_days{date} + chrono::hours{hour} + chrono::minutes{minute} +
        chrono::seconds{second} + part - (zone == '-' ? -offset : offset));
}

std::string time_text(WallTime time) {
    namespace chrono = std::chrono;
    const auto day = chrono::floor<chrono::days>(time);
    const chrono::year_month_day date{day};
    const chrono::hh_mm_ss clock{chrono::floor<chrono::milliseconds>(time - day)};
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                  static_cast<int>(clock.minutes().count()),
                  static_cast<int>(clock.seconds().count()));
    std::string result{text.data()};
    if (const auto part = clock.subseconds().count(); part != 0) {
        std::snprintf(text.data(), text.size(), ".%03d", static_cast<int>(part));
        result += text.data();
    }
    return result + "Z";
}

} // namespace sessionq::cli
