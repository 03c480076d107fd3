// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <array>
#include <charconv>
#include <utility>

#include <CLI/CLI.hpp>

#include <sessionq/version.hpp>

#include "input_error.hpp"

namespace replay {

namespace {

using std::chrono::nanoseconds;

std::uint32_t parse_count(const std::string& option, const std::string& text, std::uint32_t most) {
    std::uint32_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size() || count < 1 || count > most) {
        throw CLI::ValidationError{option, "'" + text + "' is not a whole number from 1 to " +
                                               std::to_string(most)};
    }
    return count;
}

void add_count(CLI::App& app, const std::string& name, std::uint32_t& target, std::uint32_t most,
               const std::string& help) {
    app.add_option_function<std::string>(
           name,
           [name, most, &target](const std::string& text) {
               target = parse_count(name, text, most);
           },
           help)
        ->type_name("N");
}

void add_duration(CLI::App& app, const std::string& name, nanoseconds& target,
                  const std::string& help) {
    const auto parse = [name, &target](const std::string& text) {
        const auto length = parse_duration(text);
        if (!length) {
            throw CLI::ValidationError{
                name,
                "'" + text +
                    "' is not a duration of at most a day; write for example 200ms, 1.5s or 0"};
        }
        target = *length;
    };
    app.add_option_function<std::string>(name, parse, help)->type_name("DURATION");
}

} // namespace

std::optional<nanoseconds> parse_duration(std::string_view text) noexcept {
    double amount = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), amount, std::chars_format::fixed);
    if (error != std::errc{} || !(amount >= 0)) {
        return std::nullopt;
    }
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    if (unit.empty() && amount == 0) {
        return nanoseconds{0};
    }
    constexpr std::array<std::pair<std::string_view, double>, 5> units{
        {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};
    constexpr double day = 24 * 3600e9;
    for (const auto& [name, length] : units) {
        if (unit == name && amount * length <= day) {
            return nanoseconds{static_cast<nanoseconds::rep>(amount * length)};
        }
    }
    return std::nullopt;
}

std::variant<Options, std::string> parse_options(int argc, const char* const* argv) {
    Options options;
    CLI::App app{"Replays records as messages: one session per value of a field, every session in "
                 "order, many sessions at once.",
                 "replay"};
    app.add_option("--input", options.input, "File of JSON Lines, or CSV with a header row")
        ->type_name("FILE")
        ->required();
    app.add_option("--session-key", options.session_key, "Field whose value is the session id")
        ->type_name("FIELD")
        ->required();
    app.add_option("--outcome", options.outcome,
                   "Also show the last value of this field per session")
        ->type_name("FIELD");
    add_count(app, "--concurrent-sessions", options.concurrent_sessions, 100'000,
              "Sessions held at once (1024)");
    add_count(app, "--calls-per-session", options.calls_per_session, 10'000,
              "Handlers of one session at once (1: strictly in order)");
    add_duration(app, "--idle-timeout", options.idle_timeout,
                 "Idle time before a session is left; 0: as soon as it is empty (200ms)");
    add_count(app, "--workers", options.workers, 1'024, "Handler threads (one per core)");
    add_duration(app, "--handler-time", options.handler_time, "Time each handler takes (0ms)");
    app.add_option("--connection", options.connection,
                   "Connection string of a broker; its queue must exist, with sessions (a broker "
                   "in this process)")
        ->type_name("STRING");
    app.add_option("--entity", options.entity, "The queue (records)")->type_name("NAME");
    app.add_flag("--json", options.json, "End with the figures as one line of JSON");
    std::string version = "replay ";
    version += sessionq::version().text;
    app.set_version_flag("--version", version, "Print the version and exit");
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        return app.help();
    } catch (const CLI::CallForVersion&) {
        return version + "\n";
    } catch (const CLI::ExtrasError&) { // its text repeats words that may be secret
        std::string names;
        for (const std::string& word : app.remaining()) {
            if (word.starts_with('-')) {
                names += word.substr(0, word.find('=')) + ": ";
            }
        }
        throw InputError{names.empty() ? "there are more arguments than expected"
                                       : names + "no such option"};
    } catch (const CLI::ParseError& error) {
        throw InputError{error.what()};
    }
    return options;
}

} // namespace replay
