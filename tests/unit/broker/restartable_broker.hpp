// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/broker.hpp"
#include "broker/store/store_journal.hpp"
#include "server/stored_content.hpp"
#include "support/temporary_directory.hpp"
#include "unit/broker/queue_fixture.hpp"

namespace sessionq::test {

/// A broker with a store, on manual time, that can be ended and restarted.
class RestartableBroker {
public:
    static broker::QueueOptions sessions() {
        return {.requires_session = true, .lock_duration = 30s, .max_delivery_count = 3};
    }

    RestartableBroker() { start(); }

    [[nodiscard]] auto open() const {
        const auto codec = std::make_shared<const server::StoredContent>(
            amqp::ClockReading{.now = at.now, .wall = at.wall});
        return broker::StoreJournal::open(directory.path() / "data", codec, at.wall,
                                          core::system_clock())
            .value();
    }
    void start() {
        auto opened = open();
        broker = std::make_unique<broker::Broker>(opened.journal, std::move(opened.stored), at);
    }
    /// Ends the broker after everything is written, and restarts it `later` on a new monotonic time
    /// line.
    void restart(Duration later = 1s) {
        broker.reset();
        at = {.now = TimePoint{later},
              .wall = at.wall + std::chrono::duration_cast<WallTime::duration>(later)};
        start();
    }
    /// Writes a state into the store of a broker that has ended, as it is, and restarts the broker.
    void write_state(const std::string& name, const std::string& session, std::string state) {
        broker.reset();
        {
            auto opened = open();
            for (const broker::DurableQueue& queue : opened.stored) {
                if (queue.name == name) {
                    opened.journal->append({broker::SessionStateSet{
                        .entity = queue.queue.id, .session_id = session, .state = state}});
                }
            }
        }
        start();
    }
    void pass(Duration length) {
        at.now += length;
        at.wall += std::chrono::duration_cast<WallTime::duration>(length);
    }

    void create(const std::string& name, const broker::QueueOptions& options = sessions()) {
        static_cast<void>(broker->create_queue(name, options, at).value());
    }
    broker::QueuePtr queue(const std::string& name) { return broker->find(name).value(); }
    broker::QueuePtr dead_letters(const std::string& name) {
        return queue(name + "/$DeadLetterQueue");
    }

    std::vector<std::int64_t> send(const std::string& name, std::string_view session,
                                   std::initializer_list<std::string_view> bodies) {
        std::vector<Message> messages;
        for (const std::string_view body : bodies) {
            messages.push_back(Message::of(body).in_session(session));
        }
        return queue(name)->send(std::move(messages), at).value();
    }
    std::int64_t send(const std::string& name, Message message) {
        std::vector<Message> messages;
        messages.push_back(std::move(message));
        return queue(name)->send(std::move(messages), at).value().front();
    }

    std::shared_ptr<RecordingTarget> accept(
        const std::string& name, std::optional<std::string> session = std::nullopt,
        broker::ReceiveMode mode = broker::ReceiveMode::peek_lock) {
        auto target = std::make_shared<RecordingTarget>();
        queue(name)->accept({.session_id = std::move(session), .mode = mode, .until = at.now},
                            target, at);
        return target;
    }
    std::vector<broker::Delivered> pull(const std::string& name, RecordingTarget& target) {
        std::vector<broker::Delivered> got;
        queue(name)->pull(*target.consumer, 100, got, at);
        return got;
    }
    std::optional<Errc> settle(const std::string& name, RecordingTarget& target,
                               const broker::Delivered& delivered, broker::Outcome outcome,
                               const broker::Changes& changes = {}) {
        broker::SettleOrder order{
            .token = delivered.token, .outcome = outcome, .changes = &changes};
        queue(name)->settle(*target.consumer, {&order, 1}, at);
        return order.failed_with;
    }
    std::string peek_text(broker::Queue& of) const {
        std::string text;
        for (const auto& message : of.peek(0, 1000, std::nullopt, at)) {
            text += (text.empty() ? "" : " ") + std::string{message.text()};
        }
        return text;
    }

    TemporaryDirectory directory{};
    broker::Instant at{TimePoint{1h}, WallTime{std::chrono::hours{24 * 365 * 50}}};
    std::unique_ptr<broker::Broker> broker{};
};

} // namespace sessionq::test
