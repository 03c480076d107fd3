// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <sessionq/health.hpp>

namespace sessionq::detail::processor {

/// Adds a reason. For each cause at an entity, only the reason that lasts longest is kept.
void add_reason(std::vector<HealthReason>& reasons, HealthReason reason);

/// Merges the health of the receive threads into the health of their processor. The processor has
/// failed only if all receive threads have failed.
[[nodiscard]] Health merged(const std::vector<Health>& parts);

/// Decides whether a health is news, because its state or its causes have changed. A shard asks it
/// before it tells the notifier. `HealthBoard` asks it before the application is told.
class HealthNews {
public:
    [[nodiscard]] bool is_news(const Health& health);

private:
    Health::State told_state_{Health::State::healthy};
    std::vector<std::pair<HealthCause, std::string>> told_{};
};

/// Keeps the last health of each receive thread of a processor. A shard sends its health to the
/// notifier, and the notifier puts the health here. Only the notifier uses the board.
class HealthBoard {
public:
    explicit HealthBoard(std::size_t threads) : parts_(threads) {}

    /// Takes the health of a receive thread. Returns the health of the processor; null: the
    /// processor's health is no news.
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

} // namespace sessionq::detail::processor
