// SPDX-License-Identifier: MIT
#include "client/connecting/client_meters.hpp"

namespace sessionq::detail::client {
namespace {

Histogram lengths_of(const core::HistogramRecorder& recorder) {
    Histogram histogram;
    recorder.add_to(histogram);
    return histogram;
}

void add_sends(core::MetricList& all, const ClientMeters& meters) {
    constexpr core::MetricName messages{"messaging.client.sent.messages", "Messages of sends.",
                                        "{message}"};
    constexpr core::MetricName duration{"messaging.client.operation.duration",
                                        "From a request to the broker's answer.", "s"};
    const MetricAttribute failed{"error.type", "send_failed"};
    const MetricAttribute name{"messaging.operation.name", "send"};
    const MetricAttribute type{"messaging.operation.type", "send"};
    all.count(messages, meters.messages_sent.read(), {name});
    all.count(messages, meters.messages_not_sent.read(), {name, failed});
    all.lengths(duration, lengths_of(meters.sends), {name, type});
    all.lengths(duration, lengths_of(meters.failed_sends), {name, type, failed});
}

void add_accepts(core::MetricList& all, const ClientMeters& meters) {
    constexpr core::MetricName answers{"sessionq.accept.answers", "Answers to accepts.",
                                       "{accept}"};
    const auto answered_with = [&](const char* result, const core::OwnCount& count) {
        all.count(answers, count.read(), {{"sessionq.result", result}});
    };
    answered_with("session", meters.sessions_accepted);
    answered_with("empty", meters.empty_accepts);
    answered_with("failed", meters.failed_accepts);
    all.lengths({"sessionq.accept.wait", "From an accept to its session.", "s"},
                lengths_of(meters.accept_wait));
}

void add_connections(core::MetricList& all, const core::ConnectionCounts& counts) {
    constexpr core::MetricName bytes{"sessionq.network.io", "Bytes on connections.", "By"};
    const std::uint64_t ended = counts.lost.read() + counts.closed.read();
    const std::uint64_t opened = counts.opened.read(); // read last, so it is at least `ended`
    all.gauge({"sessionq.connection.count", "Connections that are open.", "{connection}"},
              static_cast<double>(opened - ended));
    all.count({"sessionq.connection.opened", "Connections made.", "{connection}"}, opened);
    all.count({"sessionq.connection.reopened", "Connections made after another one was lost.",
               "{connection}"},
              counts.reopened.read());
    all.count({"sessionq.connection.lost", "Open connections that ended.", "{connection}"},
              counts.lost.read());
    all.count({"sessionq.connection.failures", "Attempts to connect that failed.", "{attempt}"},
              counts.failures.read());
    all.count(bytes, counts.received.read(), {{"network.io.direction", "receive"}});
    all.count(bytes, counts.sent.read(), {{"network.io.direction", "transmit"}});
}

} // namespace

void add_metrics(core::MetricList& all, const ClientMeters& meters,
                 const core::ConnectionCounts* connections) {
    add_sends(all, meters);
    add_accepts(all, meters);
    if (connections != nullptr) {
        add_connections(all, *connections);
    }
}

} // namespace sessionq::detail::client
