// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>

#include "core/backoff.hpp"
#include "core/random.hpp"
#include "ports/endpoint.hpp"
#include "simulation/sim_server.hpp"

namespace sessionq::simulation {

/// A connection to the simulated broker, bound to one receive loop.
class SimEndpoint final : public ports::Endpoint, private AcceptSink {
public:
    SimEndpoint(Environment& environment, SimServer& server, SimLoop& loop, std::size_t number);
    ~SimEndpoint() override;

    [[nodiscard]] core::EventLoop& loop() noexcept override { return *loop_; }
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept override {
        return capabilities_;
    }
    ports::RequestId accept(ports::AcceptRequest request, ports::AcceptHandler handler) override;
    /// In every other world.
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

    /// Its process is killed. The broker learns of it at once or when the locks end.
    void die() { server_->disconnect(*this, number_); }
    /// Loses all its links and accepts. No accept succeeds until `outage` is over.
    void disconnect(Duration outage);
    /// Ends the outage now.
    void reconnect() noexcept { down_until_ = TimePoint{}; }

    [[nodiscard]] std::size_t pending_accepts() const noexcept { return pending_.size(); }

private:
    struct Pending {
        AcceptRecord* record;
        ports::AcceptHandler handler;
        ports::FirstCredit first;
    };

    void granted(std::uint64_t accept, std::shared_ptr<FarLink> far, LinkRecord& record,
                 BrokerSession& session, Duration extra) override;
    void refused(std::uint64_t accept, Failure failure, Duration extra) override;
    void finish(std::uint64_t accept, core::Result<ports::SessionLinkPtr> result);
    void arrived(std::uint64_t accept, const std::shared_ptr<NearLink>& near);
    void ask(std::uint64_t accept, ports::AcceptRequest request, TimePoint asked);
    void attempted(std::uint64_t accept, ports::AcceptRequest request, TimePoint asked);
    void refuse_later(std::uint64_t accept, Failure failure, Duration after);

    Environment* environment_;
    SimServer* server_;
    SimLoop* loop_;
    std::size_t number_;
    ports::Capabilities capabilities_;
    Channel up_;
    std::map<std::uint64_t, Pending> pending_;
    std::vector<std::weak_ptr<NearLink>> links_;
    std::uint64_t last_accept_{0};
    TimePoint down_until_{};

    bool refuses_; ///< in an outage: connections are refused, else they are made and lost
    bool takes_first_credit_; ///< else its links begin without credit
    bool is_hasty_;           ///< answers a drain that came with an accept before it looks
    bool tells_ready_;        ///< how many sessions are ready
    core::Backoff reconnects_{BackoffOptions{}};
    core::Random random_{1};
    TimePoint next_attempt_{};
    std::shared_ptr<bool> here_{
        std::make_shared<bool>(true)}; ///< false once destroyed, for posted tasks
};

} // namespace sessionq::simulation
