// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "broker/directory.hpp"
#include "broker/entity.hpp"
#include "broker/forwarding_line.hpp"
#include "broker/queue.hpp"
#include "broker/queue_context.hpp"
#include "broker/route.hpp"
#include "broker/rule_book.hpp"
#include "broker/wakeup_board.hpp"

namespace sessionq::broker {

/// The suffix of a dead-letter sub-queue's name.
inline constexpr std::string_view dead_letter_suffix = "/$DeadLetterQueue";

/// The journal's ids of a queue and its dead-letter sub-queue.
struct QueueIds {
    EntityId queue{0};
    EntityId dead_letters{0};
};

/// The definition of a queue, topic or subscription.
struct EntitySpec {
    std::string name{};
    EntityKind kind{EntityKind::queue};
    QueueOptions options{};
    std::string topic{};                 ///< of a subscription
    std::shared_ptr<SizeAccount> size{}; ///< of a topic and its subscriptions; set by Directory
    std::shared_ptr<RuleBook> rules{};   ///< of a subscription
};

/// A queue, topic or subscription together with its dead-letter sub-queue. One lock guards both, so
/// a message moves between them atomically.
class QueuePair {
public:
    /// `directory` forwards messages; it may have removed this entity. With a journal, `ids` are
    /// its names there, and the queue is recorded already. Without a journal nothing is stored.
    QueuePair(EntitySpec spec, std::shared_ptr<Directory> directory,
              std::shared_ptr<WakeupBoard> board, Instant at,
              std::shared_ptr<Journal> journal = nullptr, QueueIds ids = {})
        : rules_{std::move(spec.rules)},
          size_{std::move(spec.size)},
          directory_{std::move(directory)},
          board_{std::move(board)},
          journal_{std::move(journal)},
          ids_{ids},
          context_{at, journal_.get(), size_.get()},
          dead_letter_entity_{spec.name + std::string{dead_letter_suffix},
                              EntityKind::queue,
                              dead_letter_options(spec.options),
                              context_,
                              nullptr,
                              ids.dead_letters},
          entity_{spec.name, spec.kind, spec.options, context_, &dead_letter_entity_, ids.queue},
          queue_{*this, entity_},
          dead_letters_{*this, dead_letter_entity_} {
        if (rules_ && journal_) {
            rules_->record_in(journal_, ids.queue, name());
        }
    }

    /// Ends consumers that were not closed, without notifying them: a consumer and its target own
    /// each other.
    ~QueuePair() {
        entity_.shut_down();
        dead_letter_entity_.shut_down();
    }
    QueuePair(const QueuePair&) = delete;
    QueuePair& operator=(const QueuePair&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return entity_.state.name; }
    [[nodiscard]] EntityKind kind() const noexcept { return entity_.state.kind; }
    [[nodiscard]] const QueueOptions& options() const noexcept { return entity_.state.options; }
    [[nodiscard]] Queue& queue() noexcept { return queue_; }
    [[nodiscard]] Queue& dead_letters() noexcept { return dead_letters_; }

    [[nodiscard]] const QueueIds& ids() const noexcept { return ids_; }

    /// Restores the stored content. Must be the first call. Timers that became due meanwhile run
    /// with the next call.
    void restore(DurableQueue stored) {
        dead_letter_entity_.restore(std::move(stored.dead_letters));
        entity_.restore(std::move(stored.queue));
    }

    /// Null: it is a queue.
    [[nodiscard]] const std::shared_ptr<SizeAccount>& size() const noexcept { return size_; }

    /// Null unless it is a subscription.
    [[nodiscard]] RuleBook* rules() const noexcept { return rules_.get(); }

    /// The most messages that one message becomes here and in subscriptions. Thread-safe.
    [[nodiscard]] std::size_t most_copies() const;

    /// Takes messages that other entities forward. Returns the reason for the last one that it
    /// rejected. `work` is that of the turn. Thread-safe.
    std::optional<Failure> take(std::span<Arrival> arrivals, Instant at, filter::Work& work);

    /// Forwards the messages that the directory held back. Thread-safe.
    void forward_held(Instant at);

    /// Nothing is due before this instant. Thread-safe.
    [[nodiscard]] TimePoint next_due() const noexcept {
        return TimePoint{Duration{next_due_.load(std::memory_order_seq_cst)}};
    }

    /// Calls `done` once all messages that left the entities before have arrived where it forwards
    /// them, or have failed to. It runs under no lock, on the thread that forwards, and must be
    /// quick. Returns false, and never calls it, if that is so already. Thread-safe.
    [[nodiscard]] bool when_forwarded(ForwardingLine::Done done);

    /// Runs `operation` on the entities under the lock, after the timers that were due. Delivers
    /// the resulting notifications after the lock. Thread-safe.
    template <typename Operation>
    auto perform(Instant at, Operation operation) {
        filter::Work work{steps_a_turn};
        return perform(at, work, std::move(operation));
    }

    /// Does the work that is due, a turn of it. Thread-safe.
    void advance(Instant at);

    /// Stores nothing from now on. Thread-safe.
    void detach_journal() {
        const std::lock_guard lock{mutex_};
        context_.detach_journal();
    }

    /// Ends all consumers and waiting accepts. From now on the queue rejects every operation.
    /// Thread-safe.
    void shut_down(Instant at);

private:
    /// Forwards messages as the turn's `work` allows.
    template <typename Operation>
    auto perform(Instant at, filter::Work& work, Operation operation) {
        Effects effects;
        std::unique_lock lock{mutex_};
        if (context_.begin(at)) {
            finish(); // waiting accepts come before this operation
        }
        auto answer = operation();
        finish();
        context_.submit_changes();
        effects.swap(context_.effects());
        const bool must_forward = begin_forwarding();
        const std::optional<TimePoint> due_earlier = note_due();
        lock.unlock();
        effects.deliver();
        if (due_earlier) {
            board_->offer(*due_earlier);
        }
        if (must_forward) {
            forward(at, work);
        }
        return answer;
    }

    /// Returns when something is due if that is earlier than it was.
    [[nodiscard]] std::optional<TimePoint> note_due() noexcept {
        const TimePoint due = std::min(context_.next_due(), line_.due());
        const TimePoint before = next_due();
        if (due == before) {
            return std::nullopt;
        }
        next_due_.store(due.time_since_epoch().count(), std::memory_order_seq_cst);
        return due < before ? std::optional{due} : std::nullopt;
    }

    void finish() {
        entity_.consumers.serve();
        dead_letter_entity_.consumers.serve();
        entity_.browsers.serve();
        dead_letter_entity_.browsers.serve();
    }

    [[nodiscard]] bool begin_forwarding() {
        if (context_.transits().empty()) {
            return false;
        }
        line_.add(context_.transits());
        return line_.begin();
    }
    void forward(Instant at, filter::Work& work);
    [[nodiscard]] bool take_route();
    void put_down(Instant at);
    void end_route(Instant at, filter::Work& work);

    static QueueOptions dead_letter_options(QueueOptions of) {
        of.requires_session = false;
        of.forward_to = of.forward_dead_letters_to;
        of.default_time_to_live.reset();
        of.duplicate_detection_window.reset();
        of.order = MessageOrder::arrival;
        of.order_property.clear();
        return of;
    }

    const std::shared_ptr<RuleBook> rules_;
    const std::shared_ptr<SizeAccount> size_; // null: it is a queue
    const std::shared_ptr<Directory> directory_;
    const std::shared_ptr<WakeupBoard> board_;
    const std::shared_ptr<Journal> journal_; // null: nothing is stored
    const QueueIds ids_;
    std::mutex mutex_; // guards everything up to the two entities
    ForwardingLine line_;
    std::optional<Route> route_{}; // of the thread that forwards
    QueueContext context_;
    Entity dead_letter_entity_;
    Entity entity_;
    // Written under mutex_.
    std::atomic<Duration::rep> next_due_{TimePoint::max().time_since_epoch().count()};
    Queue queue_;
    Queue dead_letters_;
};

} // namespace sessionq::broker
