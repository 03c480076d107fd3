#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "broker/entity.hpp"
#include "broker/queue.hpp"
#include "broker/queue_context.hpp"
#include "broker/wakeup_board.hpp"

namespace sessionq::broker {

/// What follows a queue's name in the name of its dead-letter sub-queue.
inline constexpr std::string_view dead_letter_suffix = "/$DeadLetterQueue";

/// What a journal knows a queue and its dead-letter sub-queue by.
struct QueueIds {
    EntityId queue{0};
    EntityId dead_letters{0};
};

/// A queue and its dead-letter sub-queue under one lock, so that a message moves from one to the other at once.
class QueuePair {
public:
    /// Without a journal nothing is kept; else it knows the ids, and has been told of the queue.
    QueuePair(const std::string& name, const QueueOptions& options, std::shared_ptr<WakeupBoard> board, Instant at,
              std::shared_ptr<Journal> journal = nullptr,
              QueueIds ids = {})
        : board_{std::move(board)},
          journal_{std::move(journal)},
          ids_{ids},
          context_{at, journal_.get()},
          dead_letter_entity_{name + std::string{dead_letter_suffix}, dead_letter_options(options), context_, nullptr, ids.dead_letters},
          entity_{name, options, context_, &dead_letter_entity_, ids.queue},
          queue_{name, *this, entity_},
          dead_letters_{name + std::string{dead_letter_suffix}, *this, dead_letter_entity_} {}

    /// Lets go of consumers that nobody closed, and says nothing to anybody: they and their targets hold on to each other.
    ~QueuePair() {
        entity_.shut_down();
        dead_letter_entity_.shut_down();
    }
    QueuePair(const QueuePair&) = delete;
    QueuePair& operator=(const QueuePair&) = delete;

    [[nodiscard]] Queue& queue() noexcept { return queue_; }
    [[nodiscard]] Queue& dead_letters() noexcept { return dead_letters_; }

    [[nodiscard]] const QueueIds& ids() const noexcept { return ids_; }

    /// Puts everything where it was. First of all.
    void restore(KeptQueue kept, Instant at) {
        dead_letter_entity_.restore(std::move(kept.dead_letters));
        entity_.restore(std::move(kept.queue));
        advance(at);
    }

    /// Nothing happens by itself before this. Thread-safe.
    [[nodiscard]] TimePoint next_due() const noexcept { return TimePoint{Duration{next_due_.load(std::memory_order_seq_cst)}}; }

    /// Runs `operation` on the entities under the lock, after what was due, and says what follows from it after the lock. Thread-safe.
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

    static QueueOptions dead_letter_options(QueueOptions of) {
        of.requires_session = false;
        of.default_time_to_live.reset();
        of.duplicate_detection_window.reset();
        return of;
    }

    const std::shared_ptr<WakeupBoard> board_;
    const std::shared_ptr<Journal> journal_; // null: nothing is kept
    const QueueIds ids_;
    std::mutex mutex_; // guards context_ and both entities
    QueueContext context_;
    Entity dead_letter_entity_;
    Entity entity_;
    std::atomic<Duration::rep> next_due_{TimePoint::max().time_since_epoch().count()}; // written under mutex_
    Queue queue_;
    Queue dead_letters_;
};

} // namespace sessionq::broker
