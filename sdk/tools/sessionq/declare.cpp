// SPDX-License-Identifier: MIT
#include "tools/sessionq/declare.hpp"

#include <charconv>

#include "tools/nearest_word.hpp"
#include "tools/sessionq/time_text.hpp"

namespace sessionq::cli {

CLI::Option& add_entity(CLI::App& command, std::string& target, const char* help) {
    return *command.add_option("ENTITY", target, help)->required();
}

CLI::Option& add_session(CLI::App& command, std::optional<std::string>& target, const char* help) {
    return *command.add_option("--session", target, help)->type_name("ID");
}

CLI::Option& add_duration(CLI::App& command, const char* name,
                          const std::function<void(Duration)>& set, Duration longest,
                          const char* help) {
    const auto parse = [name, set, longest](const std::string& text) {
        const auto duration = parse_duration(text);
        if (!duration || *duration > longest) {
            throw UsageError{
                std::string{name} + ": '" + text + "' is not a duration of at most " +
                duration_text(std::chrono::duration_cast<std::chrono::milliseconds>(longest)) +
                "; for example 200ms, 1.5s, 2m or 0"};
        }
        set(*duration);
    };
    return *command.add_option_function<std::string>(name, parse, help)->type_name("DURATION");
}

CLI::Option& add_time(CLI::App& command, const char* name, const std::function<void(WallTime)>& set,
                      const char* help) {
    const auto parse = [name, set](const std::string& text) {
        const auto time = parse_time(text);
        if (!time) {
            throw UsageError{std::string{name} + ": '" + text +
                             "' is not a time such as 2026-01-31T12:00:00Z"};
        }
        set(*time);
    };
    return *command.add_option_function<std::string>(name, parse, help)->type_name("TIME");
}

CLI::Option& add_time_or_age(CLI::App& command, const char* name,
                             const std::function<void(TimeOrAge)>& set, Duration longest,
                             const char* help) {
    const auto parse = [name, set, longest](const std::string& text) {
        if (const auto time = parse_time(text)) {
            set(*time);
            return;
        }
        const auto age = parse_duration(text);
        if (!age || *age > longest) {
            throw UsageError{std::string{name} + ": '" + text +
                             "' is no time such as 2026-01-31T12:00:00Z, and no age such as 2h "
                             "or 7d"};
        }
        set(*age);
    };
    return *command.add_option_function<std::string>(name, parse, help)->type_name("TIME|DURATION");
}

// CLI11 takes an empty text for zero, and -1 for a large number.
CLI::Option& add_count(CLI::App& command, const char* name,
                       const std::function<void(std::uint32_t)>& set, const char* help) {
    const auto parse = [name, set](const std::string& text) {
        std::uint32_t count = 0;
        const char* const end = text.data() + text.size();
        const auto [stopped, fault] = std::from_chars(text.data(), end, count);
        if (fault != std::errc{} || stopped != end) {
            throw UsageError{std::string{name} + ": '" + text +
                             "' is not a number from 0 to 4294967295"};
        }
        set(count);
    };
    return *command.add_option_function<std::string>(name, parse, help)->type_name("N");
}

void refuse_choice(const std::string& option, const std::string& text,
                   const std::vector<std::string>& choices) {
    throw UsageError{option + ": '" + text + "' is not one of " + CLI::detail::join(choices, ", ") +
                     tools::did_you_mean(text, choices)};
}

CLI::Option& add_numbers(CLI::App& command, const char* name, std::vector<std::int64_t>& target,
                         const char* help) {
    CLI::Option* option = command.add_option(name, target, help)->type_name("NUMBER")->take_all();
    if (std::string_view{name}.starts_with('-')) {
        option->allow_extra_args(false);
    }
    return *option;
}

} // namespace sessionq::cli
