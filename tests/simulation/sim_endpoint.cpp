// SPDX-License-Identifier: MIT
#include "simulation/sim_endpoint.hpp"

namespace sessionq::simulation {
namespace {

/// The part of a link that the consumer owns.
class SimLink final : public ports::SessionLink {
public:
    explicit SimLink(std::shared_ptr<NearLink> near) : near_{std::move(near)} {}
    ~SimLink() override { near_->destroyed(); }

    [[nodiscard]] const std::string& session_id() const noexcept override {
        return near_->record().session;
    }
    [[nodiscard]] ports::LockGrant initial_lock() const noexcept override {
        return {near_->initial_lock()};
    }
    ports::FirstCredit set_events(ports::LinkEvents& events) override {
        near_->set_events(events);
        return near_->first_credit();
    }
    void add_credit(std::uint32_t count) override { near_->add_credit(count); }
    void drain() override { near_->drain(); }
    void settle(ports::Delivery& delivery, ports::Settlement&& settlement) override {
        near_->settle(delivery, settlement);
    }
    ports::RequestId renew_lock(Deadline, LockHandler handler) override {
        near_->renew(std::move(handler));
        return 0;
    }
    void give_up(ports::RequestId) override {}
    void close(DoneHandler handler) override { near_->close(std::move(handler)); }

    ports::RequestId get_state(Deadline, StateHandler handler) override {
        const auto read = std::make_shared<std::optional<std::string>>();
        ask_state(
            false, [read](BrokerSession& session) { *read = session.state; },
            [read, handler = std::move(handler)](const Failure* failure) {
                if (failure != nullptr) {
                    handler(*failure);
                } else {
                    handler(*read);
                }
            });
        return 0;
    }
    ports::RequestId set_state(std::optional<std::string> state, Deadline,
                               DoneHandler handler) override {
        ask_state(
            true, [state = std::move(state)](BrokerSession& session) { session.state = state; },
            [handler = std::move(handler)](const Failure* failure) {
                if (failure != nullptr) {
                    handler(*failure);
                } else {
                    handler(core::Done{});
                }
            });
        return 0;
    }
    ports::RequestId receive_deferred(std::vector<std::int64_t>, Deadline,
                                      DeliveriesHandler handler) override {
        return refuse(std::move(handler));
    }

private:
    void ask_state(bool writes, std::function<void(BrokerSession&)> use, NearLink::Answer answer) {
        near_->ask(
            [weak = std::weak_ptr{near_}, use = std::move(use)](FarLink& far,
                                                                std::uint64_t operation) {
                const auto near = weak.lock();
                if (near && far.attached()) { // else it hears that the link is lost
                    use(*far.session());
                    near->send_answer(operation, std::nullopt, {});
                }
            },
            near_->state_answer(writes, std::move(answer)));
    }

    template <typename Handler>
    ports::RequestId refuse(Handler handler) {
        near_->ask(
            [operation_near = std::weak_ptr{near_}](FarLink&, std::uint64_t operation) {
                if (const auto near = operation_near.lock()) {
                    near->send_answer(operation, Failure{.code = Errc::not_supported}, {});
                }
            },
            [handler = std::move(handler)](const Failure* failure) { handler(*failure); });
        return 0;
    }

    std::shared_ptr<NearLink> near_;
};

} // namespace

SimEndpoint::SimEndpoint(Environment& environment, SimServer& server, SimLoop& loop,
                         std::size_t number)
    : environment_{&environment},
      server_{&server},
      loop_{&loop},
      number_{number},
      capabilities_{"simulation",
                    {ports::Capability::accept_named, ports::Capability::accept_next,
                     ports::Capability::lock_renewal, ports::Capability::session_state,
                     ports::Capability::defer, ports::Capability::dead_letter,
                     ports::Capability::dead_letter_reason, ports::Capability::receive_and_delete,
                     ports::Capability::session_ids_without_case}},
      up_{environment.scheduler, "up" + std::to_string(number)},
      refuses_{environment.chance(50)},
      takes_first_credit_{environment.chance(70)},
      is_hasty_{environment.chance(20)},
      tells_ready_{environment.chance(50)} {
    server.connect(*this);
}

SimEndpoint::~SimEndpoint() {
    *here_ = false;
    server_->disconnect(*this, number_);
    auto pending = std::exchange(pending_, {});
    for (auto& [id, accept] : pending) {
        accept.handler(Failure{.code = Errc::cancelled, .detail = "the endpoint is destroyed"});
    }
}

ports::RequestId SimEndpoint::accept(ports::AcceptRequest request, ports::AcceptHandler handler) {
    if (!loop_->on_this_thread()) {
        environment_->broken("accept from outside the endpoint's loop");
    }
    const std::uint64_t id = ++last_accept_;
    const TimePoint now = environment_->scheduler.now();
    AcceptRecord& record = environment_->accepts.emplace_back();
    record.id = id;
    record.endpoint = number_;
    record.entity = request.entity;
    record.asked = now;
    pending_.emplace(id,
                     Pending{.record = &record,
                             .handler = std::move(handler),
                             .first = takes_first_credit_ ? request.first : ports::FirstCredit{}});
    environment_->scheduler.trace("endpoint", number_, " accept ", id);
    environment_->tell(&Oracle::accept_asked, record);
    if (now >= down_until_) {
        ask(id, std::move(request), now);
    } else if (refuses_) {
        environment_->scheduler.after(
            std::max(environment_->latency(), next_attempt_ - now),
            [this, here = here_, id, now, request = std::move(request)]() mutable {
                if (*here) {
                    attempted(id, std::move(request), now);
                }
            });
    } else {
        refuse_later(id, Failure{.code = Errc::connection_lost}, environment_->latency());
    }
    return id;
}

std::optional<ports::ReadySessions> SimEndpoint::ready_sessions(const std::string& entity) {
    if (!tells_ready_) {
        return std::nullopt;
    }
    ports::ReadySessions all;
    for (const BrokerSession* session : environment_->broker.ready(entity)) {
        ++all.count;
        all.since =
            std::min(all.since, session->ready_since.value_or(environment_->scheduler.now()));
    }
    return all;
}

void SimEndpoint::ask(std::uint64_t accept, ports::AcceptRequest request, TimePoint asked) {
    up_.send(environment_->latency(), [this, accept, asked, request = std::move(request)] {
        server_->accept(*this, number_, accept, request, asked);
    });
}

/// Everyone who waits for a connection waits for the same attempt. Attempts get slower while they
/// fail.
void SimEndpoint::attempted(std::uint64_t accept, ports::AcceptRequest request, TimePoint asked) {
    const TimePoint now = environment_->scheduler.now();
    if (now >= next_attempt_) {
        next_attempt_ = now + reconnects_.next(random_);
    }
    const auto found = pending_.find(accept);
    if (found == pending_.end()) {
        return;
    }
    if (found->second.record->cancelled) {
        refuse_later(accept, Failure{.code = Errc::cancelled}, {});
    } else if (now < down_until_) {
        refuse_later(accept, Failure{.code = Errc::connection_refused}, {});
    } else {
        ask(accept, std::move(request), asked);
    }
}

void SimEndpoint::give_up(ports::RequestId id) {
    const auto found = pending_.find(id);
    if (found == pending_.end()) {
        return;
    }
    found->second.record->cancelled = true;
    environment_->scheduler.trace("endpoint", number_, " cancel accept ", id);
    environment_->tell(&Oracle::accept_cancelled, *found->second.record);
    up_.send(environment_->latency(), [this, id] { server_->cancel(*this, id); });
}

void SimEndpoint::granted(std::uint64_t accept, std::shared_ptr<FarLink> far, LinkRecord& record,
                          BrokerSession& session, Duration extra) {
    const auto found = pending_.find(accept);
    if (found == pending_.end()) {
        return; // answered when the connection was lost; nobody would release the session
    }
    const ports::FirstCredit first = found->second.first;
    auto near = std::make_shared<NearLink>(*environment_, *loop_, record, up_, far);
    if (environment_->lock_length > Duration::zero()) {
        near->set_initial_lock(environment_->lock_length);
        record.lease_until = environment_->scheduler.now() + environment_->lock_length;
    }
    far->attach(near, session);
    links_.push_back(near);
    near->send_accepted(
        [this, here = here_, accept, near] {
            if (*here) {
                arrived(accept, near);
            }
        },
        extra);
    near->set_first_credit(first);
    if (first.drain && is_hasty_) {
        near->send_drained({});
        return;
    }
    far->flow(first.count);
    if (first.drain) {
        far->drain();
    }
}

void SimEndpoint::arrived(std::uint64_t accept, const std::shared_ptr<NearLink>& near) {
    const auto found = pending_.find(accept);
    if (found == pending_.end()) {
        near->unwanted();
        return;
    }
    LinkRecord& record = near->record();
    const bool expires = record.lease_until != TimePoint::max();
    const Duration doubt =
        expires ? environment_->scheduler.now() + environment_->lock_length - record.lease_until
                : Duration::zero();
    near->book().accepted(record.lease_until, doubt, found->second.record->cancelled);
    near->book().given(near->first_credit());
    finish(accept, ports::SessionLinkPtr{std::make_unique<SimLink>(near)});
}

void SimEndpoint::refused(std::uint64_t accept, Failure failure, Duration extra) {
    refuse_later(accept, std::move(failure), environment_->latency() + extra);
}

void SimEndpoint::refuse_later(std::uint64_t accept, Failure failure, Duration after) {
    environment_->scheduler.after(after,
                                  [this, here = here_, accept, failure = std::move(failure)] {
                                      if (*here) {
                                          loop_->post([this, here, accept, failure] {
                                              if (*here) {
                                                  finish(accept, failure);
                                              }
                                          });
                                      }
                                  });
}

void SimEndpoint::finish(std::uint64_t accept, core::Result<ports::SessionLinkPtr> result) {
    const auto found = pending_.find(accept);
    if (found == pending_.end()) {
        return;
    }
    Pending pending = std::move(found->second);
    pending_.erase(found);
    pending.record->answered = true;
    if (result || result.failure().code == Errc::no_session_available) { // the connection works
        reconnects_.reset();
    }
    if (result) {
        const auto& links = environment_->links;
        for (auto link = links.rbegin(); link != links.rend(); ++link) {
            if (link->accept_id == accept && link->endpoint == number_) {
                environment_->scheduler.trace("endpoint", number_, " accepted ", accept, " link",
                                              link->id, " ", link->session);
                environment_->tell(&Oracle::accepted, *pending.record, *link);
                break;
            }
        }
    } else {
        environment_->scheduler.trace("endpoint", number_, " accept ", accept,
                                      " failed: ", to_string(result.failure().code));
        environment_->tell(&Oracle::accept_failed, *pending.record, result.failure());
    }
    pending.handler(std::move(result));
}

void SimEndpoint::disconnect(Duration outage) {
    environment_->scheduler.trace("endpoint", number_, " disconnected");
    down_until_ = environment_->scheduler.now() + outage;
    next_attempt_ = environment_->scheduler.now() + reconnects_.next(random_);
    up_.cut();
    server_->disconnected(number_);
    for (const auto& weak : links_) {
        if (const auto near = weak.lock()) {
            near->cut();
            near->send_lost(Failure{.code = Errc::connection_lost}, {});
        }
    }
    std::erase_if(links_, [](const auto& weak) { return weak.expired(); });
    for (const auto& [id, pending] : pending_) {
        refuse_later(id, Failure{.code = Errc::connection_lost}, environment_->latency());
    }
}

ports::RequestId SimEndpoint::sending_limit(std::string, Deadline,
                                            ports::SendingLimitHandler handler) {
    loop_->post([handler = std::move(handler)] { handler(Failure{.code = Errc::not_supported}); });
    return 0;
}

ports::RequestId SimEndpoint::send(ports::SendRequest, ports::SendHandler handler) {
    loop_->post([handler = std::move(handler)] { handler(Failure{.code = Errc::not_supported}); });
    return 0;
}

ports::RequestId SimEndpoint::cancel_scheduled(std::string, std::vector<std::int64_t>, Deadline,
                                               ports::DoneHandler handler) {
    loop_->post([handler = std::move(handler)] { handler(Failure{.code = Errc::not_supported}); });
    return 0;
}

ports::RequestId SimEndpoint::peek(ports::PeekRequest, ports::PeekHandler handler) {
    loop_->post([handler = std::move(handler)] { handler(Failure{.code = Errc::not_supported}); });
    return 0;
}

ports::RequestId SimEndpoint::list_sessions(ports::ListSessionsRequest,
                                            ports::ListSessionsHandler handler) {
    loop_->post([handler = std::move(handler)] { handler(Failure{.code = Errc::not_supported}); });
    return 0;
}

ports::RequestId SimEndpoint::delete_messages(ports::DeleteMessagesRequest,
                                              ports::DeletedHandler handler) {
    loop_->post([handler = std::move(handler)] { handler(Failure{.code = Errc::not_supported}); });
    return 0;
}

ports::RequestId SimEndpoint::manage_rules(ports::RulesRequest, ports::RulesHandler handler) {
    loop_->post([handler = std::move(handler)] { handler(Failure{.code = Errc::not_supported}); });
    return 0;
}

} // namespace sessionq::simulation
