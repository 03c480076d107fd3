#pragma once

#include <memory>
#include <unordered_map>

#include "broker/broker.hpp"
#include "in_process/answers.hpp"
#include "in_process/link_core.hpp"
#include "in_process/pump.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::in_process {

/// The ports on a local broker in the same process. Several endpoints, on one loop or on several,
/// may share a broker.
///
/// Made, used and destroyed on the loop's thread; the loop outlives it. It does not drive the
/// broker's time: the broker's owner does.
class Endpoint final : public ports::Endpoint {
public:
    Endpoint(std::shared_ptr<broker::Broker> broker, core::EventLoop& loop);
    ~Endpoint() override;
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    [[nodiscard]] core::EventLoop& loop() noexcept override { return pump_->loop(); }
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept override;

    ports::RequestId accept(ports::AcceptRequest request, ports::AcceptHandler handler) override;
    void give_up(ports::RequestId id) override;
    ports::RequestId send(ports::SendRequest request, ports::SendHandler handler) override;
    ports::RequestId cancel_scheduled(std::string entity,
                                      std::vector<std::int64_t> sequence_numbers, Deadline deadline,
                                      ports::DoneHandler handler) override;
    ports::RequestId peek(ports::PeekRequest request, ports::PeekHandler handler) override;
    ports::RequestId list_sessions(ports::ListSessionsRequest request,
                                   ports::ListSessionsHandler handler) override;

private:
    void finish_accept(ports::RequestId id, core::Result<broker::ConsumerPtr> result);
    template <typename T, typename Operation>
    ports::RequestId perform(const std::string& entity, Deadline deadline,
                             std::function<void(core::Result<T>)> handler, Operation operation);
    /// The same of an operation that changes what is kept.
    template <typename T, typename Operation>
    ports::RequestId change(const std::string& entity, Deadline deadline,
                            std::function<void(core::Result<T>)> handler, Operation operation);

    struct Accept {
        std::shared_ptr<LinkCore> core;
        ports::AcceptHandler handler;
    };

    const std::shared_ptr<broker::Broker> broker_;
    const std::shared_ptr<Pump> pump_;
    const std::shared_ptr<Answers> answers_;
    std::unordered_map<ports::RequestId, Accept> accepts_;
    ports::RequestId last_accept_{0};
};

} // namespace sessionq::in_process
