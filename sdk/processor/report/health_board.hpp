// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <sessionq/health.hpp>

namespace sessionq::processor {

/// Keeps one reason for each cause at an entity: the one that lasts longest.
void add_reason(std::vector<HealthReason>& reasons, HealthReason reason);

/// The health of a processor from that of its receive threads. Failed only if all are.
[[nodiscard]] Health merged(const std::vector<Health>& parts);

/// Decides whether there is something new to tell: another state, or other causes.
class HealthNews {
public:
    [[nodiscard]] bool is_news(const Health& health);

private:
    Health::State told_state_{Health::State::healthy};
    std::vector<std::pair<HealthCause, std::string>> told_{};
};

/// What the receive threads of a processor told of their health last. On the notifier.
class HealthBoard {
public:
    explicit HealthBoard(std::size_t threads) : parts_(threads) {}

    /// Null: that is nothing new for the processor.
    [[nodiscard]] const Health* put(std::size_t thread, Health health) {
        parts_[thread] = std::move(health);
        whole_ = merged(parts_);
        return news_.is_news(whole_) ? &whole_ : nullptr;
    }

private:
    std::vector<Health> parts_;
    Health whole_{};
    HealthNews news_{};
};

} // namespace sessionq::processor
