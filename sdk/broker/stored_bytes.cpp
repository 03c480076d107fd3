// SPDX-License-Identifier: MIT
#include "broker/stored_bytes.hpp"

#include <numeric>

namespace sessionq::broker {

StoredBytes::~StoredBytes() {
    if (all_ != nullptr) {
        all_->take(own());
    }
}

void StoredBytes::change(Part part, std::uint64_t from, std::uint64_t to) noexcept {
    const std::uint64_t more = to - from; // wraps if it shrinks
    parts_[static_cast<std::size_t>(part)] += more;
    if (all_ != nullptr) {
        all_->add(more);
    }
}

std::uint64_t StoredBytes::own() const noexcept {
    return std::accumulate(parts_.begin(), parts_.end(), std::uint64_t{0});
}

std::optional<std::string> StoredBytes::find_fault(std::uint64_t more, std::uint64_t most,
                                                   For what) const {
    most = most == 0 && all_ != nullptr ? all_->most() : most;
    if (most == 0 || more == 0) {
        return std::nullopt;
    }
    const std::uint64_t subscribed = all_ != nullptr ? all_->bytes() - own() : 0;
    const std::uint64_t bound = most + (what == For::settlement ? most / 16 : 0);
    if (more + own() + subscribed <= bound) {
        return std::nullopt;
    }
    std::string why = "max_size_bytes is " + std::to_string(most);
    const auto blame = [&why, most](std::uint64_t part, const char* name) {
        if (part > most / 2) {
            why += ", and most of it are " + std::string{name};
        }
    };
    blame(of(Part::dead_letters), "dead-lettered messages");
    blame(subscribed, "messages of its subscriptions");
    blame(of(Part::session_states), "states of sessions");
    blame(of(Part::message_ids), "message ids that duplicate detection remembers");
    return why;
}

} // namespace sessionq::broker
