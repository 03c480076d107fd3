// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sessionq/time.hpp>

#include "processor/slots/target_claims.hpp"

namespace sessionq::detail::processor {

/// The target of an accept: the next session of an entity, the next session of any of several
/// entities, or a named session.
struct AcceptTarget {
    std::string entity{};
    std::optional<std::string> session_id{};
    std::vector<std::string> further_entities{};

    [[nodiscard]] const std::string& entity_at(std::size_t index) const noexcept {
        return index == 0 ? entity : further_entities[index - 1];
    }
};

/// Lists the targets of a receive thread's accepts: the entities of the processor, or the named
/// sessions at each entity. `AcceptTable` owns the book, and `AcceptMachine` chooses from it.
class TargetBook {
public:
    /// `claims`: shared with the other receive threads; null: no session is named.
    TargetBook(const std::vector<std::string>& entities,
               const std::vector<std::string>& session_ids, TargetClaims* claims = nullptr);

    /// Joins all entities into one target. One accept then waits for a session of any entity. Only
    /// for a broker that has such accepts. No effect on named sessions.
    void join() {
        if (!named()) {
            for (std::size_t i = 1; i < targets_.size(); ++i) {
                targets_[0].further_entities.push_back(std::move(targets_[i].entity));
            }
            targets_.resize(1);
        }
    }
    /// Makes each entity a target of its own again. Returns false if no entities were joined.
    [[nodiscard]] bool split() {
        const std::vector<std::string> others = std::move(targets_[0].further_entities);
        for (const std::string& entity : others) {
            targets_.push_back({.entity = entity});
        }
        targets_[0].further_entities.clear();
        return !others.empty();
    }

    /// `here` of the processor's `all` slots are on this receive thread.
    void set_slots(std::uint32_t here, std::uint32_t all) noexcept {
        slots_ = named() ? all : here;
    }

    /// Claims the named session of a target. Returns false while a receive thread asks for the
    /// session, holds it or gives it back. Always true for an entity.
    [[nodiscard]] bool try_claim(std::size_t index) noexcept {
        return claims_ == nullptr || claims_->try_claim(index);
    }
    void release(std::size_t index) {
        if (claims_ != nullptr) {
            claims_->release(index);
        }
    }

    /// Returns how long an accept may wait. If there are more named sessions than slots, it waits
    /// for at most `turn`, because the named sessions take turns.
    [[nodiscard]] Duration wait(Duration longest, Duration turn) const noexcept {
        return named() && slots_ < size() ? std::min(longest, turn) : longest;
    }
    /// How long a session may be idle. Without end if each named session has a slot.
    [[nodiscard]] Duration idle_timeout(Duration configured) const noexcept {
        return has_slots_for_all() ? Duration::max() : configured;
    }
    /// Each named session has a slot.
    [[nodiscard]] bool has_slots_for_all() const noexcept { return named() && slots_ >= size(); }

    [[nodiscard]] const AcceptTarget& operator[](std::size_t index) const noexcept {
        return targets_[index];
    }
    /// The only entity of the targets. Empty: they have several.
    [[nodiscard]] std::string only_entity() const {
        const bool several = size() > 1 || !targets_[0].further_entities.empty();
        return several ? std::string{} : targets_[0].entity;
    }
    [[nodiscard]] std::size_t size() const noexcept { return targets_.size(); }
    [[nodiscard]] bool named() const noexcept { return claims_ != nullptr; }

private:
    std::vector<AcceptTarget> targets_{};
    TargetClaims* claims_;
    std::uint32_t slots_{0};
};

} // namespace sessionq::detail::processor
