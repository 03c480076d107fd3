// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/broker.hpp"

namespace sessionq::test {

using namespace std::chrono_literals;

/// A client that records its notifications.
struct RecordingTarget final : broker::ConsumerTarget {
    void on_accepted(broker::ConsumerPtr granted) noexcept override {
        consumer = std::move(granted);
    }
    void on_refused(Failure why) noexcept override { refused = why.code; }
    void notify_work() noexcept override { ++notified; }
    void on_lost(Failure why) noexcept override { lost = why.code; }

    broker::ConsumerPtr consumer{};
    std::optional<Errc> refused{};
    std::optional<Errc> lost{};
    int notified{0};
};

/// A broker with one queue, on manual time.
class QueueFixture {
public:
    static constexpr Duration lock_duration = 30s;

    QueueFixture()
        : QueueFixture{broker::QueueOptions{
              .requires_session = true, .lock_duration = lock_duration, .max_delivery_count = 3}} {}
    explicit QueueFixture(const broker::QueueOptions& options) {
        static_cast<void>(broker.create_queue("orders", options, at).value());
        queue = broker.find("orders").value();
        dead_letters = broker.find("orders/$DeadLetterQueue").value();
    }

    /// Ends every consumer: it and its target own each other until then.
    ~QueueFixture() { static_cast<void>(broker.delete_entity("orders", at)); }
    QueueFixture(const QueueFixture&) = delete;
    QueueFixture& operator=(const QueueFixture&) = delete;

    void pass(Duration length) {
        at.now += length;
        at.wall += std::chrono::duration_cast<WallTime::duration>(length);
    }
    /// Moves time and does what is due.
    void pass_and_advance(Duration length) {
        pass(length);
        broker.advance(at);
    }

    std::vector<std::int64_t> send(std::string_view session,
                                   std::initializer_list<std::string_view> bodies) {
        std::vector<Message> messages;
        for (const std::string_view body : bodies) {
            messages.push_back(Message::of(body).in_session(session));
        }
        return queue->send(std::move(messages), at).value();
    }
    std::int64_t send(Message message) {
        std::vector<Message> messages;
        messages.push_back(std::move(message));
        return queue->send(std::move(messages), at).value().front();
    }

    std::shared_ptr<RecordingTarget> accept(std::optional<std::string> session, Duration wait = 0s,
                                            int priority = 0) {
        auto target = std::make_shared<RecordingTarget>();
        last_wait = queue->accept(
            {.session_id = std::move(session), .priority = priority, .until = at.now + wait},
            target, at);
        return target;
    }

    std::vector<broker::Delivered> pull(RecordingTarget& target, std::uint32_t max = 100) {
        std::vector<broker::Delivered> got;
        queue->pull(*target.consumer, max, got, at);
        return got;
    }
    std::string pull_text(RecordingTarget& target, std::uint32_t max = 100) {
        return text_of(pull(target, max));
    }

    std::optional<Errc> settle(RecordingTarget& target, const broker::Delivered& delivered,
                               broker::Outcome outcome, broker::Changes changes = {}) {
        broker::SettleOrder order{
            .token = delivered.token, .outcome = outcome, .changes = &changes};
        queue->settle(*target.consumer, {&order, 1}, at);
        return order.failed_with;
    }

    void close(RecordingTarget& target) { queue->close(*target.consumer, at); }

    /// The number of messages in any state.
    [[nodiscard]] std::size_t count(broker::Queue& of) const {
        const auto counts = of.counts(at);
        return counts.active + counts.deferred + counts.scheduled;
    }

    /// The bodies in order, separated by spaces.
    static std::string text_of(const std::vector<broker::Delivered>& messages) {
        std::string text;
        for (const auto& delivered : messages) {
            text += (text.empty() ? "" : " ") + delivered.message.content().body;
        }
        return text;
    }
    std::string peek_text(broker::Queue& of,
                          const std::optional<std::string>& session = std::nullopt) const {
        std::string text;
        for (const auto& message : of.peek(0, 1000, session, at)) {
            text += (text.empty() ? "" : " ") + message.content().body;
        }
        return text;
    }

    broker::Instant at{TimePoint{1h}, WallTime{std::chrono::hours{24 * 365 * 50}}};
    broker::Broker broker{};
    broker::QueuePtr queue{};
    broker::QueuePtr dead_letters{};
    broker::OperationId last_wait{0};
};

} // namespace sessionq::test
