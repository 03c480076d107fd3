// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "ports/endpoint.hpp"
#include "simulation/broker_ledger.hpp"

namespace sessionq::simulation {

/// Wraps a real port and records how it is used.
class WatchedEndpoint final : public ports::Endpoint {
public:
    /// `wire` returns the number of the connection that brought the endpoint its last bytes.
    WatchedEndpoint(Environment& environment, BrokerLedger& ledger, std::size_t number,
                    std::function<std::uint32_t()> wire, ports::EndpointPtr endpoint)
        : environment_{&environment},
          ledger_{&ledger},
          number_{number},
          wire_{std::move(wire)},
          endpoint_{std::move(endpoint)} {}

    [[nodiscard]] core::EventLoop& loop() noexcept override { return endpoint_->loop(); }
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept override {
        return endpoint_->capabilities();
    }
    void add_status(std::vector<core::ConnectionStatus>& into) const override {
        endpoint_->add_status(into);
    }
    void add_budget(std::size_t bytes) override { endpoint_->add_budget(bytes); }
    void remove_budget(std::size_t bytes) override { endpoint_->remove_budget(bytes); }
    ports::RequestId accept(ports::AcceptRequest request, ports::AcceptHandler handler) override;
    void give_up(ports::RequestId id) override;
    ports::RequestId sending_limit(std::string entity, Deadline deadline,
                                   ports::SendingLimitHandler handler) override {
        return endpoint_->sending_limit(std::move(entity), deadline, std::move(handler));
    }
    ports::RequestId send(ports::SendRequest request, ports::SendHandler handler) override {
        return endpoint_->send(std::move(request), std::move(handler));
    }
    ports::RequestId cancel_scheduled(std::string entity,
                                      std::vector<std::int64_t> sequence_numbers, Deadline deadline,
                                      ports::DoneHandler handler) override {
        return endpoint_->cancel_scheduled(std::move(entity), std::move(sequence_numbers), deadline,
                                           std::move(handler));
    }
    ports::RequestId peek(ports::PeekRequest request, ports::PeekHandler handler) override {
        return endpoint_->peek(std::move(request), std::move(handler));
    }
    ports::RequestId list_sessions(ports::ListSessionsRequest request,
                                   ports::ListSessionsHandler handler) override {
        return endpoint_->list_sessions(std::move(request), std::move(handler));
    }
    ports::RequestId delete_messages(ports::DeleteMessagesRequest request,
                                     ports::DeletedHandler handler) override {
        return endpoint_->delete_messages(std::move(request), std::move(handler));
    }
    ports::RequestId manage_rules(ports::RulesRequest request,
                                  ports::RulesHandler handler) override {
        return endpoint_->manage_rules(std::move(request), std::move(handler));
    }

private:
    [[nodiscard]] ports::SessionLinkPtr write_down(const AcceptRecord& accept,
                                                   ports::SessionLinkPtr link);

    Environment* environment_;
    BrokerLedger* ledger_;
    std::size_t number_;
    std::function<std::uint32_t()> wire_;
    ports::EndpointPtr endpoint_;
    std::map<ports::RequestId, AcceptRecord*> pending_{};
};

} // namespace sessionq::simulation
