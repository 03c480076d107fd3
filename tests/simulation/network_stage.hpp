// SPDX-License-Identifier: MIT
#pragma once

#include <asio/io_context.hpp>

#include "broker/broker.hpp"
#include "server/server.hpp"
#include "simulation/broker_time.hpp"
#include "simulation/network.hpp"
#include "simulation/redriving.hpp"
#include "simulation/scheduling_client.hpp"
#include "simulation/sending_client.hpp"
#include "simulation/stage.hpp"
#include "simulation/watched_endpoint.hpp"

namespace sessionq::simulation {

/// The product's own port, engine, server and broker in virtual time, with wires in place of
/// sockets.
class NetworkStage final : public Stage {
public:
    NetworkStage(std::uint64_t seed, Trace trace, const Setup& setup);

    [[nodiscard]] std::vector<ports::Endpoint*> endpoints() override;
    [[nodiscard]] Duration aftermath() const override;
    [[nodiscard]] bool has_sent_all() const override;
    [[nodiscard]] bool connects() const override { return true; }
    void close() override;
    void kill_consumer() override;
    void revive_consumer() override;
    void bury() override;

private:
    /// A receive thread of the broker and the server on it.
    struct Front {
        std::unique_ptr<SimLoop> loop;
        std::unique_ptr<server::Server> server{};
        bool is_down{false};
    };
    /// A sender with a receive thread of its own.
    struct Sender {
        std::unique_ptr<SimLoop> loop;
        std::unique_ptr<SendingClient> client;
    };
    class ForeignHolder;

    void send(const std::string& entity, const std::string& session) override;
    void hold_foreign(const std::string& entity, const std::string& session) override;
    void make_trouble() override;
    void mend() override;

    void connect_consumer();
    [[nodiscard]] std::unique_ptr<Redriving> make_redriving();
    [[nodiscard]] ports::EndpointPtr connect(SimLoop& loop, std::size_t number);
    void raise_broker(std::vector<broker::DurableQueue> kept);
    void kill_broker();
    void start(Front& front);
    void restart(Front& front);
    [[nodiscard]] Network::Listener some_front();
    [[nodiscard]] broker::Queue& queue(const std::string& entity) {
        return *broker_->find(entity).value();
    }
    [[nodiscard]] broker::Instant instant() {
        return {.now = scheduler().now(), .wall = scheduler().wall_now()};
    }
    void check_sessions_free();
    void check_accepts_answered();
    void check_counts();

    asio::io_context io_{1}; // nobody opens a socket
    std::shared_ptr<BrokerLedger> ledger_;
    std::unique_ptr<broker::Broker> broker_{}; ///< null: it was killed and has not restarted
    std::unique_ptr<BrokerTime> time_{};
    Network network_;
    std::vector<Front> fronts_{};
    std::vector<std::unique_ptr<WatchedEndpoint>> endpoints_{};
    std::vector<std::unique_ptr<WatchedEndpoint>> dead_{}; ///< of killed consumers
    std::vector<Sender> senders_{};
    std::unique_ptr<SimLoop> planner_loop_{};
    std::unique_ptr<SchedulingClient> planner_{}; ///< null: nobody schedules messages
    std::unique_ptr<Redriving> redriving_{};      ///< null: nobody redrives
    std::map<std::pair<std::string, std::string>, std::size_t>
        sender_of_{}; ///< by entity and session
    std::vector<std::shared_ptr<ForeignHolder>> foreign_{};
    std::uint64_t last_message_{0};
};

} // namespace sessionq::simulation
