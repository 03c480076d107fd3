// SPDX-License-Identifier: MIT
#include "broker/entity_deletions.hpp"

#include <algorithm>

namespace sessionq::broker {
namespace {

// A removal takes a few microseconds, more of them for a large message, under the queue's lock.
constexpr std::uint32_t deleted_a_turn = 250;

} // namespace

core::Result<Deleted> EntityDeletions::run(const DeleteSpec& spec) {
    if (entity_.is_shut_down) {
        return entity_.deleted();
    }
    if (auto fault = entity_.find_receive_fault()) {
        return std::move(*fault);
    }
    if (auto fault = entity_.context.find_fault(entity_.name, Growth::none)) {
        return std::move(*fault);
    }
    const std::uint32_t most = std::min(spec.max, deleted_a_turn);
    if (most == 0) {
        return Deleted{};
    }
    Deleted deleted;
    const Searched searched =
        entity_.search(spec.from, spec.session_id, [&](StoredMessage& message) {
            if (is_available(message) && message.enqueued_time < spec.enqueued_before) {
                messages_.remove(message);
                ++deleted.count;
            }
            return deleted.count < most;
        });
    deleted.searched_to = searched.to;
    deleted.is_complete = searched.reached_end || deleted.count == spec.max;
    return deleted;
}

bool EntityDeletions::is_available(StoredMessage& message) const noexcept {
    const bool is_free = message.place == Place::active && message.holder == nullptr;
    // A dead letter that is being forwarded is neither held nor available.
    return is_free && (!entity_.forwards() || entity_.available.by_arrival().contains(message));
}

} // namespace sessionq::broker
