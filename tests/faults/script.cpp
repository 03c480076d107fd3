// SPDX-License-Identifier: MIT
#include "faults/script.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

#include "core/random.hpp"

namespace sessionq::faults {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// The options of a kind of fault. conns and way are optional, the others required.
struct Form {
    std::string_view name;
    bool conns;
    bool way;
    bool length;
    bool delay;
    bool rate;
};

// In the order of FaultKind.
constexpr std::array<Form, fault_kinds> forms{{
    {"reset", true, false, false, false, false},
    {"finish", true, false, false, false, false},
    {"half-close", true, true, false, false, false},
    {"stall", true, true, true, false, false},
    {"delay", true, true, true, true, false},
    {"throttle", true, true, true, false, true},
    {"trickle", true, true, true, false, false},
    {"black-hole", true, false, false, false, false},
    {"clog", true, false, true, false, false},
    {"refuse", false, false, true, false, false},
    {"reject", false, false, true, false, false},
    {"swallow", false, false, true, false, false},
}};
constexpr std::array<std::string_view, 3> ways{"up", "down", "both"};

const Form& form_of(FaultKind kind) { return forms.at(static_cast<std::size_t>(kind)); }

class LineReader {
public:
    LineReader(std::string_view line, std::size_t number) : rest_{line}, number_{number} {}

    [[nodiscard]] std::string_view word() {
        const std::size_t begin = rest_.find_first_not_of(" \t\r");
        rest_.remove_prefix(std::min(begin, rest_.size()));
        const std::string_view found = rest_.substr(0, rest_.find_first_of(" \t\r"));
        rest_.remove_prefix(found.size());
        return found;
    }

    [[noreturn]] void refuse(const std::string& why) const {
        throw ScriptError{"line " + std::to_string(number_) + ": " + why};
    }

    [[nodiscard]] std::uint64_t number(std::string_view text) const {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size() || value == 0) {
            refuse("'" + std::string{text} + "' is not a positive number");
        }
        return value;
    }

    [[nodiscard]] Duration time(std::string_view text) const {
        constexpr std::uint64_t most = 1'000'000'000'000; // microseconds
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
        const std::uint64_t scale = unit == "us"   ? 1
                                    : unit == "ms" ? 1000
                                    : unit == "s"  ? 1'000'000
                                                   : 0;
        if (error != std::errc{} || scale == 0 || value > most / scale) {
            refuse("'" + std::string{text} + "' is not a time in us, ms or s");
        }
        return microseconds{value * scale};
    }

private:
    std::string_view rest_;
    std::size_t number_;
};

void read_option(LineReader& line, std::string_view word, Fault& fault, bool& has_delay) {
    const Form& form = form_of(fault.kind);
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1);
    if (key == "conns" && form.conns) {
        fault.count = value == "all" ? 0 : line.number(value);
    } else if (key == "way" && form.way) {
        const auto* const found = std::find(ways.begin(), ways.end(), value);
        if (found == ways.end()) {
            line.refuse("'" + std::string{value} + "' is not up, down or both");
        }
        fault.way = static_cast<Way>(found - ways.begin());
    } else if (key == "for" && form.length) {
        fault.length = line.time(value);
    } else if (key == "delay" && form.delay) {
        fault.delay = line.time(value);
        has_delay = true;
    } else if (key == "jitter" && form.delay) {
        fault.jitter = line.time(value);
    } else if (key == "rate" && form.rate) {
        fault.rate = line.number(value);
    } else {
        line.refuse("'" + std::string{word} + "' is an option that " + std::string{form.name} +
                    " does not take");
    }
}

std::optional<Fault> read_line(std::string_view text, std::size_t number) {
    LineReader line{text.substr(0, text.find('#')), number};
    const std::string_view at = line.word();
    if (at.empty()) {
        return std::nullopt;
    }
    Fault fault{.at = line.time(at)};
    const std::string_view name = line.word();
    const auto* const found = std::find_if(forms.begin(), forms.end(),
                                           [name](const Form& form) { return form.name == name; });
    if (found == forms.end()) {
        line.refuse("'" + std::string{name} + "' is not a kind of fault");
    }
    fault.kind = static_cast<FaultKind>(found - forms.begin());
    bool has_delay = false;
    for (std::string_view word = line.word(); !word.empty(); word = line.word()) {
        read_option(line, word, fault, has_delay);
    }
    const auto need = [&](bool needed, bool there, const char* key) {
        if (needed && !there) {
            line.refuse(std::string{name} + " needs " + key + "=");
        }
    };
    need(found->length, fault.length > Duration::zero(), "for");
    need(found->delay, has_delay, "delay");
    need(found->rate, fault.rate != 0, "rate");
    return fault;
}

std::string time_text(Duration time) {
    const auto us = std::chrono::duration_cast<microseconds>(time).count();
    return us % 1000 == 0 ? std::to_string(us / 1000) + "ms" : std::to_string(us) + "us";
}

void sort_by_time(Script& script) {
    std::stable_sort(script.begin(), script.end(),
                     [](const Fault& a, const Fault& b) { return a.at < b.at; });
}

/// The relative frequency of each kind, in the order of FaultKind.
constexpr std::array<std::uint64_t, fault_kinds> weights{14, 12, 8, 12, 10, 8, 6, 8, 8, 5, 5, 4};

FaultKind draw_kind(core::Random& random) {
    std::uint64_t all = 0;
    for (const std::uint64_t weight : weights) {
        all += weight;
    }
    std::uint64_t drawn = random.below(all);
    std::size_t kind = 0;
    while (drawn >= weights.at(kind)) {
        drawn -= weights.at(kind++);
    }
    return static_cast<FaultKind>(kind);
}

} // namespace

Script parse_script(std::string_view text) {
    Script script;
    std::size_t number = 0;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        if (const auto fault = read_line(line, ++number)) {
            script.push_back(*fault);
        }
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    sort_by_time(script);
    return script;
}

Script read_script(const std::string& file) {
    std::ifstream stream{file};
    if (!stream) {
        throw ScriptError{"cannot read '" + file + "'"};
    }
    std::ostringstream text;
    text << stream.rdbuf();
    return parse_script(text.str());
}

std::string to_text(const Script& script) {
    std::string text;
    for (const Fault& fault : script) {
        const Form& form = form_of(fault.kind);
        text += time_text(fault.at) + " " + std::string{form.name};
        if (form.conns) {
            text +=
                " conns=" + (fault.count == 0 ? std::string{"all"} : std::to_string(fault.count));
        }
        if (form.way) {
            text += " way=" + std::string{ways.at(static_cast<std::size_t>(fault.way))};
        }
        if (form.length) {
            text += " for=" + time_text(fault.length);
        }
        if (form.delay) {
            text += " delay=" + time_text(fault.delay) + " jitter=" + time_text(fault.jitter);
        }
        if (form.rate) {
            text += " rate=" + std::to_string(fault.rate);
        }
        text += '\n';
    }
    return text;
}

std::string_view to_string(FaultKind kind) noexcept { return form_of(kind).name; }

Script draw_campaign(const CampaignPlan& plan) {
    core::Random random{plan.seed};
    const auto between = [&](std::int64_t low, std::int64_t high) { // milliseconds
        return milliseconds{low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(
                                      std::max<std::int64_t>(high - low, 0) + 1)))};
    };
    const std::int64_t length = std::chrono::duration_cast<milliseconds>(plan.length).count();
    const std::int64_t longest = std::chrono::duration_cast<milliseconds>(plan.longest).count();
    Script script;
    for (std::size_t i = 0; i < plan.faults; ++i) {
        Fault fault{.kind = draw_kind(random), .at = between(0, length)};
        const Form& form = form_of(fault.kind);
        if (form.conns) {
            fault.count = random.below(10) == 0 ? 0 : 1 + random.below(3);
        }
        if (form.way) {
            fault.way = static_cast<Way>(random.below(3));
        }
        if (form.length) {
            fault.length = between(50, longest);
        }
        if (form.delay) {
            fault.delay = between(5, 200);
            fault.jitter = between(0, 200);
        }
        if (form.rate) {
            fault.rate = 500 + random.below(20'000);
        }
        script.push_back(fault);
    }
    sort_by_time(script);
    return script;
}

} // namespace sessionq::faults
