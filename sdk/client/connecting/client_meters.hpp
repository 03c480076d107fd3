// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <sessionq/error.hpp>

#include "core/connection_counts.hpp"
#include "core/event_loop.hpp"
#include "core/histogram_recorder.hpp"
#include "core/metric_list.hpp"

namespace sessionq::detail::client {

/// Counts and times the sends and accepts of a client on one receive thread. Each `EndpointThread`
/// has one. The receive thread writes it, and any thread reads it for `Client::metrics`.
struct ClientMeters {
    core::OwnCount messages_sent{};
    core::OwnCount messages_not_sent{};
    core::HistogramRecorder sends{};
    core::HistogramRecorder failed_sends{};
    core::OwnCount sessions_accepted{};
    core::OwnCount empty_accepts{};
    core::OwnCount failed_accepts{};
    core::HistogramRecorder accept_wait{};

    /// Counts a send of `messages` messages that the broker has answered after `taken`.
    void sent(std::size_t messages, Duration taken, bool success) noexcept {
        (success ? messages_sent : messages_not_sent).add(messages);
        (success ? sends : failed_sends).add(taken);
    }
    /// Counts an accept of a receiver that was answered after `taken`. `failure` null: a session
    /// came.
    void accepted(Duration taken, const Failure* failure) noexcept {
        if (failure == nullptr) {
            sessions_accepted.add();
            accept_wait.add(taken);
        } else {
            (failure->code == Errc::no_session_available ? empty_accepts : failed_accepts).add();
        }
    }
};

/// Returns a handler for the answer to a send. It measures the send, and passes the answer on to
/// `answer_to`.
template <typename AnswerTo>
[[nodiscard]] auto measured_send(ClientMeters& meters, core::EventLoop& loop, std::size_t messages,
                                 AnswerTo answer_to) {
    return [&meters, &loop, messages, asked = loop.now(),
            answer_to = std::move(answer_to)](auto answer) mutable {
        meters.sent(messages, loop.now() - asked, answer.ok());
        answer_to(std::move(answer));
    };
}

/// Adds the measurements of one receive thread. `connections`: null for a broker in the process.
void add_metrics(core::MetricList& all, const ClientMeters& meters,
                 const core::ConnectionCounts* connections);

} // namespace sessionq::detail::client
