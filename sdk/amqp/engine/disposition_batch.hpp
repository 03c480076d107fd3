#pragma once

#include <algorithm>
#include <cstdint>
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

    [[nodiscard]] bool empty() const noexcept { return ids_.empty(); }
    [[nodiscard]] bool is_receiver() const noexcept { return is_receiver_; }
    [[nodiscard]] OutcomeKind kind() const noexcept { return kind_; }
    [[nodiscard]] bool is_settled() const noexcept { return is_settled_; }

    /// Calls `each(first, last)` for every range, and is empty then.
    template <typename Each>
    void take_ranges(Each each) {
        if (ids_.empty()) {
            return;
        }
        const std::uint32_t base = ids_.front() - 0x80000000U; // serial numbers wrap around
        std::ranges::sort(ids_, {}, [base](std::uint32_t id) { return id - base; });
        std::uint32_t first = ids_.front();
        std::uint32_t last = first;
        for (const std::uint32_t id : ids_) {
            if (id - last > 1) {
                each(first, last);
                first = id;
            }
            last = id;
        }
        each(first, last);
        ids_.clear();
    }

private:
    std::vector<std::uint32_t> ids_{};
    bool is_receiver_{false};
    bool is_settled_{false};
    OutcomeKind kind_{OutcomeKind::none};
};

} // namespace sessionq::amqp
