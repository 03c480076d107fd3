// SPDX-License-Identifier: MIT
#include "simulation/watched_endpoint.hpp"

#include "simulation/watched_link.hpp"

namespace sessionq::simulation {

ports::RequestId WatchedEndpoint::accept(ports::AcceptRequest request,
                                         ports::AcceptHandler handler) {
    if (!loop().on_this_thread()) {
        environment_->broken("accept from outside the endpoint's loop");
    }
    AcceptRecord& record = environment_->accepts.emplace_back();
    record.endpoint = number_;
    record.entity = request.entity;
    record.asked = environment_->scheduler.now();
    const ports::RequestId id = endpoint_->accept(
        std::move(request),
        [this, &record, handler = std::move(handler)](core::Result<ports::SessionLinkPtr> result) {
            if (std::exchange(record.answered, true)) {
                environment_->broken("accept " + std::to_string(record.id) + " is answered twice");
                return;
            }
            pending_.erase(record.id);
            if (result) {
                handler(write_down(record, std::move(result).value()));
                return;
            }
            environment_->scheduler.trace("endpoint", number_, " accept ", record.id,
                                          " failed: ", to_string(result.failure().code));
            environment_->tell(&Oracle::accept_failed, record, result.failure());
            handler(std::move(result));
        });
    record.id = id;
    if (record.answered) {
        environment_->broken("an accept is answered within the call");
        return id;
    }
    pending_.emplace(id, &record);
    environment_->scheduler.trace("endpoint", number_, " accept ", id);
    environment_->tell(&Oracle::accept_asked, record);
    return id;
}

ports::SessionLinkPtr WatchedEndpoint::write_down(const AcceptRecord& accept,
                                                  ports::SessionLinkPtr link) {
    LinkRecord& record = environment_->links.emplace_back();
    record.id = static_cast<std::uint32_t>(environment_->links.size());
    record.accept_id = accept.id;
    record.endpoint = number_;
    record.wire = wire_();
    record.entity = accept.entity;
    record.session = link->session_id();
    record.asked = accept.asked;
    record.granted_at = accept.asked;
    record.locked_until = accept.asked + environment_->lock_length;
    const Duration length = link->initial_lock().length.value_or(std::chrono::hours{24});
    const Duration travelled = std::min({environment_->scheduler.now() - accept.asked, length / 10,
                                         Duration{seconds{2}}}); // as the receiver assumes
    record.granted = length;
    LinkBook book{*environment_, loop(), record};
    book.accepted(environment_->scheduler.now() + length - travelled, travelled, accept.cancelled);
    environment_->scheduler.trace("endpoint", number_, " accepted ", accept.id, " link", record.id,
                                  " ", record.session);
    ledger_->granted(record, environment_->broker.obtain(record.entity, record.session));
    environment_->tell(&Oracle::accepted, accept, record);
    return std::make_unique<WatchedLink>(*environment_, *ledger_, book, std::move(link));
}

void WatchedEndpoint::give_up(ports::RequestId id) {
    if (const auto found = pending_.find(id); found != pending_.end()) {
        found->second->cancelled = true;
        environment_->scheduler.trace("endpoint", number_, " cancel accept ", id);
        environment_->tell(&Oracle::accept_cancelled, *found->second);
    }
    endpoint_->give_up(id);
}

} // namespace sessionq::simulation
