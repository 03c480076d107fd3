// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/rule.hpp>

#include "broker/directory.hpp"
#include "broker/queue.hpp"
#include "broker/wakeup_board.hpp"

namespace sessionq::broker {

/// The local broker: queues, topics and subscriptions, found by name without regard to case.
/// Messages move between entities only by forwarding. The broker has no thread and reads no clock:
/// its owner calls `advance` in time.
///
/// Thread-safe, except for `set_wakeup_listener`.
class Broker {
public:
    Broker();
    /// Records changes in `journal`, and starts with the entities in `stored`, as of `at`. A stored
    /// queue is found by name at once. If it is created again, it resumes work with the new
    /// options. If it is used first, it resumes with the stored options.
    Broker(std::shared_ptr<Journal> journal, std::vector<DurableQueue> stored, Instant at);
    ~Broker();
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;

    /// All entities that must exist from the start now exist. A broker with stored entities
    /// forwards nothing before this call, because a destination may not exist yet.
    void begin(Instant at) { directory_->begin(at); }

    /// Creates a queue and its dead-letter sub-queue, named `<name>/$DeadLetterQueue`. The
    /// destination of forwarding need not exist; without it messages are dead-lettered. If the
    /// queue is stored and not in use yet, it is taken over with its content.
    ///
    /// Fails with
    /// - invalid_option: an option is out of range, forwarding would form a cycle, or a stored
    ///   queue with sessions would become one without, or the reverse;
    /// - duplicate_entity: the name is in use;
    /// - invalid_argument: the name is empty, longer than 260 characters, contains a '$' or is that
    ///   of a subscription;
    /// - quota_exceeded or server_busy: the journal is full or failing. A stored queue is taken
    ///   over all the same.
    core::Result<core::Done> create_queue(const std::string& name, const QueueOptions& options,
                                          Instant at);

    /// Creates a topic. Fails as `create_queue` does.
    core::Result<core::Done> create_topic(const std::string& name, const TopicOptions& options,
                                          Instant at);

    /// Creates a subscription: a queue named `<topic>/Subscriptions/<name>` that receives the
    /// messages that its rules match. Without rules it receives every message. The topic determines
    /// the maximum message size.
    ///
    /// Fails as `create_queue` does, and with
    /// - entity_not_found: there is no such topic;
    /// - invalid_option: duplicate_detection_window is set, or a rule is invalid;
    /// - invalid_argument: the name is longer than 50 characters or contains a '/'.
    core::Result<core::Done> create_subscription(const std::string& topic, const std::string& name,
                                                 QueueOptions options, std::vector<Rule> rules,
                                                 Instant at);

    /// Deletes a queue, a subscription, or a topic with its subscriptions, and all their messages.
    /// Consumers are lost and waiting accepts are refused, with entity_not_found. Fails with
    /// entity_not_found, or with server_busy while the journal is failing. Works on a full disk.
    core::Result<core::Done> delete_entity(std::string_view name, Instant at);

    /// Finds an entity or a dead-letter sub-queue. Fails with entity_not_found.
    core::Result<QueuePtr> find(std::string_view name);

    /// The full names of all entities of a kind, sorted.
    [[nodiscard]] std::vector<std::string> names(EntityKind kind) const;

    /// When the next lock, time to live, schedule or wait is due; unset: nothing is due. The owner
    /// calls `advance` by then.
    [[nodiscard]] std::optional<TimePoint> next_wakeup();

    /// Does the work that is due at `at`. Every call on a queue first does the due work of that
    /// queue, so a late `advance` only delays notifications.
    void advance(Instant at);

    /// `listener` runs whenever something becomes due earlier than the last answer of
    /// `next_wakeup`. It runs on the thread that caused this, under no lock, and must be quick. Set
    /// it before other threads use the broker.
    void set_wakeup_listener(std::function<void()> listener) {
        board_->set_listener(std::move(listener));
    }

    /// The journal that records changes; null: the broker is in memory only.
    [[nodiscard]] Journal* journal() const noexcept { return directory_->journal(); }

private:
    core::Result<core::Done> create(EntitySpec spec, Instant at);

    const std::shared_ptr<WakeupBoard> board_;
    const std::shared_ptr<Directory> directory_;
};

/// The full name of a subscription.
[[nodiscard]] std::string subscription_name(std::string_view topic, std::string_view name);

} // namespace sessionq::broker
