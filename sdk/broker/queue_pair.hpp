#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "broker/directory.hpp"
#include "broker/entity.hpp"
#include "broker/queue.hpp"
#include "broker/queue_context.hpp"
#include "broker/rule_book.hpp"
#include "broker/wakeup_board.hpp"

namespace sessionq::broker {

/// What follows a queue's name in the name of its dead-letter sub-queue.
inline constexpr std::string_view dead_letter_suffix = "/$DeadLetterQueue";

/// What a journal knows a queue and its dead-letter sub-queue by.
struct QueueIds {
    EntityId queue{0};
    EntityId dead_letters{0};
};

/// What a queue, topic or subscription is.
struct EntitySpec {
    std::string name{};
    EntityKind kind{EntityKind::queue};
    QueueOptions options{};
    std::string topic{};               ///< of a subscription
    std::shared_ptr<RuleBook> rules{}; ///< of a subscription
};

/// A queue, topic or subscription and its dead-letter sub-queue under one lock, so that a message
/// moves from one to the other at once.
class QueuePair {
public:
    /// `directory` knows where messages go that are passed on; it may have forgotten this one.
    /// Without a journal nothing is kept; else it knows the ids, and has been told of the queue.
    QueuePair(EntitySpec spec, std::shared_ptr<Directory> directory,
              std::shared_ptr<WakeupBoard> board, Instant at,
              std::shared_ptr<Journal> journal = nullptr, QueueIds ids = {})
        : kind_{spec.kind},
          rules_{std::move(spec.rules)},
          directory_{std::move(directory)},
          board_{std::move(board)},
          journal_{std::move(journal)},
          ids_{ids},
          context_{at, journal_.get()},
          dead_letter_entity_{spec.name + std::string{dead_letter_suffix},
                              EntityKind::queue,
                              dead_letter_options(spec.options),
                              context_,
                              nullptr,
                              ids.dead_letters},
          entity_{spec.name, spec.kind, spec.options, context_, &dead_letter_entity_, ids.queue},
          queue_{entity_.name(), *this, entity_},
          dead_letters_{dead_letter_entity_.name(), *this, dead_letter_entity_} {
        if (rules_ && journal_) {
            rules_->keep_in(journal_, ids.queue, entity_.name());
        }
    }

    /// Lets go of consumers that nobody closed, and says nothing to anybody: they and their targets
    /// hold on to each other.
    ~QueuePair() {
        entity_.shut_down();
        dead_letter_entity_.shut_down();
    }
    QueuePair(const QueuePair&) = delete;
    QueuePair& operator=(const QueuePair&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return entity_.name(); }
    [[nodiscard]] EntityKind kind() const noexcept { return kind_; }
    [[nodiscard]] const QueueOptions& options() const noexcept { return entity_.options(); }
    [[nodiscard]] Queue& queue() noexcept { return queue_; }
    [[nodiscard]] Queue& dead_letters() noexcept { return dead_letters_; }

    [[nodiscard]] const QueueIds& ids() const noexcept { return ids_; }

    /// Puts everything where it was; what was due meanwhile happens with the next call. First of
    /// all.
    void restore(KeptQueue kept) {
        dead_letter_entity_.restore(std::move(kept.dead_letters));
        entity_.restore(std::move(kept.queue));
    }

    /// Of a subscription, else null.
    [[nodiscard]] RuleBook* rules() const noexcept { return rules_.get(); }

    /// Where one of the two entities passes its messages on to, if it does and is no topic.
    [[nodiscard]] const std::string& destination_of(const Entity& entity) const noexcept {
        return &entity == &entity_ ? options().forward_to : options().forward_dead_letters_to;
    }

    /// Takes messages that others pass on; answers with why not, of the last one that was not
    /// taken. Thread-safe.
    std::optional<Failure> take(std::span<Arrival> arrivals, Instant at);

    /// What the directory held back goes out. Thread-safe.
    void release_held(Instant at);

    /// Nothing happens by itself before this. Thread-safe.
    [[nodiscard]] TimePoint next_due() const noexcept {
        return TimePoint{Duration{next_due_.load(std::memory_order_seq_cst)}};
    }

    /// Runs `operation` on the entities under the lock, after what was due, and says what follows
    /// from it after the lock. Thread-safe.
    template <typename Operation>
    auto perform(Instant at, Operation operation) {
        Effects effects;
        bool is_due_earlier = false;
        std::unique_lock lock{mutex_};
        if (context_.begin(at)) {
            finish(); // whoever waits comes before who asks now
        }
        auto answer = operation();
        finish();
        context_.hand_over_changes();
        effects.swap(context_.effects());
        const bool passes_on = begin_passing_on();
        const TimePoint due = context_.next_due();
        if (due != next_due()) {
            is_due_earlier = due < next_due();
            next_due_.store(due.time_since_epoch().count(), std::memory_order_seq_cst);
        }
        lock.unlock();
        effects.say();
        if (is_due_earlier) {
            board_->offer(due);
        }
        if (passes_on) {
            pass_on(at);
        }
        return answer;
    }

    /// Does what is due. Thread-safe.
    void advance(Instant at) {
        perform(at, [] { return true; });
    }

    /// Nothing that happens from now on is kept. Thread-safe.
    void stop_keeping() {
        const std::lock_guard lock{mutex_};
        context_.stop_keeping();
    }

    /// Ends all consumers and waits; from now on the queue refuses. Thread-safe.
    void shut_down(Instant at) {
        perform(at, [this] {
            entity_.shut_down();
            dead_letter_entity_.shut_down();
            return true;
        });
    }

private:
    void finish() {
        entity_.finish();
        dead_letter_entity_.finish();
    }

    [[nodiscard]] bool begin_passing_on();
    void pass_on(Instant at);

    static QueueOptions dead_letter_options(QueueOptions of) {
        of.requires_session = false;
        of.forward_to = of.forward_dead_letters_to;
        of.default_time_to_live.reset();
        of.duplicate_detection_window.reset();
        return of;
    }

    const EntityKind kind_;
    const std::shared_ptr<RuleBook> rules_;
    const std::shared_ptr<Directory> directory_;
    const std::shared_ptr<WakeupBoard> board_;
    const std::shared_ptr<Journal> journal_; // null: nothing is kept
    const QueueIds ids_;
    std::mutex mutex_; // guards all up to both entities
    std::vector<Transit> leaving_;
    std::vector<Transit> held_;
    bool is_passing_on_{
        false}; // one thread at a time does, in the order in which the messages came
    QueueContext context_;
    Entity dead_letter_entity_;
    Entity entity_;
    std::atomic<Duration::rep> next_due_{
        TimePoint::max().time_since_epoch().count()}; // written under mutex_
    Queue queue_;
    Queue dead_letters_;
};

} // namespace sessionq::broker
