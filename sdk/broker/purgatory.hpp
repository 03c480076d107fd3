#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>

#include "broker/queue_context.hpp"
#include "core/intrusive_list.hpp"
#include "timing/timer.hpp"

namespace sessionq::broker {

/// Names a waiting operation. Never reused. Zero: none.
using OperationId = std::uint64_t;

/// Holds operations that wait until they either complete or expire, exactly once. Each operation
/// watches one or more keys. When a key becomes ready, its first operation is taken, by priority
/// (DG6) and then in order of arrival (DG5).
///
/// Each operation takes O(1) in the number of waiters for a key. Reads no clock. Guarded by its
/// context's lock.
class Purgatory {
public:
    using Key = std::uint64_t;

    /// A waiting operation. The purgatory owns it until it completes, is cancelled or expires.
    class Operation {
    public:
        virtual ~Operation() = default;

        /// The time is up. The operation has left the purgatory and is destroyed after this call.
        virtual void on_expired() = 0;

        [[nodiscard]] OperationId id() const noexcept { return id_; }

    private:
        friend class Purgatory;

        struct Watch : core::ListHook<Watch> {
            Operation* operation{nullptr};
            Key key{0};
        };

        OperationId id_{0};
        int priority_{0};
        std::size_t watch_count_{0};
        std::unique_ptr<Watch[]> watches_{};
        Purgatory* purgatory_{nullptr};
        timing::Timer timer_{timing::Timer::calling<&Operation::expire>(this)};

        void expire() { purgatory_->expire(*this); }
    };
    using OperationPtr = std::unique_ptr<Operation>;

    explicit Purgatory(QueueContext& context) noexcept : context_{context} {}
    Purgatory(const Purgatory&) = delete;
    Purgatory& operator=(const Purgatory&) = delete;

    /// Makes `operation` wait for any of `keys` until `due` (max: for ever). `keys` holds at least
    /// one key and no duplicates.
    OperationId watch(OperationPtr operation, std::span<const Key> keys, int priority,
                      TimePoint due);

    /// The first operation that waits for `key`; null if none does.
    [[nodiscard]] Operation* first(Key key) const noexcept;

    /// Removes an operation, to complete it or to cancel it. Null if it has completed, expired or
    /// been removed before.
    OperationPtr take(OperationId id);

    /// Any waiting operation; null if there is none.
    [[nodiscard]] Operation* any() const noexcept {
        return operations_.empty() ? nullptr : operations_.begin()->second.get();
    }

    [[nodiscard]] std::size_t size() const noexcept { return operations_.size(); }

private:
    // Sorts the lines: those of one key are adjacent, the highest priority first.
    struct LineKey {
        Key key;
        int priority;
        bool operator<(const LineKey& other) const noexcept {
            return key != other.key ? key < other.key : priority > other.priority;
        }
    };
    using Line = core::IntrusiveList<Operation::Watch, Operation::Watch>;

    void expire(Operation& operation);

    QueueContext& context_;
    std::unordered_map<OperationId, OperationPtr> operations_;
    std::map<LineKey, Line> lines_; // contains no empty line
    OperationId last_id_{0};
};

} // namespace sessionq::broker
