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

/// The local broker: queues, topics and subscriptions by name, without regard to case. Messages go
/// from one to another only where an entity passes them on. It has no thread and no clock; whoever
/// owns it calls `advance` in time.
///
/// Thread-safe, but for `set_wakeup_listener`.
class Broker {
public:
    Broker();
    /// Keeps what happens in `journal`, and has from the start what it `kept`, as of `at`. A queue
    /// that was kept is there under its name at once, and takes up its work with the options it is
    /// made with anew, or else, when it is first asked for, with those that were kept.
    Broker(std::shared_ptr<Journal> journal, std::vector<KeptQueue> kept, Instant at);
    ~Broker();
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;

    /// All that is to be there from the start has been made. Until then a broker with something
    /// kept holds back what is to be passed on: where it goes may not be there yet.
    void begin(Instant at) { directory_->begin(at); }

    /// Makes a queue and its dead-letter sub-queue, named `<name>/$DeadLetterQueue`. Fails with
    /// invalid_option (also: what it passes on would come back to it), duplicate_entity, or
    /// invalid_argument for a name that is empty, longer than 260 characters, holds a '$' or is
    /// that of a subscription. Where to pass on need not exist: messages for what does not are
    /// dead-lettered. One that was kept and not asked for yet is taken over with all that is in it;
    /// fails with invalid_option if it was one with sessions and is to be one without, or the
    /// reverse. A new one fails with quota_exceeded on a full disk, and with server_busy while
    /// nothing can be kept; one that was kept is taken over all the same.
    core::Result<core::Done> create_queue(const std::string& name, const QueueOptions& options,
                                          Instant at);

    /// Makes a topic. Fails as `create_queue` does.
    core::Result<core::Done> create_topic(const std::string& name, const TopicOptions& options,
                                          Instant at);

    /// Makes a subscription, a queue named `<topic>/Subscriptions/<name>` with what the rules let
    /// in; no rules: everything. How large messages are is for the topic to say. Fails as
    /// `create_queue` does, also with entity_not_found (the topic), invalid_option
    /// (duplicate_detection_window, rules) and invalid_argument (a name longer than 50 characters
    /// or with a '/').
    core::Result<core::Done> create_subscription(const std::string& topic, const std::string& name,
                                                 QueueOptions options, std::vector<Rule> rules,
                                                 Instant at);

    /// Removes a queue, a topic with its subscriptions, or a subscription, with all that is in it.
    /// Its consumers are lost and its waits refused, with entity_not_found. Fails with
    /// entity_not_found, and with server_busy while nothing can be kept; not on a full disk.
    core::Result<core::Done> delete_entity(std::string_view name, Instant at);

    /// An entity or dead-letter sub-queue, or entity_not_found.
    core::Result<QueuePtr> find(std::string_view name);

    /// Full names, sorted.
    [[nodiscard]] std::vector<std::string> names(EntityKind kind) const;

    /// When something will be due (locks, times to live, schedules, waits); unset: nothing is. The
    /// caller then looks no later than that.
    [[nodiscard]] std::optional<TimePoint> next_wakeup();

    /// Does what is due. Calls in between do what is due in their queue, so being late costs
    /// promptness only.
    void advance(Instant at);

    /// `listener` runs whenever something becomes due earlier than `next_wakeup` last said: on the
    /// thread that caused it, under no lock, briefly, also when nothing is waiting for it. Set it
    /// before the broker is shared.
    void set_wakeup_listener(std::function<void()> listener) {
        board_->set_listener(std::move(listener));
    }

    /// What keeps the changes; null: nothing does.
    [[nodiscard]] Journal* journal() const noexcept { return directory_->journal(); }

private:
    core::Result<core::Done> create(EntitySpec spec, Instant at);

    const std::shared_ptr<WakeupBoard> board_;
    const std::shared_ptr<Directory> directory_;
};

/// The full name of a subscription.
[[nodiscard]] std::string subscription_name(std::string_view topic, std::string_view name);

} // namespace sessionq::broker
