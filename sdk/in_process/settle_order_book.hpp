// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "broker/journal.hpp"
#include "broker/queue.hpp"
#include "ports/delivery.hpp"

namespace sessionq::in_process {

/// The settlements of a link until its owner is told. Not a `ports::SettlementBook`, because the
/// broker answers within the call: settlements wait for that call, which takes a batch, and for the
/// journal.
class SettleOrderBook {
public:
    struct Batch {
        std::vector<broker::SettleOrder> orders{};
        std::vector<ports::Delivery*> deliveries{}; ///< Of the orders.
    };

    /// The memory of books that ended, for those that begin. Each loop has one.
    using Spare = std::vector<Batch>;

    explicit SettleOrderBook(Spare& spare) noexcept : spare_{spare} {}
    ~SettleOrderBook();
    SettleOrderBook(const SettleOrderBook&) = delete;
    SettleOrderBook& operator=(const SettleOrderBook&) = delete;

    void add(ports::Delivery& delivery, ports::Settlement&& settlement);

    /// Tells the broker of the settlements that it has not been told of, in order.
    void apply(broker::Queue& queue, broker::Consumer& consumer, broker::Instant at,
               broker::Journal* journal);

    [[nodiscard]] bool empty() const noexcept { return batch_.orders.empty(); }
    /// Whether outcomes that are taken now must wait for the journal. Asked once.
    [[nodiscard]] bool take_unkept() noexcept { return std::exchange(unkept_, false); }
    /// After `apply`.
    [[nodiscard]] Batch take_outcomes() noexcept;
    /// Takes back the memory of outcomes that have been told.
    void recycle(Batch&& told) noexcept;

private:
    Spare& spare_;
    Batch batch_{};
    std::vector<std::unique_ptr<broker::Changes>> changes_{}; // of orders to come
    std::size_t applied_{0};                                  // so many of the orders
    bool unkept_{false};
};

} // namespace sessionq::in_process
