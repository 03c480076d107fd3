// SPDX-License-Identifier: MIT
// A TCP proxy that applies faults from a script or a seed to its connections.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <sessionq/wait_for_signal.hpp>

#include "faults/proxy.hpp"

int main(int count, char** arguments) {
    using namespace sessionq::faults;
    CLI::App app{"Faults on the way to a TCP server, by script or by seed. SIGINT or SIGTERM ends "
                 "it and prints the faults.",
                 "fault_proxy"};
    ProxySettings settings;
    CampaignPlan plan;
    std::string script_file;
    unsigned seconds = 180;
    bool prints = false;
    app.add_option("--listen", settings.listen_port,
                   "Port on loopback to listen on; default: any free port");
    app.add_option("--host", settings.host, "Numeric address to connect to")->capture_default_str();
    app.add_option("--port", settings.port, "Port to connect to")->required();
    app.add_option(
        "--script", script_file,
        "File with one fault per line: TIME KIND [conns=N|all] [way=up|down|both] "
        "[for=TIME] [delay=TIME] [jitter=TIME] [rate=BYTES]. A fault meets the connections "
        "that there are at its TIME");
    app.add_option("--seed", plan.seed, "Seed of the random faults and victims")
        ->capture_default_str();
    app.add_option("--faults", plan.faults, "Without a script: number of faults")
        ->capture_default_str();
    app.add_option("--seconds", seconds, "Without a script: seconds with faults")
        ->capture_default_str();
    app.add_flag("--print", prints, "Print the script");
    try {
        app.parse(count, arguments);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        plan.length = std::chrono::seconds{seconds};
        settings.seed = plan.seed;
        settings.script = script_file.empty() ? draw_campaign(plan) : read_script(script_file);
        if (prints) {
            std::fputs(to_text(settings.script).c_str(), stdout);
        }
        Proxy proxy{std::move(settings)};
        std::printf("fault_proxy listens on 127.0.0.1:%u\n", proxy.port());
        std::fflush(stdout);
        proxy.start();
        sessionq::wait_for_signal();
        for (const auto& [kind, times] : proxy.counts()) {
            std::printf("%.*s %llu\n", static_cast<int>(to_string(kind).size()),
                        to_string(kind).data(), static_cast<unsigned long long>(times));
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fault_proxy: %s\n", error.what());
        return 1;
    }
}
