// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>

#include "broker/journal.hpp"
#include "broker/store/rows.hpp"

namespace sessionq::broker {

/// Names rows for people, with the entity that they belong to.
class RowNames {
public:
    void add(const DurableQueue& queue);

    [[nodiscard]] std::string of(const QueueRow& row) const;
    [[nodiscard]] std::string of(const EntityRow& row) const;
    [[nodiscard]] std::string of(const MessageRow& row) const;
    [[nodiscard]] std::string of(const SessionStateRow& row) const;
    [[nodiscard]] std::string of(const TakenIdRow& row) const;
    [[nodiscard]] std::string of(const ContentRow& row) const;
    /// A message whose shared content is not there.
    [[nodiscard]] std::string of_lost_content(const MessageRow& row) const;
    [[nodiscard]] std::string of_entity(std::int64_t id) const;

private:
    std::map<std::int64_t, std::string> entities_;
};

} // namespace sessionq::broker
