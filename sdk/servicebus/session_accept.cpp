// SPDX-License-Identifier: MIT
#include "servicebus/session_accept.hpp"

#include <utility>

#include "core/session_id.hpp"
#include "ports/wrong_scope.hpp"
#include "servicebus/conditions.hpp"
#include "servicebus/locked_messages.hpp"
#include "servicebus/session_attach.hpp"

namespace sessionq::detail::servicebus {

SessionAccept::SessionAccept(BrokerConnection& connection, FirstCreditTrial& trial,
                             ports::AcceptRequest request, Done done)
    : connection_{connection},
      trial_{trial},
      request_{std::move(request)},
      done_{std::move(done)},
      link_{std::make_unique<PooledLink>(connection)} {}

void SessionAccept::start() {
    connection_.when_usable(request_.entity,
                            [handle = anchor_.handle()](const core::Result<amqp::Engine*>& engine) {
                                SessionAccept* const self = handle.get();
                                if (self == nullptr) {
                                    return;
                                }
                                if (engine.ok()) {
                                    self->attach();
                                } else {
                                    self->done_(engine.failure());
                                }
                            });
}

void SessionAccept::attach() {
    const std::string name = "session-" + std::to_string(connection_.next_request_id());
    amqp::ReceiverLink* const link = link_->make(name);
    if (link == nullptr) {
        connection_.pool().refused();
        done_(Failure{.code = Errc::resource_exhausted,
                      .detail = "the broker allows no more links on this connection"});
        return;
    }
    link->set_listener(this);
    link->open(to_attach(request_, name));
    attached_at_ = connection_.loop().now();
    const bool gives = try_ == Try::with_credit && trial_.may_give() && request_.first.count != 0;
    given_ = gives ? request_.first : ports::FirstCredit{};
    if (gives) {
        link->add_credit(given_.count);
        if (given_.drain) {
            static_cast<void>(link->drain());
        }
    }
}

void SessionAccept::on_link_open() {
    const amqp::Link& link = link_->link();
    const amqp::Attach answer = link.remote();
    if (!answer.source.present) {
        return; // the refusal follows
    }
    if (request_.scope == ports::Scope::entity) {
        note_credit();
        done_(ports::SessionLinkPtr{
            std::make_unique<LockedMessages>(std::move(link_),
                                             SessionAddress{.entity = request_.entity,
                                                            .link_name = std::string{link.name()},
                                                            .scope = ports::Scope::entity},
                                             LockedSession::Terms{request_.mode, given_})});
        return;
    }
    auto session = granted_session(answer);
    if (!session) {
        return; // the same: the broker detaches with its reason (azure-sdk-for-js#9775)
    }
    if (request_.session_id && !core::is_same_session(*session, *request_.session_id)) {
        link_->drop();
        done_(Failure{.code = Errc::protocol_error,
                      .detail = "the broker granted another session than the one that was asked "
                                "for"});
        return;
    }
    note_credit();
    SessionAddress address{.entity = request_.entity,
                           .session_id = *std::move(session),
                           .link_name = std::string{link.name()}};
    const GrantTimes times = grant_times(answer);
    if (const auto time = times.granted_at) {
        connection_.locks().has_passed(*time, connection_.reading());
    }
    done_(ports::SessionLinkPtr{std::make_unique<LockedSession>(
        std::move(link_), std::move(address), LockedSession::Terms{request_.mode, given_},
        times.locked_until)});
}

/// The broker granted an accept that went out with or without credit.
void SessionAccept::note_credit() {
    if (given_.count != 0) {
        trial_.taken();
    } else if (try_ == Try::without_credit) {
        trial_.taken_without();
    }
}

void SessionAccept::on_refused(const amqp::Condition& condition) {
    link_->drop();
    if (given_.count != 0 && trial_.ended(condition, attached_at_, connection_.loop().now())) {
        try_ = Try::without_credit;
        start();
        return;
    }
    Failure why = to_failure(condition, request_.scope == ports::Scope::session
                                            ? "no session of '" + request_.entity + "' was granted"
                                            : "cannot receive from '" + request_.entity + "'");
    if (condition.name == "amqp:resource-limit-exceeded") {
        connection_.pool().refused();
    } else if (condition.name == "com.microsoft:timeout") {
        why.code = Errc::no_session_available;
    }
    connection_.failed(request_.entity, why);
    done_(ports::explain_scope(std::move(why), request_.entity, request_.scope));
}

} // namespace sessionq::detail::servicebus
