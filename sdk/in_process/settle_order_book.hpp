#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "broker/journal.hpp"
#include "broker/queue.hpp"
#include "ports/delivery.hpp"

namespace sessionq::in_process {

/// The settlements of a link between the owner's call and the owner's answer: those that the broker
/// has not been told, and the outcomes of those that it has.
class SettleOrderBook {
public:
    struct Outcome {
        ports::Delivery* delivery;
        std::optional<Errc> failed_with;
    };
    using Outcomes = std::vector<Outcome>;

    void add(ports::Delivery& delivery, ports::Settlement&& settlement);

    /// Tells the broker of all settlements, in order. `orders` is memory to work with.
    void apply(broker::Queue& queue, broker::Consumer& consumer, broker::Instant at,
               broker::Journal* journal, std::vector<broker::SettleOrder>& orders);

    [[nodiscard]] bool has_outcomes() const noexcept { return !outcomes_.empty(); }
    /// Whether outcomes that are taken now must wait for the journal. Asked once.
    [[nodiscard]] bool take_unkept() noexcept { return std::exchange(unkept_, false); }
    [[nodiscard]] Outcomes take_outcomes() noexcept { return std::exchange(outcomes_, {}); }
    /// Takes back the memory of outcomes that have been told.
    void recycle(Outcomes&& told) noexcept;

private:
    struct Order {
        ports::Delivery* delivery;
        broker::Outcome outcome;
        std::unique_ptr<broker::Changes> changes; // null: none
    };

    std::vector<Order> orders_{};
    Outcomes outcomes_{};
    bool unkept_{false};
};

} // namespace sessionq::in_process
