// SPDX-License-Identifier: MIT
#include "faults/kill_campaign.hpp"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "core/random.hpp"
#include "faults/killable_broker.hpp"
#include "faults/now.hpp"
#include "faults/producer.hpp"

namespace sessionq::faults {
namespace {

using namespace std::chrono_literals;

constexpr const char* work = "work";
constexpr std::int64_t lock_seconds = 2;
constexpr Duration stop_limit = 5s;
constexpr Duration patience = 120s;

class KillCampaign {
public:
    KillCampaign(const KillCampaignOptions& options, Verdict& verdict)
        : options_{options},
          verdict_{verdict},
          random_{options.seed},
          broker_{options.sessionqd, broker_arguments(options)} {
        std::filesystem::remove_all(options.directory);
        std::filesystem::create_directories(options.directory);
        broker_.start();
        consumers_.resize(options.consumers);
        for (auto& consumer : consumers_) {
            start(consumer);
        }
    }

    void run() {
        std::vector<std::unique_ptr<Producer>> producers;
        for (std::uint32_t i = 0; i < options_.producers; ++i) {
            std::vector<std::uint32_t> sessions;
            for (std::uint32_t session = i; session < options_.sessions;
                 session += options_.producers) {
                sessions.push_back(session);
            }
            producers.push_back(std::make_unique<Producer>(
                ProducerOptions{.connection = connection_string(broker_.port()),
                                .entity = work,
                                .sessions = std::move(sessions),
                                .seed = options_.seed + i,
                                .rate = options_.rate / options_.producers},
                promptness_));
        }
        for (std::size_t round = 0; round < options_.rounds; ++round) {
            std::this_thread::sleep_for(std::chrono::milliseconds{150 + random_.below(500)});
            auto& victim = consumers_[random_.below(consumers_.size())];
            if (options_.suspends) {
                suspend(*victim);
            } else if (options_.kills_broker && round % 2 == 1) {
                kill_broker();
            } else {
                victim->kill();
                ++consumers_killed_;
                start(victim);
            }
        }
        const TimePoint over = now();
        std::map<std::uint32_t, Sent> sent;
        for (const auto& producer : producers) {
            verdict_.require(producer->finish(patience),
                             "a producer's messages were not confirmed after the last kill");
            sent.insert(producer->sent().begin(), producer->sent().end());
        }
        wait_until_empty(over);
        for (auto& consumer : consumers_) {
            const TimePoint began = now();
            const int code = consumer->end(stop_limit + 30s);
            promptness_.ended("the end of a consumer", stop_limit, now() - began);
            verdict_.require(code == 0, "a consumer exited with code " + std::to_string(code));
        }
        verdict_.require(broker_.process().end(30s) == 0, "the broker did not exit normally");
        verdict_.add("consumers killed " + std::to_string(consumers_killed_) + ", suspended " +
                     std::to_string(consumers_suspended_) + ", the broker killed " +
                     std::to_string(brokers_killed_) + " times");
        Judgement judgement = judge(read_logs(), sent, {.windows = windows_});
        // A worker may be suspended after the library checked the lock and before the handler does.
        verdict_.require(judgement.late <= consumers_suspended_ * Consumer::workers,
                         std::to_string(judgement.late) +
                             " handlers started after their lock had ended");
        verdict_.add(judgement);
        verdict_.add(promptness_);
    }

private:
    [[nodiscard]] static std::vector<std::string> broker_arguments(
        const KillCampaignOptions& options) {
        std::vector<std::string> arguments{
            "--queue", std::string{work} + ":session:lock=" + std::to_string(lock_seconds),
            "--drain-seconds", "1"};
        if (options.kills_broker) {
            arguments.insert(arguments.end(), {"--data", options.directory + "/data"});
        }
        return arguments;
    }

    void kill_broker() {
        broker_.kill();
        ++brokers_killed_;
        std::this_thread::sleep_for(std::chrono::milliseconds{random_.below(300)});
        broker_.start();
    }

    void start(std::unique_ptr<test::ChildProcess>& consumer) {
        const std::uint32_t holder = ++holders_;
        const bool confirms = holder % 2 == 0;
        std::vector<std::string> arguments{"consume",
                                           connection_string(broker_.port()),
                                           work,
                                           log_of(holder),
                                           std::to_string(holder),
                                           std::to_string(options_.seed)};
        if (confirms) {
            arguments.emplace_back("--confirms");
        }
        consumer = std::make_unique<test::ChildProcess>(options_.consumer, arguments);
        windows_[holder] = confirms ? 1 : Consumer::prefetch;
    }

    void suspend(const test::ChildProcess& consumer) {
        consumer.signal(SIGSTOP);
        std::this_thread::sleep_for(std::chrono::seconds{lock_seconds} + 500ms +
                                    std::chrono::milliseconds{random_.below(1500)});
        consumer.signal(SIGCONT);
        ++consumers_suspended_;
    }

    [[nodiscard]] std::string log_of(std::uint32_t holder) const {
        return options_.directory + "/consumer-" + std::to_string(holder) + ".log";
    }

    [[nodiscard]] std::vector<Event> read_logs() const {
        std::vector<Event> all;
        for (std::uint32_t holder = 1; holder <= holders_; ++holder) {
            std::ostringstream text;
            text << std::ifstream{log_of(holder)}.rdbuf();
            for (const Event& event : read_events(text.str())) {
                all.push_back(event);
            }
        }
        return all;
    }

    void wait_until_empty(TimePoint over) {
        const Client direct = Client::connect(connection_string(broker_.port()));
        bool is_empty = false;
        for (const TimePoint until = now() + patience; !is_empty && now() < until;) {
            is_empty = Browser{direct, work}.peek(1).empty();
            if (!is_empty) {
                std::this_thread::sleep_for(50ms);
            }
        }
        verdict_.require(is_empty, "messages are left in the queue");
        verdict_.require(Browser{direct, std::string{work} + "/$DeadLetterQueue"}.peek(1).empty(),
                         "there are dead letters");
        verdict_.add(
            "all messages were handled and settled " +
            std::to_string(
                std::chrono::duration_cast<std::chrono::milliseconds>(now() - over).count()) +
            " ms after the last round");
    }

    const KillCampaignOptions& options_;
    Verdict& verdict_;
    core::Random random_;
    Promptness promptness_{};
    KillableBroker broker_;
    std::vector<std::unique_ptr<test::ChildProcess>> consumers_{};
    std::uint32_t holders_{0};
    std::map<std::uint32_t, std::size_t> windows_{};
    std::size_t consumers_killed_{0};
    std::size_t consumers_suspended_{0};
    std::size_t brokers_killed_{0};
};

} // namespace

Verdict run_kill_campaign(const KillCampaignOptions& options) {
    Verdict verdict;
    KillCampaign campaign{options, verdict};
    campaign.run();
    return verdict;
}

int run_consumer(const ConsumerOptions& options, const std::string& log_file) {
    EventLog log{log_file};
    Promptness promptness;
    std::unique_ptr<Consumer> consumer;
    std::puts("the consumer runs"); // its broker may be down
    std::fflush(stdout);
    while (!consumer) {
        if (promptness.watch("connect", operation_timeout, [&] {
                consumer = std::make_unique<Consumer>(options, log, promptness);
            })) {
            std::this_thread::sleep_for(50ms);
        }
    }
    wait_for_signal();
    consumer->stop(stop_limit);
    consumer.reset();
    for (const std::string& complaint : promptness.complaints()) {
        std::fprintf(stderr, "consumer %u: %s\n", options.holder, complaint.c_str());
    }
    return promptness.complaints().empty() ? 0 : 3;
}

} // namespace sessionq::faults
