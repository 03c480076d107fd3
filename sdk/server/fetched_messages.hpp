// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "broker/queue.hpp"
#include "server/held_locks.hpp"

namespace sessionq::server {

/// Deferred messages that a request has fetched, and its answer as far as it is written. They may
/// be thousands, so this takes turns.
class FetchedMessages {
public:
    /// How the messages are deleted.
    enum class Delete : std::uint8_t {
        no,              ///< They are locked, and the client settles them.
        when_fetched,    ///< The holder's mode has deleted them.
        with_the_answer, ///< The request asks for it.
    };

    FetchedMessages(const Holder& holder, std::vector<broker::Delivered> messages, Delete deletes,
                    broker::Instant now);

    /// Writes, or deletes once all are written, so many messages. Returns whether all is done.
    [[nodiscard]] bool go_on(std::size_t count, broker::Instant now);

    [[nodiscard]] std::size_t bytes() const noexcept { return body_.capacity(); }
    /// The encoded body of the answer. Requires that all is done.
    [[nodiscard]] std::string take() &&;

private:
    void write(const broker::Delivered& delivered, broker::Instant now);

    const std::uint64_t holder_;
    const broker::QueuePtr queue_;
    const broker::ConsumerPtr consumer_;
    const WallTime locked_until_;
    const Delete deletes_;
    const std::vector<broker::Delivered> messages_;
    std::size_t written_{0};
    std::size_t deleted_{0};
    std::string body_{};
    std::size_t map_{0}; // where it begins in the body
    std::size_t list_{0};
};

} // namespace sessionq::server
