// A TCP proxy that does to the connections through it what a script says, or what is drawn from a seed.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <sessionq/wait_for_signal.hpp>

#include "faults/proxy.hpp"

int main(int count, char** arguments) {
    using namespace sessionq::faults;
    CLI::App app{"Faults on the way to a TCP server, by script or by seed. Ends with SIGINT or "
                 "SIGTERM and says what happened.",
                 "fault_proxy"};
    ProxySettings settings;
    CampaignPlan plan;
    std::string script_file;
    unsigned seconds = 180;
    bool prints = false;
    app.add_option("--listen", settings.listen_port,
                   "Port to listen on, on loopback; one that is free if not given");
    app.add_option("--host", settings.host, "Where connections go: a numeric address")
        ->capture_default_str();
    app.add_option("--port", settings.port, "Where connections go")->required();
    app.add_option("--script", script_file,
                   "A fault a line: TIME KIND [conns=N|all] [way=up|down|both] [for=TIME] "
                   "[delay=TIME] [jitter=TIME] [rate=BYTES]");
    app.add_option("--seed", plan.seed, "Without a script: what is drawn, and who is hit")
        ->capture_default_str();
    app.add_option("--faults", plan.faults, "Without a script: how many")->capture_default_str();
    app.add_option("--seconds", seconds, "Without a script: over which time")
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
