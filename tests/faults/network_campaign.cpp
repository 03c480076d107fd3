// SPDX-License-Identifier: MIT
#include "faults/network_campaign.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include "core/log.hpp"
#include "faults/consumer.hpp"
#include "faults/now.hpp"
#include "faults/onlooker.hpp"
#include "faults/process_facts.hpp"
#include "faults/producer.hpp"
#include "faults/proxy.hpp"
#include "tools/sessionqd/daemon.hpp"

namespace sessionq::faults {
namespace {

using namespace std::chrono_literals;

constexpr const char* work = "work";
constexpr const char* side = "side";
constexpr Duration lock_duration = 4s;
constexpr Duration stop_limit = 3s;
constexpr Duration patience = 120s; ///< the limit for events that must happen
constexpr std::size_t restarts = 12;

std::uint16_t port_of(const std::string& url) {
    return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
}

sessionqd::Options broker_options() {
    const broker::QueueOptions queue{
        .requires_session = true, .lock_duration = lock_duration, .max_delivery_count = 1000};
    return {.listen = sessionqd::Endpoint{.address = "127.0.0.1", .port = 0},
            .queues = {{.name = work, .options = queue}, {.name = side, .options = queue}},
            .keys = {{"RootManageSharedAccessKey", "SAS_KEY_VALUE"}}};
}

class Campaign {
public:
    Campaign(const NetworkCampaignOptions& options, Verdict& verdict)
        : options_{options},
          verdict_{verdict},
          proxy_{{.port = port_of(daemon_.urls().at(0)),
                  .script = options.script,
                  .seed = options.seed}} {}

    void run() {
        const std::string through = connection_string(proxy_.port());
        consumers_.resize(options_.consumers);
        for (auto& consumer : consumers_) {
            renew(consumer);
        }
        std::vector<std::unique_ptr<Producer>> producers;
        for (std::uint32_t i = 0; i < options_.producers; ++i) {
            std::vector<std::uint32_t> sessions;
            for (std::uint32_t session = i; session < options_.sessions;
                 session += options_.producers) {
                sessions.push_back(session);
            }
            producers.push_back(std::make_unique<Producer>(
                ProducerOptions{.connection = through,
                                .entity = work,
                                .sessions = std::move(sessions),
                                .seed = options_.seed + i,
                                .rate = options_.rate / options_.producers},
                promptness_));
        }
        std::size_t most_threads = 0;
        {
            const Onlooker onlooker{through, work, side, promptness_};
            began_ = now();
            proxy_.start();
            const Duration between = options_.length / restarts;
            for (std::size_t i = 1; i <= restarts; ++i) {
                std::this_thread::sleep_until(began_ + between * i);
                if (i == restarts / 3) {
                    early_bytes_ = resident_bytes();
                    early_events_ = log_.events().size();
                }
                most_threads = std::max(most_threads, thread_count());
                renew(consumers_[i % consumers_.size()]);
            }
            proxy_.heal();
            healed_ = now();
            for (const auto& producer : producers) {
                verdict_.require(
                    producer->finish(patience),
                    "a producer's messages were not confirmed after the faults had ended");
                sent_.insert(producer->sent().begin(), producer->sent().end());
                connects_ += producer->connects();
            }
            connects_ += onlooker.connects();
        }
        wait_until_empty();
        late_bytes_ = resident_bytes();
        std::uint64_t failures = 0;
        for (auto& consumer : consumers_) {
            consumer->stop(stop_limit);
            failures += consumer->counters().accept_failures;
            consumer.reset();
        }
        verdict_.add("threads: at most " + std::to_string(most_threads) +
                     "; accept failures of the last consumers " + std::to_string(failures));
        check_attempts();
        check_memory();
        conclude();
    }

private:
    /// Stops the consumer, if there is one, and starts another.
    void renew(std::unique_ptr<Consumer>& consumer) {
        if (consumer) {
            consumer->stop(stop_limit);
            const TimePoint began = now();
            consumer.reset();
            promptness_.ended("destructor", 1s, now() - began);
        }
        const std::uint32_t holder = ++holders_;
        while (!consumer) {
            ++connects_;
            const auto refused = promptness_.watch("connect", operation_timeout, [&] {
                consumer = std::make_unique<Consumer>(
                    ConsumerOptions{.connection = connection_string(proxy_.port()),
                                    .entity = work,
                                    .holder = holder,
                                    .seed = options_.seed,
                                    .slots = std::max(options_.sessions / options_.consumers, 1U),
                                    .confirms = holder % 2 == 0,
                                    .rolls_at_once = holder % 3 == 0},
                    log_, promptness_);
            });
            if (refused) {
                std::this_thread::sleep_for(100ms);
            }
        }
        windows_[holder] = consumer->window();
    }

    /// Waits until the broker itself shows all messages handled and settled.
    void wait_until_empty() {
        const Client direct = Client::connect(connection_string(port_of(daemon_.urls().at(0))));
        bool is_empty = false;
        for (const TimePoint until = now() + patience; !is_empty && now() < until;) {
            is_empty = Browser{direct, work}.peek(1).empty();
            if (!is_empty) {
                std::this_thread::sleep_for(50ms);
            }
        }
        if (!is_empty) {
            const auto left = Browser{direct, work}.peek(100);
            verdict_.require(
                false, std::to_string(left.size()) +
                           " or more messages are left in the queue; the first is of session " +
                           std::string{left.empty() ? "?" : left.front().session_id()});
            for (const auto& consumer : consumers_) {
                verdict_.complaints.push_back(consumer->describe().to_string());
            }
        }
        verdict_.add(
            "all messages were handled and settled " +
            std::to_string(
                std::chrono::duration_cast<std::chrono::milliseconds>(now() - healed_).count()) +
            " ms after the end of the last fault");
        verdict_.require(Browser{direct, std::string{work} + "/$DeadLetterQueue"}.peek(1).empty(),
                         "there are dead letters");
    }

    /// R17: a client's connection attempts are bounded under any fault.
    void check_attempts() {
        const auto attempts = proxy_.attempts();
        const ClientOptions client = hasty_client();
        // each receive thread has its own connection
        const double clients = static_cast<double>(options_.consumers * 2 + options_.producers + 1);
        constexpr Duration span = 10s;
        const double steady = std::chrono::duration<double>{span} /
                              std::chrono::duration<double>{client.reconnect_backoff.max / 2};
        const double growing =
            std::log2(std::chrono::duration<double>{client.reconnect_backoff.max} /
                      std::chrono::duration<double>{client.reconnect_backoff.min}) +
            2;
        std::size_t most = 0;
        double excess = 0;
        for (std::size_t first = 0, last = 0; first < attempts.size(); ++first) {
            while (last < attempts.size() && attempts[last] < attempts[first] + span) {
                ++last;
            }
            double faults = 0; // each may end good connections
            for (const Fault& fault : options_.script) {
                const TimePoint at = began_ + fault.at;
                if (at > attempts[first] - 10s && at < attempts[first] + span) {
                    faults += fault.count == 0 ? clients : static_cast<double>(fault.count);
                }
            }
            most = std::max(most, last - first);
            excess = std::max(excess, static_cast<double>(last - first) -
                                          (clients * (steady + growing) + faults +
                                           static_cast<double>(connects_)));
        }
        verdict_.add(std::to_string(attempts.size()) + " connection attempts, at most " +
                     std::to_string(most) + " within 10 s");
        verdict_.require(excess <= 0, "clients connect too often: " + std::to_string(most) +
                                          " times within 10 s");
    }

    void check_memory() {
        constexpr std::size_t slack = std::size_t{48} << 20U;
        // a growing vector keeps the old and the new copy
        const std::size_t events = (log_.events().size() - early_events_) * sizeof(Event) * 3;
        const std::size_t grown = late_bytes_ > early_bytes_ ? late_bytes_ - early_bytes_ : 0;
        verdict_.add("resident memory " + std::to_string(late_bytes_ >> 20U) + " MiB, " +
                     std::to_string(grown >> 20U) +
                     " MiB more than after a third of the run; the event log uses up to " +
                     std::to_string(events >> 20U) + " MiB of it");
        verdict_.require(!memory_is_telling() || grown < slack + events,
                         "memory grew by " + std::to_string(grown) + " bytes");
    }

    void conclude() {
        std::string faults = "faults:";
        std::uint64_t all = 0;
        for (const auto& [kind, count] : proxy_.counts()) {
            faults += " " + std::string{to_string(kind)} + " " + std::to_string(count);
            all += count;
        }
        verdict_.add(std::to_string(all) + " " + faults);
        if (!options_.events_file.empty()) {
            std::ofstream file{options_.events_file};
            for (const Event& event : log_.events()) {
                file << to_line(event);
            }
        }
        verdict_.add(judge(log_.events(), sent_, {.windows = windows_}));
        verdict_.add(promptness_);
    }

    const NetworkCampaignOptions& options_;
    Verdict& verdict_;
    EventLog log_{};
    Promptness promptness_{};
    sessionqd::Daemon daemon_{broker_options()};
    Proxy proxy_;
    std::vector<std::unique_ptr<Consumer>> consumers_{};
    std::uint32_t holders_{0};
    std::map<std::uint32_t, std::size_t> windows_{};
    std::map<std::uint32_t, Sent> sent_{};
    std::size_t connects_{0};
    std::size_t early_bytes_{0};
    std::size_t early_events_{0};
    std::size_t late_bytes_{0};
    TimePoint began_{};
    TimePoint healed_{};
};

} // namespace

Verdict run_network_campaign(const NetworkCampaignOptions& options) {
    Verdict verdict;
    std::thread{[] {}}.join(); // a sanitizer starts a thread of its own with the first one
    const std::size_t threads = thread_count();
    {
        Campaign campaign{options, verdict};
        campaign.run();
    }
    for (const TimePoint until = now() + 10s; thread_count() > threads && now() < until;) {
        std::this_thread::sleep_for(10ms);
    }
    verdict.require(thread_count() <= threads,
                    std::to_string(thread_count() - threads) + " threads are still running");
    return verdict;
}

} // namespace sessionq::faults
