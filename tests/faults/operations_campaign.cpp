// SPDX-License-Identifier: MIT
#include "faults/operations_campaign.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "faults/consumer.hpp"
#include "faults/killable_broker.hpp"
#include "faults/now.hpp"
#include "faults/operations_worker.hpp"

namespace sessionq::faults {
namespace {

using namespace std::chrono_literals;

constexpr Duration longest_standstill = 60s;

class OperationsCampaign {
public:
    OperationsCampaign(const OperationsCampaignOptions& options, Verdict& verdict)
        : options_{options},
          verdict_{verdict},
          random_{options.seed},
          broker_{options.sessionqd, prepare(options)} {}

    void run() {
        broker_.start();
        for (std::size_t i = 0; i < options_.workers; ++i) {
            workers_.push_back(std::make_unique<OperationsWorker>(
                connection_string(broker_.port()), "w" + std::to_string(i),
                options_.seed * 1000 + i, stage_, promptness_));
        }
        bool goes_on = true;
        for (std::size_t round = 0; goes_on && round < options_.rounds; ++round) {
            goes_on = wait_for_progress();
            std::this_thread::sleep_for(std::chrono::microseconds{random_.below(500'000)});
            kill();
        }
        stage_.is_ending = true;
        std::this_thread::sleep_for(100ms);
        kill();
        stage_.is_over = true;
        for (const auto& worker : workers_) {
            worker->join();
        }
        verdict_.require(broker_.process().end(30s) == 0, "the broker did not exit normally");
        conclude();
    }

private:
    [[nodiscard]] static std::vector<std::string> prepare(
        const OperationsCampaignOptions& options) {
        std::filesystem::remove_all(options.directory);
        std::filesystem::create_directories(options.directory);
        const std::string configuration = options.directory + "/config.json";
        std::ofstream{configuration} << world_configuration();
        return {"--config", configuration, "--data", options.directory + "/data", "--drain-seconds",
                "1"};
    }

    // Waits for progress, so that something happens between two kills.
    [[nodiscard]] bool wait_for_progress() {
        const std::uint64_t wanted = stage_.confirmed + 10 * options_.workers;
        for (const TimePoint until = now() + longest_standstill; stage_.confirmed < wanted;) {
            if (stage_.is_wrong) {
                return false;
            }
            if (now() > until) {
                verdict_.complaints.emplace_back("no progress");
                return false;
            }
            std::this_thread::sleep_for(5ms);
        }
        return true;
    }

    void kill() {
        ++stage_.life;
        broker_.kill();
        std::this_thread::sleep_for(std::chrono::milliseconds{random_.below(100)});
        const TimePoint began = now();
        broker_.start();
        promptness_.ended("the start of the broker", 5s, now() - began);
        ++stage_.life;
    }

    void conclude() {
        std::map<std::string, OperationsWorker::Count> counts;
        std::uint64_t looks = 0;
        std::size_t left = 0;
        for (const auto& worker : workers_) {
            for (const auto& [what, count] : worker->counts()) {
                auto& sum = counts[what];
                sum.confirmed += count.confirmed;
                sum.happened += count.happened;
                sum.did_not += count.did_not;
            }
            looks += worker->looks();
            left += worker->messages_left();
            verdict_.complaints.insert(verdict_.complaints.end(), worker->complaints().begin(),
                                       worker->complaints().end());
        }
        for (const auto& [what, count] : counts) {
            verdict_.add(what + ": confirmed " + std::to_string(count.confirmed) +
                         ", in progress when the broker was killed " +
                         std::to_string(count.happened + count.did_not) +
                         ", of these carried out " + std::to_string(count.happened));
        }
        verdict_.add("the entities were checked " + std::to_string(looks) + " times; " +
                     std::to_string(left) + " messages are left");
        verdict_.add(promptness_);
    }

    const OperationsCampaignOptions& options_;
    Verdict& verdict_;
    core::Random random_;
    KillableBroker broker_;
    Promptness promptness_{};
    Stage stage_{};
    std::vector<std::unique_ptr<OperationsWorker>> workers_{};
};

} // namespace

Verdict run_operations_campaign(const OperationsCampaignOptions& options) {
    Verdict verdict;
    OperationsCampaign campaign{options, verdict};
    campaign.run();
    return verdict;
}

} // namespace sessionq::faults
