// SPDX-License-Identifier: MIT
// The main job on real input. Every record of a file becomes a message. A field of the record names
// its session. A SessionProcessor on the embedded broker handles every session in order, many
// sessions at once.
//
//   replay --input orders.csv --session-key customer --concurrent-sessions 64
//
// Exit codes: 0 if every record was handled, once and in order; 1 if not, or if the run failed;
// 2 if the input or an option is unusable.

#include <exception>
#include <iostream>
#include <string>
#include <variant>

#include <sessionq/sessionq.hpp>

#include "input_error.hpp"
#include "options.hpp"
#include "replay_run.hpp"
#include "report.hpp"

namespace {

int run(const replay::Options& options) {
    const replay::Run run = replay::replay_file(options);
    if (options.outcome) {
        constexpr std::size_t rows = 20;
        replay::write_outcomes(std::cout, run.outcomes, rows);
    }
    replay::write_text(std::cout, run.report);
    for (const std::string& error : run.errors) {
        std::cerr << "replay: " << error << '\n';
    }
    if (options.json) {
        replay::write_json(std::cout, run.report);
    }
    return run.report.figures.faultless() && run.errors.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const auto parsed = replay::parse_options(argc, argv);
        if (const auto* help = std::get_if<std::string>(&parsed)) {
            std::cout << *help;
            return 0;
        }
        return run(std::get<replay::Options>(parsed));
    } catch (const replay::InputError& error) {
        std::cerr << "replay: " << error.what() << '\n';
        return 2;
    } catch (const sessionq::Error& error) {
        std::cerr << "replay: " << error.what() << '\n';
        return error.code() == sessionq::Errc::invalid_option ? 2 : 1;
    } catch (const std::exception& error) {
        std::cerr << "replay: " << error.what() << '\n';
        return 1;
    }
}
