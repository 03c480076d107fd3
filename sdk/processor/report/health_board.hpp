// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <sessionq/health.hpp>

namespace sessionq::processor {

/// Adds a reason. For each cause at an entity, only the reason that lasts longest is kept.
void add_reason(std::vector<HealthReason>& reasons, HealthReason reason);

/// Merges the health of the receive threads into that of their processor. It has failed only if all
/// have.
[[nodiscard]] Health merged(const std::vector<Health>& parts);

/// Decides whether a health is news: another state, or other causes. A shard asks it before it
/// tells the notifier, and `HealthBoard` asks it before the application is told.
class HealthNews {
public:
    [[nodiscard]] bool is_news(const Health& health);

private:
    Health::State told_state_{Health::State::healthy};
    std::vector<std::pair<HealthCause, std::string>> told_{};
};

/// The last health of each receive thread of a processor. A shard sends its health to the notifier,
/// which puts it here. Only the notifier uses it.
class HealthBoard {
public:
    explicit HealthBoard(std::size_t threads) : parts_(threads) {}

    /// Takes the health of a receive thread. Returns the health of the processor; null: it is no
    /// news.
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
