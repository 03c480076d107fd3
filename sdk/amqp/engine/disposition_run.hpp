// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "amqp/engine/delivery.hpp"
#include "amqp/engine/delivery_table.hpp"
#include "amqp/engine/link.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {

/// A disposition of the peer, applied to one delivery after another. Between two, listeners may
/// take deliveries, links and sessions with them.
class DispositionRun {
public:
    /// `table`: the deliveries that it may name.
    void begin(std::uint16_t channel, const Fields& disposition, const DeliveryTable& table) {
        const std::uint32_t first = disposition.number(disposition_field::first);
        const std::uint32_t last = disposition.has(disposition_field::last)
                                       ? disposition.number(disposition_field::last)
                                       : first;
        const std::string_view state = disposition.raw(disposition_field::state);
        kind_ = Outcome::kind_of(state);
        const bool has_details = kind_ == OutcomeKind::rejected || kind_ == OutcomeKind::modified;
        details_ = has_details ? std::make_shared<const std::string>(state) : nullptr;
        channel_ = channel;
        is_sender_ = disposition.is_true(disposition_field::role); // the peer receives
        is_settled_ = disposition.is_true(disposition_field::settled);
        first_ = first;
        span_ = last - first;
        places_ = table.find_range(first, last);
    }

    [[nodiscard]] bool is_over() const noexcept { return places_.empty(); }

    /// Looks at the next deliveries, at most so many, and tells those that are named. One counts
    /// once more for each 4 KiB of its outcome, which listeners may copy for each.
    /// `table_of(channel, is_sender)` finds the table of the session, or returns null once that has
    /// gone.
    template <typename TableOf>
    void tell(std::size_t most, TableOf table_of) {
        const std::size_t cost = 1 + (details_ ? details_->size() / bytes_as_one : 0);
        for (; most != 0 && !is_over(); most -= std::min(most, cost)) {
            const DeliveryTable* const table = table_of(channel_, is_sender_);
            if (table == nullptr) {
                places_ = {};
                return;
            }
            Delivery* const delivery = table->take_next(places_);
            if (delivery != nullptr && delivery->id - first_ <= span_) { // ids wrap around
                apply(*delivery);
                delivery->link->tell_disposition(*delivery);
            }
        }
    }

private:
    static constexpr std::size_t bytes_as_one{4096};

    void apply(Delivery& delivery) const {
        if (kind_ != OutcomeKind::none) {
            delivery.remote_kind = kind_;
            delivery.remote_state = details_;
        }
        delivery.remote_settled = delivery.remote_settled || is_settled_;
    }

    DeliveryPlaces places_{};
    std::uint32_t first_{0};
    std::uint32_t span_{0};
    std::shared_ptr<const std::string> details_{}; // of the outcome, encoded; null: none
    OutcomeKind kind_{OutcomeKind::none};
    std::uint16_t channel_{0};
    bool is_sender_{false};
    bool is_settled_{false};
};

} // namespace sessionq::amqp
