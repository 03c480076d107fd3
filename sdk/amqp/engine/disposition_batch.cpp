// SPDX-License-Identifier: MIT
#include "amqp/engine/disposition_batch.hpp"

#include <algorithm>

#include "amqp/engine/composite_writer.hpp"
#include "amqp/engine/frame.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {

void DispositionBatch::write(std::string& to, std::uint16_t channel) {
    if (ids_.empty()) {
        return;
    }
    std::string state;
    Outcome{.kind = kind_}.write(state);
    const std::uint32_t base = ids_.front() - 0x80000000U; // serial numbers wrap around
    const auto in_order = [base](std::uint32_t id) { return id - base; };
    if (!std::ranges::is_sorted(ids_, {}, in_order)) { // they usually are
        std::ranges::sort(ids_, {}, in_order);
    }
    DeliveryRange range{.first = ids_.front(), .last = ids_.front()};
    for (const std::uint32_t id : ids_) {
        if (id - range.last > 1) {
            write_disposition(to, channel, smallest_max_frame_size, is_receiver_, range,
                              is_settled_, state);
            range.first = id;
        }
        range.last = id;
    }
    write_disposition(to, channel, smallest_max_frame_size, is_receiver_, range, is_settled_,
                      state);
    ids_.clear();
}

bool write_disposition(std::string& to, std::uint16_t channel, std::size_t largest,
                       bool is_receiver, DeliveryRange deliveries, bool is_settled,
                       std::string_view state) {
    return write_frame(to, channel, largest, [&] {
        CompositeWriter writer{to, Performative::disposition};
        writer.boolean(disposition_field::role, is_receiver);
        writer.number(disposition_field::first, deliveries.first);
        writer.number(disposition_field::last, deliveries.last);
        writer.boolean(disposition_field::settled, is_settled);
        writer.raw(disposition_field::state, state);
        writer.finish();
    });
}

} // namespace sessionq::amqp
