// SPDX-License-Identifier: MIT
// Campaigns of faults against the client and the local broker. A failed run prints its seed and
// script, so that it can be repeated.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "faults/kill_campaign.hpp"
#include "faults/network_campaign.hpp"
#include "faults/operations_campaign.hpp"
#include "faults/poison_campaign.hpp"

namespace {

using namespace sessionq;
using namespace sessionq::faults;

int conclude(const Verdict& verdict, const std::string& how, const std::string& script) {
    for (const std::string& figure : verdict.figures) {
        std::printf("%s\n", figure.c_str());
    }
    if (verdict.complaints.empty()) {
        std::printf("%s: no complaints\n", how.c_str());
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

void check_program(const std::string& program) {
    if (::access(program.c_str(), X_OK) != 0) {
        throw std::runtime_error{"no such program: '" + program + "'"};
    }
}

} // namespace

int main(int count, char** arguments) {
    CLI::App app{"Faults between clients and the local broker", "faults"};
    app.require_subcommand(1);
    std::uint64_t seed = 1;

    unsigned seconds = 180;
    std::size_t faults = 240;
    std::string script_file;
    CLI::App& network = *app.add_subcommand(
        "network",
        "Connections are cut, stalled, delayed, throttled or swallowed while messages flow");
    network.add_option("--seed", seed, "Seed of the random script")->capture_default_str();
    network.add_option("--seconds", seconds, "Seconds that messages flow")
        ->check(CLI::Range(3, 36'000))
        ->capture_default_str();
    network.add_option("--faults", faults, "Number of faults")->capture_default_str();
    network.add_option("--script", script_file, "File with the faults; without it they are random");

    std::string events_file;
    network.add_option("--events", events_file,
                       "File for the consumers' events, one per line, for analysis");

    KillCampaignOptions killing;
    CLI::App& kill = *app.add_subcommand(
        "kill", "Consumer processes are killed with SIGKILL while messages flow");
    CLI::App& suspend = *app.add_subcommand(
        "suspend", "Consumers are suspended for longer than their locks last, then resumed");
    for (CLI::App* each : {&kill, &suspend}) {
        each->add_option("--seed", killing.seed, "Seed of random choices")->capture_default_str();
        each->add_option("--rounds", killing.rounds, "Number of rounds")->capture_default_str();
        each->add_option("--sessionqd", killing.sessionqd, "The broker's program")->required();
        each->add_option("--directory", killing.directory,
                         "Directory for logs and data; its contents are removed")
            ->required();
    }
    kill.add_flag("--broker", killing.kills_broker, "Kill the broker in every second round");

    OperationsCampaignOptions operating;
    CLI::App& operations = *app.add_subcommand(
        "operations", "The broker is killed with SIGKILL during every kind of operation");
    operations.add_option("--seed", operating.seed, "Seed of random choices")
        ->capture_default_str();
    operations.add_option("--rounds", operating.rounds, "Number of rounds")->capture_default_str();
    operations.add_option("--workers", operating.workers, "Number of workers at the same time")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    operations.add_option("--sessionqd", operating.sessionqd, "The broker's program")->required();
    operations
        .add_option("--directory", operating.directory,
                    "Directory for data; its contents are removed")
        ->required();

    PoisonCampaignOptions poisoning;
    CLI::App& poisoned = *app.add_subcommand(
        "poison", "Messages kill their consumers with SIGKILL until a crash guard has them out");
    poisoned.add_option("--seed", poisoning.seed, "Seed of random choices")->capture_default_str();
    poisoned.add_option("--rounds", poisoning.rounds, "Number of rounds")->capture_default_str();
    poisoned.add_option("--deaths", poisoning.deaths, "Consumers that a message may kill")
        ->check(CLI::Range(2, 1000))
        ->capture_default_str();
    poisoned.add_option("--sessionqd", poisoning.sessionqd, "The broker's program")->required();
    poisoned
        .add_option("--directory", poisoning.directory,
                    "Directory for logs; its contents are removed")
        ->required();

    ConsumerOptions consuming;
    std::string log_file;
    CLI::App& consume = *app.add_subcommand("consume", "Runs a consumer for kill and suspend");
    consume.add_option("connection", consuming.connection)->required();
    consume.add_option("entity", consuming.entity)->required();
    consume.add_option("log", log_file)->required();
    consume.add_option("holder", consuming.holder)->required();
    consume.add_option("seed", consuming.seed)->required();
    consume.add_flag("--confirms", consuming.confirms);
    CLI::App& consume_poison = *app.add_subcommand("consume-poison", "Runs a consumer for poison");
    consume_poison.add_option("connection", consuming.connection)->required();
    consume_poison.add_option("log", log_file)->required();
    consume_poison.add_option("deaths", poisoning.deaths)->required();
    try {
        app.parse(count, arguments);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        if (consume.parsed()) {
            return run_consumer(consuming, log_file);
        }
        if (consume_poison.parsed()) {
            return run_poison_consumer(consuming.connection, log_file, poisoning.deaths);
        }
        if (poisoned.parsed()) {
            check_program(poisoning.sessionqd);
            poisoning.consumer = std::filesystem::canonical("/proc/self/exe").string();
            return conclude(run_poison_campaign(poisoning),
                            "seed " + std::to_string(poisoning.seed) + ", " +
                                std::to_string(poisoning.rounds) + " rounds",
                            {});
        }
        if (operations.parsed()) {
            check_program(operating.sessionqd);
            return conclude(run_operations_campaign(operating),
                            "seed " + std::to_string(operating.seed) + ", " +
                                std::to_string(operating.rounds) + " rounds",
                            {});
        }
        if (kill.parsed() || suspend.parsed()) {
            check_program(killing.sessionqd);
            killing.consumer = std::filesystem::canonical("/proc/self/exe").string();
            killing.suspends = suspend.parsed();
            return conclude(run_kill_campaign(killing),
                            "seed " + std::to_string(killing.seed) + ", " +
                                std::to_string(killing.rounds) + " rounds",
                            {});
        }
        const std::chrono::seconds length{seconds};
        const std::string how =
            "seed " + std::to_string(seed) + ", " + std::to_string(seconds) + " s";
        const Script script =
            script_file.empty() ? draw_campaign({.seed = seed, .faults = faults, .length = length})
                                : read_script(script_file);
        return conclude(
            run_network_campaign(
                {.script = script, .seed = seed, .length = length, .events_file = events_file}),
            how, to_text(script));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "faults: %s\n", error.what());
        return 1;
    }
}
