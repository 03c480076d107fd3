// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "ports/endpoint.hpp"
#include "simulation/far_link.hpp"
#include "simulation/near_link.hpp"

namespace sessionq::simulation {

/// Takes the answer of an accept.
class AcceptSink {
public:
    virtual ~AcceptSink() = default;
    virtual void granted(std::uint64_t accept, std::shared_ptr<FarLink> far, LinkRecord& record,
                         BrokerSession& session, Duration extra) = 0;
    virtual void refused(std::uint64_t accept, Failure failure, Duration extra) = 0;
};

/// The broker as all endpoints reach it: waiting accepts, links, and the faults that the seed
/// chooses for them.
class SimServer {
public:
    explicit SimServer(Environment& environment) : environment_{&environment} {}

    void connect(AcceptSink& sink) { connected_.insert(&sink); }
    /// `sink` is not called afterwards.
    void disconnect(AcceptSink& sink, std::size_t endpoint);

    void accept(AcceptSink& sink, std::size_t endpoint, std::uint64_t id,
                const ports::AcceptRequest& request, TimePoint asked);
    void cancel(AcceptSink& sink, std::uint64_t id);
    /// The connection of an endpoint is lost. Its accepts are forgotten. Its links are released at
    /// once or later.
    void disconnected(std::size_t endpoint);

    /// Adds a message to a session.
    void send(const std::string& entity, const std::string& session);
    /// Ends a random link, with or without an error.
    void detach_one();
    /// From now on all accepts are answered, also those that hung.
    void heal();

    [[nodiscard]] std::size_t attached_links() const;

private:
    struct Waiting {
        AcceptSink* sink;
        std::size_t endpoint;
        std::uint64_t id;
        ports::AcceptRequest request;
        TimePoint asked;
        TimePoint until;
        bool mute;
    };

    void look(AcceptSink& sink, std::size_t endpoint, std::uint64_t id,
              const ports::AcceptRequest& request, TimePoint asked, bool late);
    void grant(AcceptSink& sink, std::size_t endpoint, std::uint64_t id,
               const ports::AcceptRequest& request, TimePoint asked, BrokerSession& session,
               bool late);
    void serve_waiting();
    void expire_waiting(std::uint64_t id, const AcceptSink* sink);
    [[nodiscard]] Failure some_refusal();
    [[nodiscard]] BrokerSession* some_ready(const std::string& entity);

    Environment* environment_;
    std::set<AcceptSink*> connected_;
    std::list<Waiting> waiting_;
    std::vector<std::shared_ptr<FarLink>> links_;
    std::uint32_t last_link_{0};
};

} // namespace sessionq::simulation
