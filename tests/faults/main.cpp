// Campaigns of faults against the client and the local broker; what was drawn is printed when something is wrong, so that it can be run again.
#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>

#include <CLI/CLI.hpp>

#include "core/log.hpp"
#include "faults/network_campaign.hpp"

namespace {

using namespace sessionq;
using namespace sessionq::faults;

int conclude(const Verdict& verdict, const std::string& how, const std::string& script) {
    for (const std::string& figure : verdict.figures) {
        std::printf("%s\n", figure.c_str());
    }
    if (verdict.complaints.empty()) {
        std::printf("%s: all as it must be\n", how.c_str());
        return 0;
    }
    std::printf("%s: %zu complaints\n", how.c_str(), verdict.complaints.size());
    for (const std::string& complaint : verdict.complaints) {
        std::printf("  %s\n", complaint.c_str());
    }
    if (!script.empty()) {
        std::printf("the script:\n%s", script.c_str());
    }
    return 1;
}

std::string read_file(const std::string& name) {
    std::ifstream file{name};
    if (!file) {
        throw std::runtime_error{"cannot read '" + name + "'"};
    }
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

} // namespace

int main(int count, char** arguments) {
    CLI::App app{"Faults between clients and the local broker", "faults"};
    app.require_subcommand(1);
    std::uint64_t seed = 1;
    unsigned seconds = 180;
    std::size_t faults = 240;
    std::string script_file;
    CLI::App& network = *app.add_subcommand("network", "Connections are cut, stalled, delayed, throttled, swallowed while messages flow");
    network.add_option("--seed", seed, "What is drawn")->capture_default_str();
    network.add_option("--seconds", seconds, "How long messages flow")->check(CLI::Range(3, 36'000))->capture_default_str();
    network.add_option("--faults", faults, "How many")->capture_default_str();
    network.add_option("--script", script_file, "Faults from a file, not drawn");
    try {
        app.parse(count, arguments);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        const std::chrono::seconds length{seconds};
        const std::string how = "seed " + std::to_string(seed) + ", " + std::to_string(seconds) + " s";
        const Script script =
            script_file.empty() ? draw_campaign({.seed = seed, .faults = faults, .length = length}) : parse_script(read_file(script_file));
        return conclude(run_network_campaign({.script = script, .seed = seed, .length = length}), how, to_text(script));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "faults: %s\n", error.what());
        return 1;
    }
}
