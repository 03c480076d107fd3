#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/queue.hpp"
#include "broker/wakeup_board.hpp"

namespace sessionq::broker {

/// The local broker: queues by name, each independent of the others. It has no thread and no clock; whoever owns it calls `advance` in time.
///
/// Thread-safe, but for `set_wakeup_listener`.
class Broker {
public:
    Broker();
    /// Keeps what happens in `journal`, and has from the start what it `kept`, as of `at`. A queue that was kept is there under its name at once, and takes
    /// up its work with the options it is made with anew, or else, when it is first asked for, with those that were kept.
    Broker(std::shared_ptr<Journal> journal, std::vector<KeptQueue> kept, Instant at);
    ~Broker();
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;

    /// Makes a queue and its dead-letter sub-queue, named `<name>/$DeadLetterQueue`. Fails with invalid_option, duplicate_entity, or invalid_argument for
    /// a name that is empty, longer than 260 characters or holds a '$'. One that was kept and not asked for yet is taken over with all that is in it; fails
    /// with invalid_option if it was one with sessions and is to be one without, or the reverse.
    core::Result<core::Done> create_queue(const std::string& name, const QueueOptions& options, Instant at);

    /// Removes a queue with all that is in it. Its consumers are lost and its waits refused, with entity_not_found.
    core::Result<core::Done> delete_queue(std::string_view name, Instant at);

    /// A queue or dead-letter sub-queue, or entity_not_found.
    core::Result<QueuePtr> find(std::string_view name);

    [[nodiscard]] std::vector<std::string> queue_names() const;

    /// When something will be due (locks, times to live, schedules, waits); unset: nothing is. The caller then looks no later than that.
    [[nodiscard]] std::optional<TimePoint> next_wakeup();

    /// Does what is due. Calls in between do what is due in their queue, so being late costs promptness only.
    void advance(Instant at);

    /// `listener` runs whenever something becomes due earlier than `next_wakeup` last said: on the thread that caused it, under no lock, briefly, also
    /// when nothing is waiting for it. Set it before the broker is shared.
    void set_wakeup_listener(std::function<void()> listener) { board_->set_listener(std::move(listener)); }

    /// What keeps the changes; null: nothing does.
    [[nodiscard]] Journal* journal() const noexcept { return journal_.get(); }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view name) const noexcept { return std::hash<std::string_view>{}(name); }
    };

    using KeptQueues = std::unordered_map<std::string, KeptQueue, Hash, std::equal_to<>>;

    [[nodiscard]] std::shared_ptr<QueuePair> find_pair(std::string_view name);
    core::Result<std::shared_ptr<QueuePair>> restore(KeptQueues::iterator found, const QueueOptions& options);
    std::shared_ptr<QueuePair> make_pair(const std::string& name, const QueueOptions& options, Instant at);

    const std::shared_ptr<Journal> journal_;
    const Instant kept_at_{};
    const std::shared_ptr<WakeupBoard> board_;
    mutable std::shared_mutex mutex_; // guards kept_ and queues_
    KeptQueues kept_;                 // not asked for yet
    std::unordered_map<std::string, std::shared_ptr<QueuePair>, Hash, std::equal_to<>> queues_;
};

} // namespace sessionq::broker
