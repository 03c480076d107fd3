// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "amqp/engine/delivery.hpp"
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
        details_ = has_details ? state : std::string_view{};
        channel_ = channel;
        is_sender_ = disposition.is_true(disposition_field::role); // the peer receives
        is_settled_ = disposition.is_true(disposition_field::settled);
        ids_.clear();
        next_ = 0;
        table.find_range(first, last, ids_);
    }

    [[nodiscard]] bool is_over() const noexcept { return next_ == ids_.size(); }

    /// Tells the next deliveries, at most so many. `table_of(channel, is_sender)` finds the table
    /// of the session, or returns null once that has gone.
    template <typename TableOf>
    void tell(std::size_t most, TableOf table_of) {
        for (; most != 0 && !is_over(); --most) {
            const DeliveryTable* const table = table_of(channel_, is_sender_);
            Delivery* const delivery = table != nullptr ? table->find(ids_[next_]) : nullptr;
            ++next_;
            if (delivery != nullptr) {
                apply(*delivery);
                delivery->link->tell_disposition(*delivery);
            }
        }
    }

private:
    void apply(Delivery& delivery) const {
        if (kind_ != OutcomeKind::none) {
            delivery.remote_kind = kind_;
            delivery.remote_state =
                details_.empty() ? nullptr : std::make_unique<std::string>(details_);
        }
        delivery.remote_settled = delivery.remote_settled || is_settled_;
    }

    std::vector<std::uint32_t> ids_{};
    std::size_t next_{0};
    std::string details_{}; // of the outcome, encoded
    OutcomeKind kind_{OutcomeKind::none};
    std::uint16_t channel_{0};
    bool is_sender_{false};
    bool is_settled_{false};
};

} // namespace sessionq::amqp
