// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <sessionq/purge.hpp>

#include "client/calls/operation.hpp"
#include "client/redrive/purge_progress.hpp"

namespace sessionq::detail::client {

/// Performs a purge: asks the broker to delete messages until `PurgeProgress` decides to end. The
/// operation of `purge_all` makes the run on its loop and keeps it alive. Bound to that loop.
class PurgeRun : public std::enable_shared_from_this<PurgeRun> {
public:
    /// `timeout` applies to each request. The endpoint outlives the operation.
    PurgeRun(ports::Endpoint& endpoint, ports::DeleteMessagesRequest request, std::uint64_t max,
             Duration timeout, PendingPtr<std::uint64_t> pending)
        : endpoint_{endpoint},
          request_{std::move(request)},
          progress_{max},
          timeout_{timeout},
          pending_{std::move(pending)} {}

    void start();

private:
    void ask();
    void on_answer(const core::Result<ports::DeletedMessages>& answer);
    void give_up();

    ports::Endpoint& endpoint_;
    ports::DeleteMessagesRequest request_;
    PurgeProgress progress_;
    const Duration timeout_;
    const PendingPtr<std::uint64_t> pending_;
    bool is_given_up_{false};
    ports::RequestId under_way_{0};
};

/// Throws if an argument is invalid or the broker cannot delete messages.
[[nodiscard]] Operation<std::uint64_t> purge_all(const Client& client, const std::string& entity,
                                                 const PurgeOptions& options,
                                                 const CallOptions& call);

} // namespace sessionq::detail::client
