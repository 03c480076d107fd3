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

Finding stopping_failure(std::string check, std::string found, std::string change) {
    return {.check = std::move(check),
            .verdict = Verdict::failed,
            .found = std::move(found),
            .change = std::move(change),
            .stops = true};
}

std::string words_of(const Failure& failure) {
    const std::string& words = failure.peer_text.empty() ? failure.detail : failure.peer_text;
    return words.empty() ? failure.to_string() : words;
}

Finding no_such_entity(const std::string& entity) {
    return stopping_failure("entity", "the broker has no '" + entity + "'",
                            "check the spelling of the entity (a subscription is "
                            "TOPIC/subscriptions/NAME), or create it");
}

Finding no_answer(std::string check, Duration took) {
    return stopping_failure(std::move(check),
                            "the broker did not answer within " + time_words(took),
                            "check that the broker is not frozen or overloaded");
}

double milliseconds_of(Duration time) noexcept {
    constexpr double rounding = 1000;
    const double milliseconds = std::chrono::duration<double, std::milli>(time).count();
    return std::round(milliseconds * rounding) / rounding;
}

double seconds_of(Duration time) noexcept {
    constexpr double milliseconds = 1000;
    return std::round(std::chrono::duration<double>(time).count() * milliseconds) / milliseconds;
}

std::string time_words(Duration time) {
    const double seconds = std::abs(std::chrono::duration<double>(time).count());
    struct Unit {
        double below; // seconds
        double length;
        const char* name;
    };
    constexpr double minute = 60;
    constexpr double hour = 60 * minute;
    constexpr double day = 24 * hour;
    constexpr Unit units[]{{1, 0.001, "ms"},
                           {2 * minute, 1, "s"},
                           {2 * hour, minute, "min"},
                           {2 * day, hour, "h"},
                           {HUGE_VAL, day, "days"}};
    const Unit* unit = units;
    while (seconds >= unit->below) {
        ++unit;
    }
    char text[32];
    const double shown = seconds / unit->length;
    std::snprintf(text, sizeof text, "%.*f", shown < 1 ? 2 : shown < 10 ? 1 : 0, shown);
    std::string digits{text};
    if (digits.find('.') != std::string::npos) {
        digits.erase(digits.find_last_not_of('0') + 1);
        digits.erase(digits.find_last_not_of('.') + 1);
    }
    return digits + " " + unit->name;
}

bool is_failure(const std::optional<Failure>& failure, Errc code) noexcept {
    return failure && failure->code == code;
}

} // namespace sessionq::cli
