// SPDX-License-Identifier: MIT
#include "tools/sessionq/time_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "amqp/codec/value.hpp"

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

/// The length of a unit in nanoseconds, or zero.
double unit_of(std::string_view name) {
    return name == "ms"  ? 1e6
           : name == "s" ? 1e9
           : name == "m" ? 60e9
           : name == "h" ? 3600e9
           : name == "d" ? 86'400e9
                         : 0;
}

struct Amount {
    double number{0};
    double unit{0}; ///< in nanoseconds
};

std::optional<Amount> parse_amount(std::string_view text) {
    Amount amount;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount.number,
                                              std::chars_format::fixed);
    const std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
    amount.unit = unit.empty() && amount.number == 0 ? 1 : unit_of(unit);
    return error == std::errc{} && amount.number >= 0 && amount.unit != 0 ? std::optional{amount}
                                                                          : std::nullopt;
}

struct SplitTime {
    std::chrono::sys_seconds second{};
    std::chrono::nanoseconds part{};
};

std::optional<SplitTime> split_time(std::string_view text) {
    namespace chrono = std::chrono;
    Fields fields{text};
    const int year = fields.number(4, 1, 9999);
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
    return SplitTime{chrono::sys_days{date} + chrono::hours{hour} + chrono::minutes{minute} +
                         chrono::seconds{second} - (zone == '-' ? -offset : offset),
                     part};
}

constexpr std::chrono::seconds year_one_to_epoch{62'135'596'800};
constexpr TimeSpan years_1_to_9999{3'155'378'976'000'000'000};

std::string padded(std::int64_t number, int digits) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%0*lld", digits, static_cast<long long>(number));
    return text.data();
}

/// ".123", ".1234567" or nothing.
std::string fraction_text(std::int64_t ticks, int shortest) {
    constexpr std::int64_t ticks_a_millisecond = 10'000;
    if (ticks == 0) {
        return {};
    }
    return ticks % ticks_a_millisecond == 0 && shortest == 3
               ? "." + padded(ticks / ticks_a_millisecond, 3)
               : "." + padded(ticks, 7);
}

} // namespace

std::optional<Duration> parse_duration(std::string_view text) {
    const auto amount = parse_amount(text);
    constexpr double century = 36'525 * 86'400e9;
    const double length = amount ? amount->number * amount->unit : century + 1e9;
    return length <= century ? std::optional{Duration{static_cast<Duration::rep>(length)}}
                             : std::nullopt;
}

std::optional<std::chrono::milliseconds> parse_milliseconds(std::string_view text) {
    const auto amount = parse_amount(text);
    constexpr double longest = 9e18;
    const double length = amount ? std::ceil(amount->number * (amount->unit / 1e6)) : longest + 1e9;
    return length <= longest
               ? std::optional{std::chrono::milliseconds{static_cast<std::int64_t>(length)}}
               : std::nullopt;
}

std::string duration_text(std::chrono::milliseconds duration) {
    constexpr int thousand = 1000;
    const auto count = duration.count();
    return count % thousand == 0 ? std::to_string(count / thousand) + "s"
                                 : std::to_string(count) + "ms";
}

std::optional<WallTime> parse_time(std::string_view text) {
    const auto split = split_time(text);
    if (!split) {
        return std::nullopt;
    }
    // A second less than the clock holds, so that the fraction fits.
    constexpr auto first = std::chrono::ceil<std::chrono::seconds>(WallTime::min());
    constexpr auto last =
        std::chrono::floor<std::chrono::seconds>(WallTime::max()) - std::chrono::seconds{1};
    if (split->second < first || split->second > last) {
        return split->second < first ? WallTime::min() : WallTime::max();
    }
    return WallTime{split->second} + split->part;
}

std::optional<DateTimeOffset> parse_instant(std::string_view text) {
    const auto split = split_time(text);
    if (!split) {
        return std::nullopt;
    }
    const TimeSpan since = split->second.time_since_epoch() + year_one_to_epoch +
                           std::chrono::floor<TimeSpan>(split->part);
    return since >= TimeSpan::zero() && since < years_1_to_9999
               ? std::optional{DateTimeOffset{since}}
               : std::nullopt;
}

std::string time_text(WallTime time) {
    const std::chrono::milliseconds since{amqp::Timestamp::of(time).milliseconds};
    return instant_text(*instant_of(since)).value();
}

std::optional<std::string> instant_text(const DateTimeOffset& instant) {
    namespace chrono = std::chrono;
    if (instant.since < TimeSpan::zero() || instant.since >= years_1_to_9999) {
        return std::nullopt;
    }
    const chrono::sys_time<TimeSpan> time{instant.since - year_one_to_epoch};
    const auto day = chrono::floor<chrono::days>(time);
    const chrono::year_month_day date{day};
    const chrono::hh_mm_ss clock{time - day};
    return padded(static_cast<int>(date.year()), 4) + "-" +
           padded(static_cast<unsigned>(date.month()), 2) + "-" +
           padded(static_cast<unsigned>(date.day()), 2) + "T" + padded(clock.hours().count(), 2) +
           ":" + padded(clock.minutes().count(), 2) + ":" + padded(clock.seconds().count(), 2) +
           fraction_text(clock.subseconds().count(), 3) + "Z";
}

std::optional<TimeSpan> parse_time_span(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    text.remove_prefix(is_negative ? 1 : 0);
    // The part before the first colon: "[d.]hh".
    const std::size_t dot = text.substr(0, text.find(':')).find('.');
    std::int64_t days = 0;
    if (dot != std::string_view::npos) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + dot, days);
        constexpr std::int64_t most_days = 10'675'199;
        if (error != std::errc{} || end != text.data() + dot || days < 0 || days > most_days) {
            return std::nullopt;
        }
        text.remove_prefix(dot + 1);
    }
    Fields fields{text};
    std::chrono::seconds seconds = std::chrono::hours{24 * days};
    seconds += std::chrono::hours{fields.number(2, 0, 23)};
    fields.one_of(":");
    seconds += std::chrono::minutes{fields.number(2, 0, 59)};
    fields.one_of(":");
    seconds += std::chrono::seconds{fields.number(2, 0, 59)};
    TimeSpan part{};
    if (fields.next_is('.')) {
        fields.one_of(".");
        part = std::chrono::floor<TimeSpan>(fraction(fields.digits()));
    }
    // Negative first, because the lowest has no positive.
    std::int64_t ticks = 0;
    const bool fits = !__builtin_mul_overflow(-seconds.count(), TimeSpan::period::den, &ticks) &&
                      !__builtin_sub_overflow(ticks, part.count(), &ticks) &&
                      (is_negative || ticks != std::numeric_limits<std::int64_t>::min());
    return fields.at_end() && fits ? std::optional{TimeSpan{is_negative ? ticks : -ticks}}
                                   : std::nullopt;
}

std::string time_span_text(TimeSpan span) {
    constexpr std::int64_t minute = 60;
    constexpr std::int64_t day = 24 * 60 * minute;
    const auto second = TimeSpan::period::den;
    // The signs of quotient and remainder agree, and the lowest has no positive.
    const std::int64_t seconds = std::abs(span.count() / second);
    const std::int64_t part = std::abs(span.count() % second);
    const std::int64_t of_day = seconds % day;
    return std::string{span.count() < 0 ? "-" : ""} +
           (seconds >= day ? std::to_string(seconds / day) + "." : "") +
           padded(of_day / (60 * minute), 2) + ":" + padded(of_day / minute % 60, 2) + ":" +
           padded(of_day % minute, 2) + fraction_text(part, 7);
}

std::optional<DateTimeOffset> instant_of(std::chrono::milliseconds since_1970) {
    constexpr std::chrono::milliseconds first = -year_one_to_epoch;
    constexpr auto last =
        std::chrono::floor<std::chrono::milliseconds>(years_1_to_9999) - year_one_to_epoch;
    return since_1970 >= first && since_1970 < last
               ? std::optional{DateTimeOffset{TimeSpan{since_1970} + year_one_to_epoch}}
               : std::nullopt;
}

} // namespace sessionq::cli
