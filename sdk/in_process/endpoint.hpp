// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "broker/broker.hpp"
#include "in_process/ask_order.hpp"
#include "in_process/confirmations.hpp"
#include "in_process/local_accept.hpp"
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
    /// The bytes of one send in AMQP's form, so that limits are the same as over a network.
    using Measure = std::uint64_t (*)(const ports::SendRequest&);

    /// A null `measure`: a send of several messages is not limited.
    Endpoint(std::shared_ptr<broker::Broker> broker, core::EventLoop& loop,
             Measure measure = nullptr);
    ~Endpoint() override;
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    [[nodiscard]] core::EventLoop& loop() noexcept override { return turns_->loop(); }
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept override;

    ports::RequestId accept(ports::AcceptRequest request, ports::AcceptHandler handler) override;
    [[nodiscard]] std::optional<ports::ReadySessions> ready_sessions(
        const std::string& entity) override;
    void give_up(ports::RequestId id) override;
    ports::RequestId sending_limit(std::string entity, Deadline deadline,
                                   ports::SendingLimitHandler handler) override;
    ports::RequestId send(ports::SendRequest request, ports::SendHandler handler) override;
    ports::RequestId cancel_scheduled(std::string entity,
                                      std::vector<std::int64_t> sequence_numbers, Deadline deadline,
                                      ports::DoneHandler handler) override;
    ports::RequestId peek(ports::PeekRequest request, ports::PeekHandler handler) override;
    ports::RequestId list_sessions(ports::ListSessionsRequest request,
                                   ports::ListSessionsHandler handler) override;
    ports::RequestId delete_messages(ports::DeleteMessagesRequest request,
                                     ports::DeletedHandler handler) override;
    ports::RequestId manage_rules(ports::RulesRequest request,
                                  ports::RulesHandler handler) override;

private:
    using Asking = core::Result<std::unique_ptr<ports::Asking>>;

    /// Asks the broker for a session, unless the request cannot be met.
    [[nodiscard]] Asking ask(ports::RequestId id, const ports::AcceptRequest& request);
    [[nodiscard]] Asking ask_one(ports::RequestId id, const ports::AcceptRequest& request);
    [[nodiscard]] Asking ask_several(ports::RequestId id, const ports::AcceptRequest& request);
    [[nodiscard]] std::unique_ptr<LocalAccept> make_asking(ports::RequestId id,
                                                           const ports::AcceptRequest& request,
                                                           std::size_t entities);
    [[nodiscard]] broker::AcceptSpec to_spec(const ports::AcceptRequest& request);

    /// Has the broker perform an operation, unless its deadline has passed.
    template <typename T, typename Operation>
    [[nodiscard]] core::Result<T> perform(const std::string& entity, Deadline deadline,
                                          Operation operation);

    [[nodiscard]] std::optional<Failure> refuse_too_large(const ports::SendRequest& request,
                                                          const broker::Queue& queue) const;

    const std::shared_ptr<broker::Broker> broker_;
    const Measure measure_;
    const TurnQueueUse turns_;
    Confirmations confirmations_;
    AskOrder ask_order_{};
    WaitingPeeks peeks_;
    ports::AcceptBook accepts_;
};

} // namespace sessionq::in_process
