// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/histogram.hpp>

namespace sessionq::inline v1 {

/// A name and a value that tell points of one metric apart.
///
/// Example:
///
///     const MetricAttribute completed{"sessionq.outcome", "completed"};
///     std::cout << processor.metrics().value("sessionq.message.ended", {completed}) << '\n';
struct MetricAttribute {
    std::string name{};
    std::string value{};

    friend bool operator==(const MetricAttribute&, const MetricAttribute&) = default;
};
using MetricAttributes = std::vector<MetricAttribute>;

/// How the points of a metric are read.
enum class MetricKind : std::uint8_t {
    counter,   ///< A total since the start. It only grows.
    gauge,     ///< The present value.
    histogram, ///< Lengths of time since the start.
};

/// For example "histogram".
[[nodiscard]] std::string_view to_string(MetricKind kind) noexcept;

/// Writes `to_string(kind)`.
std::ostream& operator<<(std::ostream& out, MetricKind kind);

/// One value of a metric, with the attributes that tell it from the others.
struct MetricPoint {
    MetricAttributes attributes{};
    double value{0};       ///< Of a counter or gauge. Whole numbers are exact up to 2^53.
    Histogram histogram{}; ///< Of a histogram.
};

/// One metric with its points. All of them have different attributes.
///
/// Example:
///
///     const Metrics metrics = processor.metrics();
///     for (const Metric& metric : metrics.all()) {
///         for (const MetricPoint& point : metric.points) {
///             if (metric.kind == MetricKind::gauge) {
///                 std::cout << metric.name << ' ' << point.value << ' ' << metric.unit << '\n';
///             }
///         }
///     }
struct Metric {
    std::string name{};        ///< As OpenTelemetry writes it: `messaging.process.duration`.
    std::string description{}; ///< One sentence for people.
    std::string unit{};        ///< In UCUM, as OpenTelemetry has it: `s`, `By`, `{message}`.
    MetricKind kind{MetricKind::counter};
    std::vector<MetricPoint> points{};
};

/// The measurements that `SessionProcessor::metrics`, `Processor::metrics` and `Client::metrics`
/// return: a snapshot, which may be kept and sent anywhere. Names, units and attributes are those
/// of OpenTelemetry's semantic conventions for messaging; our own names begin with `sessionq.`.
///
/// All points have `messaging.system`: `servicebus` (also with `sessionqd`), `activemq`, `qpid` or
/// `sessionq` (in process). Those of a processor have `messaging.destination.name`, and
/// `messaging.destination.subscription.name` if they are of a subscription. A processor of several
/// entities has `sessionq.entities` instead, their names with commas between. With
/// `ClientOptions::client_id` all have `messaging.client.id`.
///
/// Of a processor, since its last start:
///
///     messaging.client.consumed.messages (counter, {message})
///         messaging.operation.name = receive: messages that came
///     messaging.process.duration (histogram, s)
///         messaging.operation.name = process, error.type: how long handlers ran; `error.type` is
///         `handler_failed` if they threw. A call of `on_messages` counts once
///     messaging.client.operation.duration (histogram, s)
///         messaging.operation.name = settle, messaging.operation.type = settle: from the
///         settlement to the broker's answer
///     sessionq.message.handled (counter, {message})
///         sessionq.result: handlers that returned (`returned`) or threw (`threw`), of each attempt
///     sessionq.message.ended (counter, {message})
///         sessionq.outcome: `completed`, `abandoned`, `dead_lettered`, `deferred`, `released`: the
///         broker confirmed it. `lost`: with the lock or the link, or no settlement was confirmed;
///         the broker has it back
///     sessionq.message.expired (counter, {message})
///         past their own deadline, not handled
///     sessionq.message.retries (counter, {message})
///         attempts in place after the first
///     sessionq.message.redelivered (counter, {message})
///         messages that came and had been delivered before
///     sessionq.settlement.failures (counter, {message})
///         settlements that the broker rejected
///     sessionq.session.opened (counter, {session})
///         sessions opened
///     sessionq.session.closed (counter, {session})
///         sessionq.close_reason: sessions left, by `CloseReason`
///     sessionq.session.parked (counter, {session})
///         sessions parked without a slot
///     sessionq.lock.lost (counter, {lock})
///         locks that were lost
///     sessionq.lock.renewals (counter, {lock})
///         locks that were renewed
///     sessionq.accept.answers (counter, {accept})
///         sessionq.result: `session`, `empty`, `failed`; `late` and `surplus` sessions were given
///         back
///     sessionq.message.ready_wait (histogram, s)
///         from a message's arrival to its handler's start, of messages that were first in their
///         session
///     sessionq.accept.wait (histogram, s)
///         from an accept to its session
///     sessionq.roll.latency (histogram, s)
///         from leaving a session to the first message of the next one in that slot, or to its
///         `on_session_open`. Includes the time in which there was no session
///     sessionq.lock.margin (histogram, s)
///         sessionq.lock.use: time left of the lock when its renewal was answered (`renew`) or a
///         settlement was confirmed (`settle`). Zero: it was over. Without locks that have no end
///     sessionq.session.hold (histogram, s)
///         how long sessions were held
///     sessionq.slot.count (gauge, {slot})
///         sessionq.state: slots, by `SlotDescription::state`
///     sessionq.session.without_slot (gauge, {session})
///         sessionq.state: sessions held without a slot: `parked`, `settling`
///     sessionq.session.ready (gauge, {session})
///         sessions that have a message and wait for a worker
///     sessionq.session.ready.age (gauge, s)
///         how long the first of them has waited. Zero: there is none
///     sessionq.message.in_flight (gauge, {message})
///         messages received and not finished
///     sessionq.message.window (gauge, {message})
///         most messages that may be fetched now, over all sessions
///     sessionq.message.running (gauge, {message})
///         messages whose handlers run
///     sessionq.buffer.usage (gauge, By)
///         bytes that count against `max_buffered_bytes`
///     sessionq.processor.health (gauge, {processor})
///         sessionq.state: 1 for its `Health::state`, 0 for the other ones
///     sessionq.health.reason (gauge, {reason})
///         sessionq.cause: reasons why it is not healthy, by `HealthCause`. Causes that do not
///         apply have no point
///
/// Of each entity of a processor, for autoscalers. In process only, because no broker tells these
/// numbers over AMQP:
///
///     sessionq.entity.messages (gauge, {message})
///         sessionq.state: messages that are `active` (also locked by a consumer), `deferred`,
///         `scheduled`
///     sessionq.entity.sessions.waiting (gauge, {session})
///         sessions with an available message that no consumer holds
///     sessionq.entity.sessions.waiting.age (gauge, s)
///         how long the first of them has waited. Zero: there is none
///
/// Of a client, since it was made, over all its receive threads. In process it has no connections
/// and tells nothing of them:
///
///     messaging.client.sent.messages (counter, {message})
///         messaging.operation.name = send, error.type: messages of sends that succeeded, or failed
///         with `error.type` `send_failed`
///     messaging.client.operation.duration (histogram, s)
///         messaging.operation.name = send, messaging.operation.type = send, error.type: from the
///         request to the broker's answer, of each try
///     sessionq.accept.answers (counter, {accept})
///         sessionq.result: accepts of receivers: `session`, `empty`, `failed`
///     sessionq.accept.wait (histogram, s)
///         of receivers, from an accept to its session
///     sessionq.connection.count (gauge, {connection})
///         connections that are open
///     sessionq.connection.opened (counter, {connection})
///         connections made
///     sessionq.connection.reopened (counter, {connection})
///         those made after another one was lost
///     sessionq.connection.lost (counter, {connection})
///         open connections that ended
///     sessionq.connection.failures (counter, {attempt})
///         attempts to connect that failed
///     sessionq.network.io (counter, By)
///         network.io.direction: bytes received (`receive`) and sent (`transmit`), above TLS
///
/// Example:
///
///     Metrics all = processor.metrics();
///     all += client.metrics();
///     std::cout << all.value("sessionq.message.ended", {{"sessionq.outcome", "completed"}})
///               << " completed, half of the handlers took less than "
///               << all.histogram("messaging.process.duration").quantile(0.5).count() << " ns\n"
///               << to_prometheus(all);
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe to read.
class Metrics {
public:
    /// In the order in which they were added.
    [[nodiscard]] const std::vector<Metric>& all() const noexcept { return all_; }

    /// Null: there is none of that name. Valid until the next change.
    [[nodiscard]] const Metric* find(std::string_view name) const noexcept;

    /// The sum of the counter's or gauge's points that have all of these attributes. Zero if there
    /// is none.
    [[nodiscard]] double value(std::string_view name, const MetricAttributes& with = {}) const;

    /// The histogram's points that have all of these attributes, as one. Empty if there is none.
    [[nodiscard]] Histogram histogram(std::string_view name,
                                      const MetricAttributes& with = {}) const;

    /// Adds points to the metric of that name, and the metric if it is not there. A point that has
    /// the attributes of another one, in the same order, is added to it: counts and gauges add up,
    /// of gauges in seconds the greater one stays.
    void add(const Metric& metric);

    /// Adds all points of `other`, so that several processors and clients are one. A point with the
    /// same attributes, in the same order, is added to the one that is there: counts and gauges add
    /// up, of gauges in seconds the greater one stays.
    Metrics& operator+=(const Metrics& other);

private:
    std::vector<Metric> all_{};
};

/// Renders metrics in the text format of Prometheus, version 0.0.4: `sessionq.lock.margin` becomes
/// `sessionq_lock_margin_seconds`, counters end in `_total`. Histograms have buckets from 1 us to
/// 1 h, among them those that OpenTelemetry's conventions recommend. A length that is nearer to a
/// bound than `Histogram::relative_error` may be counted on the wrong side of it. To be served as
/// `text/plain; version=0.0.4; charset=utf-8`. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string to_prometheus(const Metrics& metrics);

/// Renders metrics as one line of JSON: an array of `name`, `description`, `unit`, `kind` and
/// `points`. A point has its `attributes` as an object, and `value`. Of a histogram it has `count`,
/// `sum`, `min`, `max`, `p50`, `p90`, `p99` and `buckets` instead: the longest length that each
/// bucket counts (`upper`) and its own `count`. Lengths are seconds. Bytes that are not UTF-8
/// become U+FFFD.
///
/// Example:
///
///     std::cout << to_json(client.metrics()) << '\n';
[[nodiscard]] std::string to_json(const Metrics& metrics);

} // namespace sessionq::inline v1
