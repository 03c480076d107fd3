#pragma once

#include <map>
#include <memory>
#include <unordered_map>

#include "ports/endpoint.hpp"
#include "servicebus/hub_pool.hpp"
#include "servicebus/link_core.hpp"
#include "servicebus/sender_channel.hpp"

namespace sessionq::servicebus {

/// The ports in Azure Service Bus's dialect: one connection for all entities, and more of them only
/// for more sessions than one has channels for. Made, used and destroyed on the loop's thread.
class Endpoint final : public ports::Endpoint {
public:
    Endpoint(core::EventLoop& loop, asio::io_context& io, HubSettings settings);
    ~Endpoint() override;
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    /// Connects, so that what is wrong with the way to the broker is known at once; `entity`, if
    /// any, is asked for the right to use it too.
    void connect(const std::string& entity, ports::DoneHandler handler);

    [[nodiscard]] core::EventLoop& loop() noexcept override { return hub_->loop(); }
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
    struct Accept {
        std::shared_ptr<LinkCore> core;
        ports::AcceptHandler handler;
    };

    void finish_accept(ports::RequestId id, std::optional<Failure> failure);
    void schedule(ports::SendRequest request, ports::SendHandler handler);

    /// Answers that must come although the endpoint goes: what is asked through here is answered by
    /// the endpoint's end at the latest.
    template <typename T>
    std::function<void(core::Result<T>)> owed(std::function<void(core::Result<T>)> handler);

    HubPool hubs_;
    const std::shared_ptr<Hub> hub_; // the first
    std::unordered_map<ports::RequestId, Accept> accepts_{};
    ports::RequestId last_accept_{0};
    std::map<std::string, std::unique_ptr<SenderChannel>> senders_{};
    std::shared_ptr<std::map<std::uint64_t, std::function<void(const Failure&)>>> owed_;
    std::uint64_t last_owed_{0};
};

} // namespace sessionq::servicebus
