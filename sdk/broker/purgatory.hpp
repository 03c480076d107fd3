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

/// Names an operation that waits in a purgatory; never reused. Zero: none.
using OperationId = std::uint64_t;

/// Where operations wait that either complete or expire, whichever is first, exactly once. Each
/// watches one or more keys; whoever can do something for a key takes the operation that is first
/// in line there, by priority (DG6) and then by arrival (DG5).
///
/// All operations are O(1) in the number that wait for a key. Pure; bound to its context's lock.
class Purgatory {
public:
    using Key = std::uint64_t;

    /// What waits. Owned by the purgatory until it completes, is cancelled, or has expired.
    class Operation {
    public:
        virtual ~Operation() = default;

        /// The time is up; it is not in the purgatory any more, and destroyed after this call.
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

    /// Lets `operation` wait until `due` (max: for ever) for any of `keys`, which are distinct and
    /// at least one.
    OperationId watch(OperationPtr operation, std::span<const Key> keys, int priority,
                      TimePoint due);

    /// The operation that is first in line for `key`; null if none waits.
    [[nodiscard]] Operation* first(Key key) const noexcept;

    /// Takes an operation out: to complete it, or to give it up. Null when it has completed,
    /// expired or been given up before.
    OperationPtr take(OperationId id);

    /// Any operation that waits; null if none does.
    [[nodiscard]] Operation* any() const noexcept {
        return operations_.empty() ? nullptr : operations_.begin()->second.get();
    }

    [[nodiscard]] std::size_t size() const noexcept { return operations_.size(); }

private:
    struct Place { // of a line among lines: those of a key together, the highest priority first
        Key key;
        int priority;
        bool operator<(const Place& other) const noexcept {
            return key != other.key ? key < other.key : priority > other.priority;
        }
    };
    using Line = core::IntrusiveList<Operation::Watch, Operation::Watch>;

    void expire(Operation& operation);

    QueueContext& context_;
    std::unordered_map<OperationId, OperationPtr> operations_;
    std::map<Place, Line> lines_; // none of them empty
    OperationId last_id_{0};
};

} // namespace sessionq::broker
