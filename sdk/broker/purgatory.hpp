// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>

#include "broker/queue_context.hpp"
#include "core/intrusive_list.hpp"
#include "timing/timer.hpp"

namespace sessionq::broker {

/// Names a waiting operation. Never reused. Zero: none.
using OperationId = std::uint64_t;

/// Holds operations that wait in line until they either complete or expire, exactly once. The line
/// is sorted by priority (DG6) and then by arrival (DG5).
///
/// Each operation takes O(1) in the number of waiters. Reads no clock. Guarded by its context's
/// lock.
class Purgatory {
public:
    /// A waiting operation. The purgatory owns it until it completes, is cancelled or expires.
    class Operation : core::ListHook<Operation> {
    public:
        virtual ~Operation() = default;

        /// The time is up. The operation has left the purgatory and is destroyed after this call.
        virtual void on_expired() = 0;

        [[nodiscard]] OperationId id() const noexcept { return id_; }

    private:
        friend class Purgatory;
        friend class core::IntrusiveList<Operation, Operation>;

        OperationId id_{0};
        int priority_{0};
        Purgatory* purgatory_{nullptr};
        timing::Timer timer_{timing::Timer::calling<&Operation::expire>(this)};

        void expire() { purgatory_->expire(*this); }
    };
    using OperationPtr = std::unique_ptr<Operation>;

    explicit Purgatory(QueueContext& context) noexcept : context_{context} {}
    Purgatory(const Purgatory&) = delete;
    Purgatory& operator=(const Purgatory&) = delete;

    /// Makes `operation` wait until `due` (max: for ever).
    OperationId add(OperationPtr operation, int priority, TimePoint due);

    /// The first operation in line; null if none waits.
    [[nodiscard]] Operation* first() const noexcept {
        return lines_.empty() ? nullptr : lines_.begin()->second.front();
    }

    /// Removes an operation, to complete it or to cancel it. Null if it has completed, expired or
    /// been removed before.
    OperationPtr take(OperationId id);

    [[nodiscard]] std::size_t size() const noexcept { return operations_.size(); }

private:
    using Line = core::IntrusiveList<Operation, Operation>;

    void expire(Operation& operation);

    QueueContext& context_;
    std::unordered_map<OperationId, OperationPtr> operations_;
    std::map<int, Line, std::greater<>> lines_; // by priority; contains no empty line
    OperationId last_id_{0};
};

} // namespace sessionq::broker
