// SPDX-License-Identifier: MIT
#include "in_process/settle_order_book.hpp"

#include <span>

namespace sessionq::in_process {
namespace {

broker::Outcome to_broker(ports::Outcome outcome) noexcept {
    switch (outcome) {
    case ports::Outcome::complete: return broker::Outcome::complete;
    case ports::Outcome::abandon: return broker::Outcome::abandon;
    case ports::Outcome::release: return broker::Outcome::release;
    case ports::Outcome::defer: return broker::Outcome::defer;
    case ports::Outcome::dead_letter: return broker::Outcome::dead_letter;
    }
    return broker::Outcome::release;
}

bool has_changes(const ports::Settlement& settlement) noexcept {
    return settlement.outcome == ports::Outcome::dead_letter ||
           (settlement.outcome != ports::Outcome::complete &&
            settlement.outcome != ports::Outcome::release &&
            !settlement.properties_to_modify.empty());
}

} // namespace

SettleOrderBook::~SettleOrderBook() {
    constexpr std::size_t most_spare = 64;
    if (batch_.orders.capacity() != 0 && spare_.size() < most_spare) {
        batch_.orders.clear();
        batch_.deliveries.clear();
        spare_.push_back(std::move(batch_));
    }
}

void SettleOrderBook::add(ports::Delivery& delivery, ports::Settlement&& settlement) {
    if (batch_.orders.capacity() == 0 && !spare_.empty()) {
        batch_ = std::move(spare_.back());
        spare_.pop_back();
    }
    broker::SettleOrder& order = batch_.orders.emplace_back();
    order.token = delivery.port_tag;
    order.outcome = to_broker(settlement.outcome);
    if (has_changes(settlement)) {
        order.changes = changes_
                            .emplace_back(std::make_unique<broker::Changes>(broker::Changes{
                                .dead_letter = std::make_shared<const DeadLetterInfo>(
                                    std::move(settlement.dead_letter)),
                                .properties = std::move(settlement.properties_to_modify)}))
                            .get();
    }
    batch_.deliveries.push_back(&delivery);
}

void SettleOrderBook::apply(broker::Queue& queue, broker::Consumer& consumer, broker::Instant at,
                            broker::Journal* journal) {
    const auto orders = std::span{batch_.orders}.subspan(applied_);
    if (orders.empty()) {
        return;
    }
    const auto before = journal != nullptr ? journal->last() : 0;
    queue.settle(consumer, orders, at);
    unkept_ = unkept_ || (journal != nullptr && journal->last() != before);
    applied_ = batch_.orders.size();
    changes_.clear();
}

SettleOrderBook::Batch SettleOrderBook::take_outcomes() noexcept {
    applied_ = 0;
    return std::exchange(batch_, {});
}

void SettleOrderBook::recycle(Batch&& told) noexcept {
    if (empty()) {
        told.orders.clear();
        told.deliveries.clear();
        batch_ = std::move(told);
    }
}

} // namespace sessionq::in_process
