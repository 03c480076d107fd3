#include "in_process/settle_order_book.hpp"

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

std::unique_ptr<broker::Changes> changes_of(ports::Settlement&& settlement) {
    if (settlement.outcome == ports::Outcome::complete ||
        settlement.outcome == ports::Outcome::release) {
        return nullptr;
    }
    if (settlement.outcome != ports::Outcome::dead_letter &&
        settlement.properties_to_modify.empty()) {
        return nullptr;
    }
    return std::make_unique<broker::Changes>(
        broker::Changes{.dead_letter = std::move(settlement.dead_letter),
                        .properties = std::move(settlement.properties_to_modify)});
}

} // namespace

void SettleOrderBook::add(ports::Delivery& delivery, ports::Settlement&& settlement) {
    const broker::Outcome outcome = to_broker(settlement.outcome);
    orders_.push_back(
        {.delivery = &delivery, .outcome = outcome, .changes = changes_of(std::move(settlement))});
}

void SettleOrderBook::apply(broker::Queue& queue, broker::Consumer& consumer, broker::Instant at,
                            broker::Journal* journal, std::vector<broker::SettleOrder>& orders) {
    if (orders_.empty()) {
        return;
    }
    orders.clear();
    for (const Order& each : orders_) {
        orders.push_back({.token = each.delivery->port_tag,
                          .outcome = each.outcome,
                          .changes = each.changes.get()});
    }
    const auto before = journal != nullptr ? journal->last() : 0;
    queue.settle(consumer, orders, at);
    unkept_ = unkept_ || (journal != nullptr && journal->last() != before);
    auto answer = orders.begin();
    for (const Order& each : orders_) {
        outcomes_.push_back({.delivery = each.delivery, .failed_with = (answer++)->failed_with});
    }
    orders_.clear();
}

void SettleOrderBook::recycle(Outcomes&& told) noexcept {
    if (outcomes_.empty()) {
        told.clear();
        outcomes_ = std::move(told);
    }
}

} // namespace sessionq::in_process
