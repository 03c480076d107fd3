#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sessionq/message.hpp>

#include "client/operation.hpp"

namespace sessionq::client {

/// The entity and thread that copies of a `Sender` share. Makes its operations. Thread-safe.
class SenderCore {
public:
    SenderCore(std::shared_ptr<ClientCore> client, std::string entity);

    [[nodiscard]] const std::string& entity() const noexcept { return entity_; }

    /// Throws if a message is invalid, before anything starts.
    [[nodiscard]] Operation<std::vector<std::int64_t>> send(std::vector<Message> messages,
                                                            const OperationContext& context) const;

    [[nodiscard]] Operation<std::vector<std::int64_t>> schedule(
        std::vector<Message> messages, WallTime when, const OperationContext& context) const;

    [[nodiscard]] Operation<core::Done> cancel_scheduled(std::vector<std::int64_t> sequence_numbers,
                                                         const OperationContext& context) const;

private:
    const std::shared_ptr<ClientCore> client_;
    const std::string entity_;
    EndpointThread& thread_;
};

} // namespace sessionq::client
