// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <sessionq/client.hpp>
#include <sessionq/local_broker.hpp>

#include "broker/broker.hpp"
#include "client/connecting/broker_host.hpp"
#include "client/connecting/client_core.hpp"
#include "core/access.hpp"
#include "server/server.hpp"

namespace sessionq::test {

/// The front of a local broker on loopback.
class BrokerFront {
public:
    explicit BrokerFront(const LocalBroker& broker) {
        detail::client::run_on(thread_, [&] {
            server_ = std::make_unique<server::Server>(
                detail::client::Access::host(broker)->broker(), thread_, thread_.io_context(),
                server::AccessPolicy{.keys = {{"RootManageSharedAccessKey", "SAS_KEY_VALUE"}}},
                server::Limits{});
            port_ = server_->listen({.port = 0}).value();
        });
    }
    ~BrokerFront() {
        detail::client::run_on(thread_, [&] { server_.reset(); });
    }
    BrokerFront(const BrokerFront&) = delete;
    BrokerFront& operator=(const BrokerFront&) = delete;

    [[nodiscard]] Client connect() const {
        return Client::connect("Endpoint=sb://127.0.0.1:" + std::to_string(port_) +
                               ";SharedAccessKeyName=RootManageSharedAccessKey;"
                               "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true");
    }

private:
    detail::client::ReceiveThread thread_{};
    std::unique_ptr<server::Server> server_{};
    std::uint16_t port_{0};
};

} // namespace sessionq::test
