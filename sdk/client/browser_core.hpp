#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sessionq/browser.hpp>

#include "client/operation.hpp"

namespace sessionq::client {

/// The entity and options of a `Browser`. Makes its operations. Thread-safe.
class BrowserCore {
public:
    /// Throws if an argument is invalid or the broker cannot peek.
    BrowserCore(std::shared_ptr<ClientCore> client, std::string entity, BrowserOptions options);

    [[nodiscard]] const BrowserOptions& options() const noexcept { return options_; }

    [[nodiscard]] Operation<std::vector<ReceivedMessage>> peek(
        std::int64_t from, std::uint32_t max_messages, const OperationContext& context) const;

private:
    const std::shared_ptr<ClientCore> client_;
    const std::string entity_;
    const BrowserOptions options_;
    EndpointThread& thread_;
};

/// Requests pages until one is not full.
[[nodiscard]] Operation<std::vector<std::string>> list_sessions_operation(
    const std::shared_ptr<ClientCore>& client, std::string entity, const OperationContext& context);

} // namespace sessionq::client
