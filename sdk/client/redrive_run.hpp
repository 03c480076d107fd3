// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>

#include <sessionq/browser.hpp>
#include <sessionq/receiver.hpp>
#include <sessionq/redrive.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_receiver.hpp>

#include "client/redrive_machine.hpp"
#include "client/redrive_route.hpp"

namespace sessionq::client {

/// Performs what `RedriveMachine` decides. A coroutine's body, so that the blocking function and
/// its awaitable twin share it.
class RedriveRun {
public:
    RedriveRun(const Client& client, RedriveRoute route, RedriveOptions options,
               OperationContext context);

    [[nodiscard]] asio::awaitable<RedriveReport> run();

private:
    using Machine = RedriveMachine;

    /// The dead letters that are locked.
    struct Hand {
        std::map<std::int64_t, LockedMessage> planned{};
        std::vector<LockedMessage> others{}; ///< held, so that they do not come again
    };

    [[nodiscard]] asio::awaitable<void> plan();
    [[nodiscard]] asio::awaitable<void> perform(Machine::Receive step);
    [[nodiscard]] asio::awaitable<void> perform(Machine::Hold step);
    [[nodiscard]] asio::awaitable<void> perform(Machine::Look step);
    [[nodiscard]] asio::awaitable<void> perform(Machine::Send step);
    [[nodiscard]] asio::awaitable<void> perform(Machine::Complete step);
    [[nodiscard]] asio::awaitable<void> perform(Machine::Leave step);
    [[nodiscard]] asio::awaitable<void> perform(Machine::Finish step);

    void check_scope() const;
    void tell_progress();
    [[nodiscard]] std::vector<MessageContentPtr> copies_of(const Machine::Numbers& numbers) const;

    const Client client_;
    const RedriveRoute route_;
    const RedriveOptions options_;
    const OperationContext scope_; ///< ends the redrive, between steps
    const OperationContext work_;  ///< of each request: it has no deadline to travel in messages
    const Sender sender_;
    Machine machine_;
    RedriveReport told_{};                      ///< by `on_progress`
    std::optional<std::uint64_t> most_bytes_{}; // of a send to the target; zero: no limit
    Hand hand_{};
    std::optional<SessionReceiver> held_{};
    std::optional<Receiver> receiver_{}; // closed before its messages are destroyed
};

} // namespace sessionq::client
