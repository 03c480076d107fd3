// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "broker/journal.hpp"

namespace sessionq::test {

/// A journal that confirms or fails changes when the test says so.
class HeldJournal final : public broker::Journal {
public:
    [[nodiscard]] broker::EntityId make_entity_id() override { return ++last_id; }
    void append(std::vector<broker::Change> changes) override {
        ++mark;
        for (broker::Change& change : changes) {
            appended.push_back(std::move(change));
        }
    }
    [[nodiscard]] Mark last() const noexcept override { return mark; }
    void when_durable(Durable done) override { waiting.push_back(std::move(done)); }
    [[nodiscard]] bool is_failing() const noexcept override { return failing; }
    [[nodiscard]] bool is_behind() const noexcept override { return behind; }
    [[nodiscard]] bool is_full() const noexcept override { return full; }

    /// Answers all waiting calls for all changes up to now.
    void answer(const std::optional<Failure>& why = std::nullopt) {
        for (const Durable& done : std::exchange(waiting, {})) {
            done(mark, why ? &*why : nullptr);
        }
    }

    /// The number of changes of one kind.
    template <typename Kind>
    [[nodiscard]] std::size_t count() const {
        std::size_t found = 0;
        for (const broker::Change& change : appended) {
            found += std::holds_alternative<Kind>(change) ? 1U : 0U;
        }
        return found;
    }

    broker::EntityId last_id{0};
    Mark mark{0};
    bool full{false};
    bool failing{false};
    bool behind{false};
    std::vector<broker::Change> appended{};
    std::vector<Durable> waiting{};
};

} // namespace sessionq::test
