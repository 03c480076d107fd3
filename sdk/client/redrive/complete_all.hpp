// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "client/receiving/session_receiver_operations.hpp"

namespace sessionq::client {

/// For each message why it was not completed, or nothing.
using CompleteFailures = std::vector<std::optional<Failure>>;

/// Completes messages of one receiver, without waiting for one before the next. Ends when all are
/// answered. The messages must live until then.
[[nodiscard]] inline PublicCall<CompleteFailures> complete_all(
    const std::vector<const LockedMessage*>& messages, const OperationContext& context) {
    struct One final : Pending<core::Done> {
        One(core::EventLoop& loop, Deadline deadline, std::shared_ptr<CompleteFailures> all,
            std::size_t at)
            : Pending{loop, deadline}, all_{std::move(all)}, at_{at} {}

        void deliver(core::Result<core::Done> answer) override {
            if (!answer) {
                (*all_)[at_] = answer.failure();
            }
            all_.reset(); // the last one answers for all
        }

    private:
        std::shared_ptr<CompleteFailures> all_;
        std::size_t at_;
    };

    CompleteFailures failures(messages.size());
    std::vector<std::pair<std::size_t, Operation<core::Done>>> operations;
    for (std::size_t at = 0; at < messages.size(); ++at) {
        try {
            if (auto one = settle(*messages[at], ports::Outcome::complete, context).operation) {
                operations.emplace_back(at, std::move(*one));
            }
        } catch (const Error& error) {
            failures[at] = error.failure();
        }
    }
    if (operations.empty()) {
        return {.operation = std::nullopt,
                .finish = [failures](core::Result<CompleteFailures>) { return failures; }};
    }
    const auto& first = operations.front().second;
    return {Operation<CompleteFailures>{
        .client = first.client,
        .loop = first.loop,
        .deadline = {}, // each has its own
        .context = {},
        .start = [operations = std::move(operations), failures = std::move(failures)](
                     const PendingPtr<CompleteFailures>& pending) mutable {
            const std::shared_ptr<CompleteFailures> all{
                new CompleteFailures{std::move(failures)}, [pending](CompleteFailures* made) {
                    const std::unique_ptr<CompleteFailures> owned{made};
                    pending->complete(std::move(*owned));
                }};
            for (auto& [at, operation] : operations) {
                auto one = std::make_shared<One>(operation.loop, operation.deadline, all, at);
                one->watch(std::move(operation.context));
                one->trace(std::move(operation.span));
                one->on_give_up(std::move(operation.unstarted));
                launch<core::Done>(std::move(one), std::move(operation.start));
            }
        }}};
}

} // namespace sessionq::client
