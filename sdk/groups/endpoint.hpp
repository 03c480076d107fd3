#pragma once

#include <map>
#include <memory>
#include <unordered_map>

#include "groups/hub.hpp"
#include "groups/receiver.hpp"
#include "groups/sender_channel.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::groups {

/// The ports on message groups: a group is a session. One connection for all entities; the groups
/// of an entity share a receiver link. Made, used and destroyed on the loop's thread.
class Endpoint final : public ports::Endpoint {
public:
    Endpoint(core::EventLoop& loop, asio::io_context& io, HubSettings settings);
    ~Endpoint() override;
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    /// Connects, so that what is wrong with the way to the broker is known at once, and what it can
    /// do.
    void connect(ports::DoneHandler handler);

    [[nodiscard]] core::EventLoop& loop() noexcept override { return hub_->loop(); }
    /// Before the dialect is known: what all dialects have.
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
        std::shared_ptr<Receiver> receiver; ///< null: refused before one was asked
        ports::AcceptHandler handler;
    };

    /// Why this cannot be accepted here, before any I/O.
    [[nodiscard]] std::optional<Failure> refusal(const ports::AcceptRequest& request) const;
    [[nodiscard]] std::shared_ptr<Receiver> receiver_for(ReceiverTerms terms);
    void finish_accept(ports::RequestId id, core::Result<std::shared_ptr<GroupSession>> answer);
    /// Answers that must come although the endpoint goes: what is asked through here is answered by
    /// the endpoint's end at the latest.
    template <typename T>
    std::function<void(core::Result<T>)> owed(std::function<void(core::Result<T>)> handler);
    template <typename T>
    ports::RequestId refuse(ports::Capability capability,
                            std::function<void(core::Result<T>)> handler);

    const std::shared_ptr<Hub> hub_;
    const std::shared_ptr<UnansweredIds> unanswered_{std::make_shared<UnansweredIds>()};
    std::map<ReceiverTerms, std::shared_ptr<Receiver>> receivers_{};
    std::unordered_map<ports::RequestId, Accept> accepts_{};
    ports::RequestId last_accept_{0};
    std::map<std::string, std::unique_ptr<SenderChannel>> senders_{};
    std::shared_ptr<std::map<std::uint64_t, std::function<void(const Failure&)>>> owed_;
    std::uint64_t last_owed_{0};
};

} // namespace sessionq::groups
