// SPDX-License-Identifier: MIT
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <sessionq/error.hpp>
#include <sessionq/logging.hpp>

#include "tools/sessionq/commands.hpp"
#include "tools/sessionq/option_words.hpp"
#include "tools/sessionq/options.hpp"
#include "tools/sessionq/output.hpp"

int main(int count, char** arguments) {
    constexpr int failed = 1;
    constexpr int bad_usage = 2;
    sessionq::set_log_level(sessionq::LogLevel::error); // commands tell their failures themselves
    std::signal(SIGPIPE, SIG_IGN); // so that sessions are given back before the program ends
    try {
        const char* environment = std::getenv("SESSIONQ_CONNECTION");
        return sessionq::cli::run(sessionq::cli::parse_command_line(
            count, arguments, environment != nullptr ? environment : ""));
    } catch (const sessionq::cli::UsageError& error) {
        std::fprintf(stderr, "sessionq: %s\nTry 'sessionq --help'.\n", error.what());
        return bad_usage;
    } catch (const sessionq::cli::OutputError& error) {
        sessionq::cli::end_program(error);
    } catch (const sessionq::Error& error) {
        std::fprintf(stderr, "sessionq: %s\n",
                     sessionq::cli::in_words_of_options(error.what()).c_str());
        const auto code = error.failure().code;
        return code == sessionq::Errc::invalid_argument || code == sessionq::Errc::invalid_option
                   ? bad_usage
                   : failed;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sessionq: %s\n", error.what());
        return failed;
    }
}
