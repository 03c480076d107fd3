#pragma once

#include <memory>

#include "broker/broker.hpp"
#include "in_process/ask_order.hpp"
#include "in_process/confirmations.hpp"
#include "in_process/waiting_peeks.hpp"
#include "ports/accept_book.hpp"

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

    [[nodiscard]] core::EventLoop& loop() noexcept override { return turns_->loop(); }
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
    ports::RequestId manage_rules(ports::RulesRequest request,
                                  ports::RulesHandler handler) override;

private:
    /// Asks the broker for a session, unless the request cannot be met.
    [[nodiscard]] core::Result<std::unique_ptr<ports::Asking>> ask(ports::RequestId id,
                                                                   ports::AcceptRequest request);

    /// Has the broker perform an operation, unless its deadline has passed.
    template <typename T, typename Operation>
    [[nodiscard]] core::Result<T> perform(const std::string& entity, Deadline deadline,
                                          Operation operation);

    const std::shared_ptr<broker::Broker> broker_;
    const TurnQueueUse turns_;
    Confirmations confirmations_;
    AskOrder ask_order_{};
    WaitingPeeks peeks_;
    ports::AcceptBook accepts_;
};

} // namespace sessionq::in_process
