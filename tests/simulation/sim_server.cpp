// SPDX-License-Identifier: MIT
#include "simulation/sim_server.hpp"

#include <algorithm>
#include <array>

namespace sessionq::simulation {

Failure SimServer::some_refusal() {
    constexpr std::array causes{
        Errc::server_busy,     Errc::unauthorized,   Errc::entity_not_found,
        Errc::entity_disabled, Errc::timeout,        Errc::protocol_error,
        Errc::connection_lost, Errc::internal_error, Errc::resource_exhausted};
    return Failure{.code = causes[environment_->scheduler.random().below(causes.size())],
                   .peer_condition = "refused"};
}

BrokerSession* SimServer::some_ready(const std::string& entity) {
    const auto ready = environment_->broker.ready(entity);
    return ready.empty() ? nullptr : ready[environment_->scheduler.random().below(ready.size())];
}

void SimServer::accept(AcceptSink& sink, std::size_t endpoint, std::uint64_t id,
                       const ports::AcceptRequest& request, TimePoint asked) {
    const Faults& faults = environment_->faults;
    if (environment_->busy) {
        sink.refused(id, Failure{.code = Errc::server_busy, .peer_condition = "server-busy"}, {});
        return;
    }
    if (environment_->chance(faults.accept_refused)) {
        sink.refused(id, some_refusal(),
                     environment_->scheduler.between(milliseconds{0}, milliseconds{50}));
        return;
    }
    if (environment_->chance(faults.accept_slow)) {
        environment_->scheduler.after(
            environment_->scheduler.between(milliseconds{1}, request.wait + seconds{15}),
            [this, &sink, endpoint, id, request, asked] {
                look(sink, endpoint, id, request, asked, true);
            });
        return;
    }
    if (environment_->chance(faults.accept_mute)) {
        waiting_.push_back({&sink, endpoint, id, request, asked, TimePoint::max(), true});
        return;
    }
    look(sink, endpoint, id, request, asked, false);
}

void SimServer::look(AcceptSink& sink, std::size_t endpoint, std::uint64_t id,
                     const ports::AcceptRequest& request, TimePoint asked, bool late) {
    Environment& environment = *environment_;
    if (!connected_.contains(&sink)) {
        return;
    }
    if (request.session_id) {
        BrokerSession* session = environment.broker.find(request.entity, *request.session_id);
        if (session == nullptr) {
            sink.refused(id, Failure{.code = Errc::session_not_found}, {});
        } else if (session->holder != 0 || session->foreign) {
            sink.refused(id, Failure{.code = Errc::session_locked_elsewhere}, {});
        } else {
            grant(sink, endpoint, id, request, asked, *session, late);
        }
        return;
    }
    BrokerSession* session = some_ready(request.entity);
    if (session == nullptr && environment.chance(environment.faults.accept_empty)) {
        for (auto& [key, candidate] : environment.broker.sessions()) {
            if (candidate.entity == request.entity && candidate.holder == 0 && !candidate.foreign) {
                session = &candidate;
            }
        }
    }
    if (session != nullptr) {
        grant(sink, endpoint, id, request, asked, *session, late);
        return;
    }
    const TimePoint until = environment.scheduler.now() + (late ? Duration::zero() : request.wait);
    waiting_.push_back({&sink, endpoint, id, request, asked, until, false});
    environment.scheduler.at(until, [this, id, where = &sink] { expire_waiting(id, where); });
}

void SimServer::expire_waiting(std::uint64_t id, const AcceptSink* sink) {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const Waiting& w) { return w.id == id && w.sink == sink; });
    if (found != waiting_.end() && found->until <= environment_->scheduler.now()) {
        const Waiting expired = *found;
        waiting_.erase(found);
        expired.sink->refused(id, Failure{.code = Errc::no_session_available}, {});
    }
}

void SimServer::grant(AcceptSink& sink, std::size_t endpoint, std::uint64_t id,
                      const ports::AcceptRequest& request, TimePoint asked, BrokerSession& session,
                      bool late) {
    LinkRecord& record = environment_->links.emplace_back();
    record.id = ++last_link_;
    record.accept_id = id;
    record.endpoint = endpoint;
    record.entity = request.entity;
    record.session = session.id;
    record.asked = asked;
    record.granted_at = environment_->scheduler.now();
    record.late = late;
    auto far = std::make_shared<FarLink>(*environment_, record,
                                         request.mode == ports::ReceiveMode::receive_and_delete);
    far->released = [this] { serve_waiting(); };
    links_.push_back(far);
    environment_->scheduler.trace("broker: accept ", id, " gets ", session.id, " as link",
                                  record.id);
    sink.granted(id, std::move(far), record, session, {});
}

void SimServer::cancel(AcceptSink& sink, std::uint64_t id) {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& w) {
        return w.id == id && w.sink == &sink;
    });
    if (found != waiting_.end()) { // else its answer is under way or still to come
        waiting_.erase(found);
        sink.refused(id, Failure{.code = Errc::cancelled}, {});
    }
}

void SimServer::serve_waiting() {
    // As a separate step, because the caller that released a session has not finished.
    environment_->scheduler.after({}, [this] {
        std::erase_if(links_, [](const auto& link) { return !link->attached(); });
        for (auto at = waiting_.begin(); at != waiting_.end();) {
            BrokerSession* session =
                at->mute || at->request.session_id ? nullptr : some_ready(at->request.entity);
            if (session == nullptr) {
                ++at;
                continue;
            }
            const Waiting served = *at;
            at = waiting_.erase(at);
            grant(*served.sink, served.endpoint, served.id, served.request, served.asked, *session,
                  false);
        }
    });
}

void SimServer::disconnect(AcceptSink& sink, std::size_t endpoint) {
    connected_.erase(&sink);
    disconnected(endpoint);
}

void SimServer::disconnected(std::size_t endpoint) {
    std::erase_if(waiting_, [&](const Waiting& w) { return w.endpoint == endpoint; });
    for (const auto& link : links_) {
        if (link->endpoint() == endpoint && link->attached()) {
            const Duration notice =
                environment_->chance(50)
                    ? Duration::zero()
                    : environment_->scheduler.between(milliseconds{0}, environment_->lock_length);
            environment_->scheduler.after(notice, [link] { link->drop(); });
        }
    }
}

void SimServer::send(const std::string& entity, const std::string& session) {
    const MessageRecord& message =
        environment_->broker.send(entity, session, environment_->scheduler.now());
    environment_->scheduler.trace("broker: ", session, " #", message.sequence);
    const BrokerSession* there = environment_->broker.find(entity, session);
    for (const auto& link : links_) {
        if (there->holder == link->id()) {
            link->pump();
            return;
        }
    }
    serve_waiting();
}

void SimServer::detach_one() {
    std::vector<FarLink*> candidates;
    for (const auto& link : links_) {
        if (link->attached()) {
            candidates.push_back(link.get());
        }
    }
    if (!candidates.empty()) {
        FarLink& chosen = *candidates[environment_->scheduler.random().below(candidates.size())];
        chosen.detach(environment_->chance(50) ? Errc::lock_lost : Errc::connection_lost,
                      environment_->chance(70));
    }
}

void SimServer::heal() {
    for (Waiting& waiting : waiting_) {
        waiting.mute = false;
        if (waiting.until == TimePoint::max()) {
            waiting.until = environment_->scheduler.now() + waiting.request.wait;
            environment_->scheduler.at(waiting.until, [this, id = waiting.id, sink = waiting.sink] {
                expire_waiting(id, sink);
            });
        }
    }
    serve_waiting();
}

std::size_t SimServer::attached_links() const {
    return static_cast<std::size_t>(std::count_if(
        links_.begin(), links_.end(), [](const auto& link) { return link->attached(); }));
}

} // namespace sessionq::simulation
