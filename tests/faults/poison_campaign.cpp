// SPDX-License-Identifier: MIT
#include "faults/poison_campaign.hpp"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sessionq/sessionq.hpp>

#include "core/clock.hpp"
#include "core/random.hpp"
#include "faults/consumer.hpp"
#include "faults/killable_broker.hpp"

namespace sessionq::faults {
namespace {

using namespace std::chrono_literals;

constexpr const char* queue = "poisoned";
constexpr std::string_view poison = "poison";
constexpr Duration round_limit = 60s;

/// A line at a time, also from a process that is about to die.
class LineLog {
public:
    explicit LineLog(const std::string& file)
        : file_{::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)} {}
    LineLog(const LineLog&) = delete;
    LineLog& operator=(const LineLog&) = delete;
    ~LineLog() { ::close(file_); }

    void add(const std::string& what, const ReceivedMessage& message) {
        const std::string line = what + " " + std::string{message.session_id()} + " " +
                                 std::string{message.text()} + "\n";
        if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
            std::abort();
        }
    }

private:
    const int file_;
};

/// What is known of one message after a round.
struct Fate {
    std::uint32_t begun{0};
    std::uint32_t done{0};
    bool is_poison{false};
};

class PoisonCampaign {
public:
    PoisonCampaign(const PoisonCampaignOptions& options, Verdict& verdict)
        : options_{options},
          verdict_{verdict},
          random_{options.seed},
          broker_{options.sessionqd, {"--queue", std::string{queue} + ":session:lock=30"}} {
        std::filesystem::remove_all(options.directory);
        std::filesystem::create_directories(options.directory);
        broker_.start();
        client_ = std::make_unique<Client>(Client::connect(connection_string(broker_.port())));
    }

    void run() {
        for (std::size_t round = 0; round < options_.rounds; ++round) {
            send(round);
            consume(round);
            judge(round);
        }
        verdict_.add("rounds " + std::to_string(options_.rounds) + ", consumers killed " +
                     std::to_string(killed_) + ", poison messages out " + std::to_string(out_) +
                     ", of them after exactly " + std::to_string(options_.deaths) + " deaths " +
                     std::to_string(exact_));
        verdict_.add("others handled " + std::to_string(handled_) + ", lost " +
                     std::to_string(lost_) + ", again after a kill " + std::to_string(again_) +
                     ", dead-lettered " + std::to_string(punished_) + ", out of order " +
                     std::to_string(disorder_));
    }

private:
    using Key = std::pair<std::string, std::string>; ///< session, text

    /// One message kills, anywhere; in every fourth round one each of two sessions.
    void send(std::size_t round) {
        fates_.clear();
        std::map<std::uint64_t, std::uint64_t> poisoned{
            {random_.below(options_.sessions), random_.below(options_.messages)}};
        if (round % 4 == 3) {
            poisoned[random_.below(options_.sessions)] = random_.below(options_.messages);
        }
        poisons_ = poisoned.size();
        std::vector<Message> messages;
        for (std::uint64_t number = 0; number < options_.messages; ++number) {
            for (std::uint64_t session = 0; session < options_.sessions; ++session) {
                const auto at = poisoned.find(session);
                const bool kills = at != poisoned.end() && at->second == number;
                const std::string id = std::to_string(round) + "-" + std::to_string(session);
                const std::string text =
                    (kills ? std::string{poison} : std::string{}) + std::to_string(number);
                messages.push_back(Message::of(text).in_session(id));
                fates_[{id, text}].is_poison = kills;
            }
        }
        Sender{*client_, queue}.send_all(std::move(messages));
    }

    [[nodiscard]] std::string log_of(std::size_t round) const {
        return options_.directory + "/" + std::to_string(round) + ".log";
    }

    void consume(std::size_t round) {
        const TimePoint until = core::system_clock().now() + round_limit;
        std::unique_ptr<test::ChildProcess> consumer;
        for (;;) {
            if (!consumer) {
                consumer = std::make_unique<test::ChildProcess>(
                    options_.consumer,
                    std::vector<std::string>{"consume-poison", connection_string(broker_.port()),
                                             log_of(round), std::to_string(options_.deaths)});
            }
            siginfo_t ended{};
            ::waitid(P_PID, static_cast<id_t>(consumer->id()), &ended, WEXITED | WNOHANG | WNOWAIT);
            if (ended.si_pid != 0) {
                verdict_.require(ended.si_code == CLD_KILLED, "a consumer ended by itself");
                consumer.reset();
                ++killed_;
            } else if (Browser{*client_, queue}.peek(1).empty()) {
                break;
            } else {
                std::this_thread::sleep_for(5ms);
            }
            if (core::system_clock().now() > until) {
                verdict_.require(false, "round " + std::to_string(round) + " does not end");
                break;
            }
        }
        if (consumer) {
            verdict_.require(consumer->end(30s) == 0, "a consumer did not end normally");
        }
    }

    void judge(std::size_t round) {
        std::map<std::string, std::string> latest; // begun first, of each session
        std::ifstream lines{log_of(round)};
        for (std::string what, session, text; lines >> what >> session >> text;) {
            Fate& fate = fates_[{session, text}];
            if (what == "done") {
                ++fate.done;
            } else if (fate.begun++ == 0) {
                const std::string number = text.substr(fate.is_poison ? poison.size() : 0);
                disorder_ += !latest[session].empty() && number < latest[session] ? 1 : 0;
                latest[session] = number;
            }
        }
        const std::string prefix = std::to_string(round) + "-";
        std::map<Key, std::string> dead;
        for (const ReceivedMessage& message :
             Browser{*client_,
                     queue,
                     {.sub_queue = SubQueue::dead_letter, .from_sequence_number = next_dead_}}) {
            next_dead_ = message.sequence_number() + 1;
            dead[{std::string{message.session_id()}, std::string{message.text()}}] =
                message.dead_letter() ? message.dead_letter()->reason : "";
        }
        for (const auto& [key, fate] : fates_) {
            const std::string name =
                "round " + std::to_string(round) + ": " + key.first + " " + key.second;
            const auto at = dead.find(key);
            if (!fate.is_poison) {
                handled_ += fate.done != 0 ? 1 : 0;
                lost_ += fate.done == 0 ? 1 : 0;
                again_ += fate.done > 1 ? 1 : 0;
                punished_ += at != dead.end() ? 1 : 0;
                verdict_.require(fate.done != 0, name + " was not handled");
                verdict_.require(at == dead.end(), name + " was dead-lettered");
                continue;
            }
            const bool is_out = at != dead.end() && at->second == "ConsumerLost";
            out_ += is_out ? 1 : 0;
            exact_ += fate.begun == options_.deaths ? 1 : 0;
            verdict_.require(is_out, name + " is not among the dead letters");
            // Of two that kill at once, one dies with the other's attempt.
            verdict_.require(fate.begun == options_.deaths ||
                                 (poisons_ > 1 && fate.begun < options_.deaths),
                             name + " was handled " + std::to_string(fate.begun) + " times");
        }
        verdict_.require(dead.size() == poisons_, "round " + std::to_string(round) + " has " +
                                                      std::to_string(dead.size()) +
                                                      " dead letters");
        verdict_.require(disorder_ == 0, "messages were handled out of order");
    }

    const PoisonCampaignOptions& options_;
    Verdict& verdict_;
    core::Random random_;
    KillableBroker broker_;
    std::unique_ptr<Client> client_{};
    std::map<Key, Fate> fates_{};
    std::size_t poisons_{0};
    std::int64_t next_dead_{0};
    std::size_t killed_{0};
    std::size_t out_{0};
    std::size_t exact_{0};
    std::size_t handled_{0};
    std::size_t lost_{0};
    std::size_t again_{0};
    std::size_t punished_{0};
    std::size_t disorder_{0};
};

} // namespace

Verdict run_poison_campaign(const PoisonCampaignOptions& options) {
    Verdict verdict;
    PoisonCampaign campaign{options, verdict};
    campaign.run();
    return verdict;
}

int run_poison_consumer(const std::string& connection, const std::string& log_file,
                        std::uint32_t deaths) {
    LineLog log{log_file};
    const Client client = Client::connect(connection);
    SessionProcessor processor{client,
                               queue,
                               {.max_concurrent_sessions = 4,
                                .session_idle_timeout = 50ms,
                                .worker_threads = 4,
                                .crash_guard = CrashGuard{.deaths = deaths}}};
    processor.on_message([&log](MessageContext& call) {
        log.add("begun", call.message());
        if (call.message().text().starts_with(poison)) {
            ::kill(::getpid(), SIGKILL);
        }
        std::this_thread::sleep_for(2ms);
        log.add("done", call.message());
    });
    SignalWatch signals;
    std::puts("the consumer runs"); // before the first message may kill it
    std::fflush(stdout);
    processor.start();
    signals.wait();
    processor.stop(10s);
    return 0;
}

} // namespace sessionq::faults
