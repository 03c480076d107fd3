// SPDX-License-Identifier: MIT
#include "simulation/watched_link.hpp"

namespace sessionq::simulation {

WatchedLink::WatchedLink(Environment& environment, BrokerLedger& ledger, LinkBook book,
                         ports::SessionLinkPtr link)
    : environment_{&environment}, ledger_{&ledger}, book_{book}, link_{std::move(link)} {}

WatchedLink::~WatchedLink() {
    *here_ = false;
    environment_->scheduler.trace("link", book_.record().id, " is let go");
    book_.record().state_failed = book_.record().state_failed || book_.record().state_asks != 0;
    book_.destroyed();
    ledger_->ended(book_.record());
}

template <typename T>
std::function<void(core::Result<T>)> WatchedLink::once(
    const char* what, std::function<void(core::Result<T>)> handler) {
    return [environment = environment_, here = here_, ran = std::make_shared<bool>(false), what,
            handler = std::move(handler)](core::Result<T> result) {
        if (std::exchange(*ran, true)) {
            environment->broken(std::string{what} + " is answered twice");
        } else if (!*here) {
            environment->broken(std::string{what} + " is answered after its link was destroyed");
        } else {
            handler(std::move(result));
        }
    };
}

ports::FirstCredit WatchedLink::set_events(ports::LinkEvents& events) {
    events_ = &events;
    book_.taken();
    const ports::FirstCredit first = link_->set_events(*this);
    book_.given(first);
    return first;
}

void WatchedLink::add_credit(std::uint32_t count) {
    if (book_.credit_added(count, events_ != nullptr)) {
        link_->add_credit(count);
    }
}

void WatchedLink::drain() {
    if (book_.drain_asked()) {
        link_->drain();
    }
}

void WatchedLink::settle(ports::Delivery& delivery, ports::Settlement&& settlement) {
    const auto found = unsettled_.find(&delivery);
    if (found == unsettled_.end() && deferred_.erase(delivery.port_tag) != 0) {
        if (book_.usable("settle")) {
            ++unanswered_;
            settling_deferred_.insert(&delivery);
            link_->settle(delivery, std::move(settlement));
        }
        return;
    }
    if (book_.settle_asked(found != unsettled_.end() ? found->second : nullptr,
                           settlement.outcome)) {
        ++unanswered_;
        link_->settle(delivery, std::move(settlement));
    }
}

ports::RequestId WatchedLink::renew_lock(Deadline deadline, LockHandler handler) {
    if (!book_.usable("renew_lock")) {
        return 0;
    }
    book_.renewal_asked();
    return link_->renew_lock(
        deadline, once<ports::LockGrant>("a renewal", [this, asked = environment_->scheduler.now(),
                                                       handler = std::move(handler)](
                                                          core::Result<ports::LockGrant> grant) {
            environment_->scheduler.trace("link", book_.record().id,
                                          grant ? " renewed" : " not renewed");
            book_.record().answered = std::max(book_.record().answered, asked);
            if (!grant) {
                book_.renewal_failed(grant.failure());
            } else if (grant.value().length && book_.record().held) {
                book_.record().locked_until = asked + environment_->lock_length;
                book_.renewed(asked + *grant.value().length);
                // An answer that took most of the lock's length leaves its holder no time.
                LinkRecord& record = book_.record();
                record.granted = *grant.value().length;
                record.lease_wavered =
                    record.lease_wavered ||
                    lease_ending(record, environment_->scheduler.now(), environment_->margin());
            }
            handler(std::move(grant));
        }));
}

ports::RequestId WatchedLink::get_state(Deadline deadline, StateHandler handler) {
    return link_->get_state(deadline, state_answer(std::move(handler)));
}

ports::RequestId WatchedLink::set_state(std::optional<std::string> state, Deadline deadline,
                                        DoneHandler handler) {
    book_.record().state_written = true;
    return link_->set_state(std::move(state), deadline, state_answer(std::move(handler)));
}

ports::RequestId WatchedLink::receive_deferred(std::vector<std::int64_t> sequence_numbers,
                                               Deadline deadline, DeliveriesHandler handler) {
    using Deliveries = std::vector<ports::DeliveryPtr>;
    return link_->receive_deferred(
        std::move(sequence_numbers), deadline,
        once<Deliveries>("a request for deferred messages",
                         [this, handler = std::move(handler)](core::Result<Deliveries> answer) {
                             if (answer) {
                                 for (const ports::DeliveryPtr& each : answer.value()) {
                                     deferred_.insert(each->port_tag);
                                 }
                             }
                             handler(std::move(answer));
                         }));
}

template <typename T>
std::function<void(core::Result<T>)> WatchedLink::state_answer(
    std::function<void(core::Result<T>)> handler) {
    ++book_.record().state_asks;
    environment_->tell(&Oracle::state_asked, book_.record());
    return once<T>("a request for the state",
                   [this, handler = std::move(handler)](core::Result<T> answer) {
                       --book_.record().state_asks;
                       book_.record().state_failed = book_.record().state_failed || !answer.ok();
                       handler(std::move(answer));
                   });
}

void WatchedLink::close(DoneHandler handler) {
    if (!book_.usable("close")) {
        return;
    }
    environment_->scheduler.trace("link", book_.record().id, " close ", book_.record().session);
    book_.closing();
    ledger_->ended(book_.record());
    link_->close(once<core::Done>(
        "a close", [this, handler = std::move(handler)](core::Result<core::Done> done) {
            environment_->scheduler.trace("link", book_.record().id, " closed");
            check_answered("a close was answered");
            handler(std::move(done));
        }));
}

void WatchedLink::on_delivery(ports::DeliveryPtr delivery) {
    const LinkRecord& record = book_.record();
    const ReceivedMessage& received = delivery->message;
    MessageRecord* message =
        ledger_->find(record.entity, received.sequence_number(), received.message_id());
    if (record.closed || record.lost) {
        environment_->broken("a delivery on a link that is over");
        return;
    }
    if (message == nullptr || message->session != record.session ||
        received.session_id() != record.session) {
        environment_->broken("a delivery of what is no message of the session");
        return;
    }
    const auto original = received.shared_content()->property(redrive_message_id_property);
    const auto* const id = original ? std::get_if<std::string>(&*original) : nullptr;
    if (received.text() !=
        environment_->body_of(id != nullptr ? std::string_view{*id} : received.message_id())) {
        environment_->broken("a message is not as it was sent");
    }
    if (record.credit == 0) {
        environment_->broken("a delivery without credit");
    }
    if (!message->done()) {
        message->state = MessageState::locked;
        message->holder = record.id;
    }
    Message said;
    said.session_id = record.session;
    said.message_id = received.message_id();
    DeliveryFacts facts = received.facts();
    DeliveryRecord& written = book_.arrived(*message, *delivery, std::move(said), std::move(facts));
    written.holder_lost = delivery->holder_lost;
    if (!delivery->settled_by_sender) {
        unsettled_[delivery.get()] = &written; // memory is reused
    }
    events_->on_delivery(std::move(delivery));
}

void WatchedLink::on_settled(ports::Delivery& delivery, const Failure* failure) {
    if (settling_deferred_.erase(&delivery) != 0) {
        --unanswered_;
        events_->on_settled(delivery, failure);
        return;
    }
    const auto found = unsettled_.find(&delivery);
    if (found == unsettled_.end() || !found->second->asked) {
        environment_->broken("an answer to a settlement that nobody waits for");
        return;
    }
    DeliveryRecord& record = *found->second;
    unsettled_.erase(found);
    --unanswered_;
    if (book_.settled(record, failure)) {
        events_->on_settled(delivery, failure);
    }
}

void WatchedLink::on_drained() {
    if (!book_.record().draining || book_.record().closed || book_.record().lost) {
        environment_->broken("an answer to a drain that nobody waits for");
        return;
    }
    book_.drained();
    events_->on_drained();
}

void WatchedLink::on_lost(const Failure& reason) {
    if (book_.record().closed || book_.record().lost) {
        environment_->broken("the loss of a link that is over");
        return;
    }
    check_answered("a loss was told");
    book_.losing(reason);
    ledger_->ended(book_.record());
    book_.lost();
    events_->on_lost(reason);
}

void WatchedLink::check_answered(const char* before) {
    if (unanswered_ != 0) {
        environment_->broken(std::string{before} + " before " + std::to_string(unanswered_) +
                             " settlements were answered");
    }
}

} // namespace sessionq::simulation
