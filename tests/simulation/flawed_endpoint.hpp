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
    ports::AcceptId accept(ports::AcceptRequest request, ports::AcceptHandler handler) override;
    void cancel_accept(ports::AcceptId id) override { endpoint_->cancel_accept(id); }
    void send(ports::SendRequest request, ports::SendHandler handler) override;
    void cancel_scheduled(std::string entity, std::vector<std::int64_t> sequence_numbers,
                          ports::DoneHandler handler) override {
        if (defect_ == SeamDefect::cancels_nothing) {
            loop().post([handler = std::move(handler)] { handler(core::Done{}); });
        } else {
            endpoint_->cancel_scheduled(std::move(entity), std::move(sequence_numbers),
                                        std::move(handler));
        }
    }
    void peek(ports::PeekRequest request, ports::PeekHandler handler) override {
        endpoint_->peek(std::move(request), std::move(handler));
    }
    void list_sessions(ports::ListSessionsRequest request,
                       ports::ListSessionsHandler handler) override {
        endpoint_->list_sessions(std::move(request), std::move(handler));
    }

private:
    void send_one_by_one(ports::SendRequest request, ports::SendHandler handler);

    SeamDefect defect_;
    std::shared_ptr<UnwrittenStates> unwritten_{std::make_shared<UnwrittenStates>()};
    ports::EndpointPtr endpoint_;
};

} // namespace sessionq::simulation
