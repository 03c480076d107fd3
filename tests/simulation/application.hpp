// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <sessionq/batch_options.hpp>

#include "processor/handlers.hpp"
#include "simulation/environment.hpp"
#include "simulation/expectations.hpp"
#include "simulation/handler_sends.hpp"
#include "simulation/script.hpp"

namespace sessionq::simulation {

/// The application: its handlers follow a script and tell the oracles when they begin and end.
class Application {
public:
    Application(Environment& environment, Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    /// Which handlers the setup wants.
    struct Wanted {
        std::optional<BatchOptions> batches;
        bool coroutines;
        bool open;
        bool close;
    };
    [[nodiscard]] detail::processor::Handlers handlers(const Wanted& wanted);

    ScriptMix mix{};
    unsigned open_throws{0};
    std::function<void()> stop_from_inside{};
    HandlerSends::Endpoints endpoints{}; ///< the consumer's
    Duration send_timeout{};
    std::function<void()> change_limits{};
    std::function<void()> switch_pause{};
    std::function<void(const DeliveryRecord&)> after_handler{};
    /// A handler of this message kills the consumer. Returns false if it may not.
    std::function<bool(MessageRecord&)> kill{};

    /// Ends handlers that hang, now and from now on.
    void let_go() noexcept { let_go_ = true; }

    /// No handler goes on, until `wind_up`.
    void die() noexcept { dead_ = true; }
    /// All handlers end.
    void wind_up();

    [[nodiscard]] std::uint64_t running() const noexcept { return running_; }
    [[nodiscard]] std::uint64_t errors() const noexcept { return errors_; }

private:
    struct Member;
    struct Call;
    using Batch = std::span<MessageContext>; ///< of one message where handlers get one

    void run(Batch batch);
    void start(Batch batch, Completion completion);
    void pass_time(Duration length, std::function<bool()> until);
    void poll_end(std::shared_ptr<Call> call);
    /// Kills the consumer if a message of the call does. Then nothing may follow.
    [[nodiscard]] bool kills(const Call& call);
    void middle(Call& call);
    [[nodiscard]] std::exception_ptr finish(Call& call);
    [[nodiscard]] std::shared_ptr<Call> begin(Batch batch);
    [[nodiscard]] Member begin_message(MessageContext& context, const Script& script);
    void choose_failure(Call& call);
    void check_open(const std::string& key);
    void settle(Member& member, ports::Outcome outcome);
    [[nodiscard]] bool ended_early(const Call& call) const;

    Environment& environment_;
    Expectations& expectations_;
    bool let_go_{false};
    bool dead_{false};
    std::vector<std::shared_ptr<Call>> cut_off_{}; ///< coroutines of the dead
    std::set<std::string> opening_{};              ///< sessions whose on_session_open handler runs
    struct FailedOpens {
        std::uint32_t times{0}; ///< in a row
        TimePoint not_before{};
    };
    std::map<std::string, FailedOpens> failed_opens_{};
    bool batches_{false};
    std::uint64_t batch_{0}; ///< the last
    std::uint64_t running_{0};
    std::uint64_t errors_{0};
};

} // namespace sessionq::simulation
