// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/browser.hpp>
#include <sessionq/detail/calls.hpp>
#include <sessionq/receiver.hpp>
#include <sessionq/redrive.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_receiver.hpp>

#include "client/receiving/session_receiver_operations.hpp"
#include "client/redrive/redrive_machine.hpp"
#include "client/redrive/redrive_route.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::detail::client {

/// Performs the steps that `RedriveMachine` decides, one request after another. `redrive` and its
/// awaitable twin each make a `RedriveRun`. They perform each call that `next` returns, until it
/// returns null. They differ only in how they wait.
class RedriveRun final : public detail::RedriveSteps {
public:
    RedriveRun(const Client& client, RedriveRoute route, RedriveOptions options, CallScope scope);

    [[nodiscard]] detail::CallPtr<void> next() override;
    [[nodiscard]] RedriveReport report() const override { return machine_.report(); }

private:
    using Machine = RedriveMachine;
    using Letters = std::vector<ReceivedMessage>;

    /// The dead letters and the session that are locked.
    struct Hand {
        std::map<std::int64_t, LockedMessage> planned{};
        std::map<std::int64_t, LockedMessage> others{}; ///< held, so that they do not come again
        std::optional<SessionReceiver> session{};
        std::optional<Receiver> receiver{}; ///< closed before its messages are destroyed
    };

    struct Selection {
        WallTime began;
        std::uint64_t left; ///< how many letters may still be selected
    };

    enum class Phase : std::uint8_t { planning, working, done };

    struct UnderWay {
        Phase phase{Phase::planning};
        std::optional<Machine::Step> step{};
        std::optional<Browser> browser{}; ///< of the plan, or of a look
    };

    /// Returns the call that peeks the next dead letters, to select them.
    [[nodiscard]] detail::CallPtr<void> plan();
    void select(const Letters& letters);

    /// Return the next request of the step. Null: the step is done.
    [[nodiscard]] detail::CallPtr<void> perform(const Machine::Receive& step);
    [[nodiscard]] detail::CallPtr<void> perform(const Machine::Hold& step);
    [[nodiscard]] detail::CallPtr<void> perform(const Machine::Look& step);
    [[nodiscard]] detail::CallPtr<void> perform(Machine::Send& step);
    [[nodiscard]] detail::CallPtr<void> perform(const Machine::Complete& step);
    [[nodiscard]] detail::CallPtr<void> perform(const Machine::Leave& step);
    [[nodiscard]] detail::CallPtr<void> perform(const Machine::Finish& step);

    void received(std::vector<LockedMessage> letters);
    void held(const std::optional<Failure>& refusal);
    void found(const Letters& messages);
    void completed(const Machine::Numbers& numbers, const CompleteFailures& failures);
    [[nodiscard]] bool can_send(const Machine::Numbers& numbers);

    void check_scope() const;
    void tell_progress();
    [[nodiscard]] std::vector<MessageContentPtr> copies_of(const Machine::Numbers& numbers) const;

    const Client client_;
    const RedriveRoute route_;
    const RedriveOptions options_;
    const CallScope scope_;  ///< checked between steps, may end the redrive
    const CallOptions work_; ///< of each request; without the redrive's deadline
    const Sender sender_;
    Machine machine_;
    Selection selection_;
    UnderWay under_way_{};
    RedriveReport told_{};                       ///< the report that `on_progress` got last
    std::optional<ports::SendingLimit> limit_{}; // of a send to the target
    Hand hand_{};
};

} // namespace sessionq::detail::client
