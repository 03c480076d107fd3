#include <cstdio>
#include <cstdlib>
#include <exception>

#include <sessionq/error.hpp>

#include "tools/sessionq/commands.hpp"
#include "tools/sessionq/options.hpp"

int main(int count, char** arguments) {
    constexpr int failed = 1;
    constexpr int bad_usage = 2;
    try {
        const char* environment = std::getenv("SESSIONQ_CONNECTION");
        const auto parsed = sessionq::cli::parse_command_line(
            count, arguments, environment != nullptr ? environment : "");
        if (!parsed.help.empty()) {
            std::fputs(parsed.help.c_str(), stdout);
            return 0;
        }
        return sessionq::cli::run(parsed.options);
    } catch (const sessionq::cli::UsageError& error) {
        std::fprintf(stderr, "sessionq: %s\nTry 'sessionq --help'.\n", error.what());
        return bad_usage;
    } catch (const sessionq::Error& error) {
        std::fprintf(stderr, "sessionq: %s\n", error.what());
        const auto code = error.failure().code;
        return code == sessionq::Errc::invalid_argument || code == sessionq::Errc::invalid_option
                   ? bad_usage
                   : failed;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sessionq: %s\n", error.what());
        return failed;
    }
}
