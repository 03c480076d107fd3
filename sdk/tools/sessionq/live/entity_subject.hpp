// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <sessionq/client.hpp>
#include <sessionq/operation_context.hpp>
#include <sessionq/time.hpp>

#include "tools/sessionq/live/entity_look.hpp"
#include "tools/sessionq/live/live_subject.hpp"

namespace sessionq::cli {

/// An entity of a broker. It peeks and lists, and disturbs no consumer.
class EntitySubject final : public LiveSubject {
public:
    /// `connect` is called until it succeeds once.
    EntitySubject(std::function<Client()> connect, std::string entity);

    void look(std::stop_token stop) override;
    [[nodiscard]] LiveReport report() const override;
    [[nodiscard]] std::string json() const override;
    [[nodiscard]] std::string target() const override { return entity_; }

private:
    void look_at_messages(EntityTally& tally, const OperationContext& context) const;
    void look_at_sessions(EntityTally& tally, const OperationContext& context) const;
    void look_at_dead_letters(EntityTally& tally, const OperationContext& context) const;

    std::function<Client()> connect_;
    std::optional<Client> client_{};
    std::string entity_;
    std::optional<EntityLook> look_{};
    TimePoint looked_at_{};
};

} // namespace sessionq::cli
