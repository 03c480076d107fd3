// SPDX-License-Identifier: MIT
#pragma once

#include "broker/deletion.hpp"
#include "broker/entity_messages.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

/// Deletes messages that no consumer has received.
class EntityDeletions {
public:
    EntityDeletions(EntityState& entity, EntityMessages& messages) noexcept
        : entity_{entity}, messages_{messages} {}

    core::Result<Deleted> run(const DeleteSpec& spec);

private:
    /// Whether consumers could receive it now.
    [[nodiscard]] bool is_available(StoredMessage& message) const noexcept;

    EntityState& entity_;
    EntityMessages& messages_;
};

} // namespace sessionq::broker
