// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <sessionq/sessionq.hpp>

#include "core/random.hpp"
#include "faults/promptness.hpp"
#include "faults/world.hpp"

namespace sessionq::faults {

/// State that the workers share with the campaign.
struct Stage {
    std::atomic<std::uint64_t> life{0}; ///< of the broker; odd while it is being killed or is down
    std::atomic<bool> is_wrong{false};  ///< a worker has complained, so all stop
    std::atomic<bool> is_ending{false}; ///< only the last check remains
    std::atomic<bool> is_over{false};   ///< the broker is not killed any more
    std::atomic<std::uint64_t> confirmed{0};
};

/// Performs random operations on a broker, in sessions of its own, and keeps a model of the
/// expected state. If the broker is killed, the operation in progress has happened or not. The
/// worker finds out which, checks everything, and goes on from there. Runs a thread of its own.
class OperationsWorker {
public:
    OperationsWorker(std::string connection, std::string name, std::uint64_t seed, Stage& stage,
                     Promptness& promptness);
    ~OperationsWorker();
    OperationsWorker(const OperationsWorker&) = delete;
    OperationsWorker& operator=(const OperationsWorker&) = delete;

    /// Call it when the stage is over.
    void join() { thread_.join(); }

    // Valid after `join`.
    struct Count {
        std::uint64_t confirmed{0};
        std::uint64_t happened{0}; ///< of those in progress when the broker was killed
        std::uint64_t did_not{0};
    };
    [[nodiscard]] const std::map<std::string, Count>& counts() const noexcept { return counts_; }
    [[nodiscard]] const std::vector<std::string>& complaints() const noexcept {
        return complaints_;
    }
    [[nodiscard]] std::uint64_t looks() const noexcept { return looks_; }
    [[nodiscard]] std::size_t messages_left() const noexcept { return world_.copies.size(); }

private:
    void run();
    void step();
    void send();
    void schedule();
    void cancel();
    void hold();
    void remove();
    void use(SessionReceiver& receiver, const std::string& entity,
             std::vector<SessionMessage>& in_hand);
    void take(SessionReceiver& receiver, const std::string& entity,
              std::vector<SessionMessage>& in_hand);
    void take_deferred(SessionReceiver& receiver, const std::string& entity,
                       std::vector<SessionMessage>& in_hand);
    void check_received(const std::string& entity, const ReceivedMessage& message,
                        MessageState place);
    void settle(SessionMessage& message, const std::string& entity);
    void use_state(SessionReceiver& receiver, const std::string& entity);

    template <typename Call>
    void attempt(const char* what, World after, Call call);
    void recover(const Failure& why);
    void look();
    [[nodiscard]] Observation observe();
    void adopt(World world, const Observation& seen);

    [[nodiscard]] bool chance(std::uint64_t in) { return random_.below(in) == 0; }
    [[nodiscard]] Message make_message(bool is_red);
    [[nodiscard]] std::vector<std::int64_t> sequences_of(const std::vector<World::Key>& keys) const;
    [[nodiscard]] std::vector<World::Key> find(const std::string& entity, MessageState place) const;
    void complain(std::string what);

    const std::string name_;
    std::string session_; // replaced when it has grown too large
    Stage& stage_;
    Promptness& promptness_;
    core::Random random_;
    const std::string connection_;
    std::optional<Client> client_{};
    World world_{};
    std::uint64_t met_life_{0}; // the last life of the broker in which this worker got on
    std::uint64_t last_message_{0};
    const char* under_way_{nullptr}; // the operation that may or may not have happened
    World after_{};                  // the model if it happened
    std::set<World::Key> may_be_gone_{};
    std::map<std::string, Count> counts_{};
    std::vector<std::string> complaints_{};
    std::uint64_t looks_{0};
    std::thread thread_;
};

} // namespace sessionq::faults
