// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include "ports/endpoint.hpp"
#include "simulation/flawed_link.hpp"
#include "simulation/seam_defect.hpp"

namespace sessionq::simulation {

/// A port with a deliberate defect.
class FlawedEndpoint final : public ports::Endpoint {
public:
    FlawedEndpoint(SeamDefect defect, ports::EndpointPtr endpoint)
        : defect_{defect}, endpoint_{std::move(endpoint)} {}

    [[nodiscard]] core::EventLoop& loop() noexcept override { return endpoint_->loop(); }
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept override {
        return endpoint_->capabilities();
    }
    void add_budget(std::size_t bytes) override { endpoint_->add_budget(bytes); }
    void remove_budget(std::size_t bytes) override { endpoint_->remove_budget(bytes); }
    ports::RequestId accept(ports::AcceptRequest request, ports::AcceptHandler handler) override;
    void give_up(ports::RequestId id) override { endpoint_->give_up(id); }
    ports::RequestId sending_limit(std::string entity, Deadline deadline,
                                   ports::SendingLimitHandler handler) override {
        return endpoint_->sending_limit(std::move(entity), deadline, std::move(handler));
    }
    ports::RequestId send(ports::SendRequest request, ports::SendHandler handler) override;
    ports::RequestId cancel_scheduled(std::string entity,
                                      std::vector<std::int64_t> sequence_numbers, Deadline deadline,
                                      ports::DoneHandler handler) override {
        if (defect_ == SeamDefect::cancels_nothing) {
            loop().post([handler = std::move(handler)] { handler(core::Done{}); });
            return 0;
        }
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
    ports::RequestId send_one_by_one(ports::SendRequest request, ports::SendHandler handler);

    SeamDefect defect_;
    std::shared_ptr<UnwrittenStates> unwritten_{std::make_shared<UnwrittenStates>()};
    ports::EndpointPtr endpoint_;
};

} // namespace sessionq::simulation
