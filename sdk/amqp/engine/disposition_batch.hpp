// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "amqp/engine/outcome.hpp"

namespace sessionq::amqp {

/// Deliveries of which the same is to be said. They leave as ranges of ids.
class DispositionBatch {
public:
    /// False: something else is waiting to be said, which must be taken first.
    [[nodiscard]] bool add(bool is_receiver, OutcomeKind kind, bool is_settled, std::uint32_t id) {
        if (!ids_.empty() &&
            (is_receiver != is_receiver_ || kind != kind_ || is_settled != is_settled_)) {
            return false;
        }
        is_receiver_ = is_receiver;
        kind_ = kind;
        is_settled_ = is_settled;
        ids_.push_back(id);
        return true;
    }

    /// Appends the dispositions that wait, in frames for `channel`. Each frame is small.
    void write(std::string& to, std::uint16_t channel);

private:
    std::vector<std::uint32_t> ids_{};
    bool is_receiver_{false};
    bool is_settled_{false};
    OutcomeKind kind_{OutcomeKind::none};
};

/// Deliveries by the first and the last of their ids.
struct DeliveryRange {
    std::uint32_t first{0};
    std::uint32_t last{0};
};

/// Appends a disposition. `state` is encoded; empty: none. False: it does not fit into a frame of
/// `largest` bytes, and nothing was appended.
bool write_disposition(std::string& to, std::uint16_t channel, std::size_t largest,
                       bool is_receiver, DeliveryRange deliveries, bool is_settled,
                       std::string_view state);

} // namespace sessionq::amqp
