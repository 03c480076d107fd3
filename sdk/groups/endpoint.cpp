#include "groups/endpoint.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/message_codec.hpp"
#include "groups/delivery_time.hpp"
#include "groups/durable.hpp"

namespace sessionq::groups {

using ports::Capability;

Endpoint::Endpoint(core::EventLoop& loop, asio::io_context& io, HubSettings settings)
    : hub_{std::make_shared<Hub>(loop, io, std::move(settings))},
      owed_{std::make_shared<std::map<std::uint64_t, std::function<void(const Failure&)>>>()} {}

Endpoint::~Endpoint() {
    const Failure why{.code = Errc::cancelled, .detail = "the client is closed"};
    for (auto& [terms, receiver] : receivers_) {
        receiver->shut();
    }
    for (auto& [id, accept] : std::exchange(accepts_, {})) {
        accept.handler(why);
    }
    for (auto& [id, fail] : std::exchange(*owed_, {})) {
        fail(why);
    }
    senders_.clear();
    hub_->close();
}

const ports::Capabilities& Endpoint::capabilities() const noexcept {
    const Dialect* dialect = hub_->dialect();
    return dialect != nullptr ? dialect->capabilities : common_capabilities();
}

template <typename T>
std::function<void(core::Result<T>)> Endpoint::owed(std::function<void(core::Result<T>)> handler) {
    const std::uint64_t id = ++last_owed_;
    const auto shared = std::make_shared<std::function<void(core::Result<T>)>>(std::move(handler));
    owed_->emplace(id, [shared](const Failure& why) { (*shared)(why); });
    return [owed = owed_, id, shared](core::Result<T> result) {
        if (owed->erase(id) != 0) {
            (*shared)(std::move(result));
        }
    };
}

template <typename T>
ports::RequestId Endpoint::refuse(Capability capability,
                                  std::function<void(core::Result<T>)> handler) {
    Failure why{.code = Errc::not_supported,
                .detail = capabilities().broker() +
                          " does not have: " + std::string{to_string(capability)}};
    loop().post([answer = owed<T>(std::move(handler)), why = std::move(why)] { answer(why); });
    return 0;
}

void Endpoint::connect(ports::DoneHandler handler) {
    hub_->ready([answer = owed(std::move(handler))](core::Result<amqp::Engine*> engine) {
        if (engine.ok()) {
            answer(core::Done{});
        } else {
            answer(engine.failure());
        }
    });
}

// Sessions

ports::RequestId Endpoint::accept(ports::AcceptRequest request, ports::AcceptHandler handler) {
    const ports::RequestId id = ++last_accept_;
    if (auto why = refusal(request)) {
        accepts_.emplace(id, Accept{nullptr, std::move(handler)});
        loop().post([this, alive = std::weak_ptr{owed_}, id, why = std::move(*why)] {
            if (!alive.expired()) {
                finish_accept(id, why);
            }
        });
        return id;
    }
    const auto receiver = receiver_for({.entity = std::move(request.entity),
                                        .session_id = std::move(request.session_id),
                                        .mode = request.mode,
                                        .priority = request.priority});
    accepts_.emplace(id, Accept{receiver, std::move(handler)});
    receiver->accept(id, request.wait, request.buffer_bytes,
                     [this, alive = std::weak_ptr{owed_},
                      id](core::Result<std::shared_ptr<GroupSession>> answer) {
                         if (!alive.expired()) {
                             finish_accept(id, std::move(answer));
                         }
                     });
    return id;
}

std::optional<Failure> Endpoint::refusal(const ports::AcceptRequest& request) const {
    if (!request.session_id) {
        return std::nullopt;
    }
    if (!capabilities().has(Capability::accept_named)) {
        return Failure{.code = Errc::not_supported,
                       .detail = capabilities().broker() + " does not have: " +
                                 std::string{to_string(Capability::accept_named)}};
    }
    for (const auto& [terms, receiver] : receivers_) {
        const bool is_here = terms.session_id
                                 ? terms.session_id == request.session_id && receiver->is_held()
                                 : receiver->has(*request.session_id);
        if (terms.entity == request.entity && is_here) {
            return Failure{.code = Errc::session_locked_elsewhere,
                           .detail =
                               "session '" + *request.session_id + "' is held by this client"};
        }
    }
    return std::nullopt;
}

std::shared_ptr<Receiver> Endpoint::receiver_for(ReceiverTerms terms) {
    std::shared_ptr<Receiver>& receiver = receivers_[terms];
    if (receiver == nullptr) {
        receiver = std::make_shared<Receiver>(hub_, unanswered_, terms);
        receiver->set_over([this, terms] { receivers_.erase(terms); });
    }
    return receiver;
}

void Endpoint::finish_accept(ports::RequestId id,
                             core::Result<std::shared_ptr<GroupSession>> answer) {
    const auto found = accepts_.find(id);
    if (found == accepts_.end()) {
        return; // given up; a session that came goes back as it is dropped
    }
    const Accept accept = std::move(found->second);
    accepts_.erase(found);
    if (answer.ok()) {
        accept.handler(
            ports::SessionLinkPtr{std::make_unique<GroupSessionLink>(std::move(answer).value())});
    } else {
        accept.handler(answer.failure());
    }
}

void Endpoint::give_up(ports::RequestId id) {
    const auto found = accepts_.find(id);
    if (found == accepts_.end()) {
        return;
    }
    Accept accept = std::move(found->second);
    accepts_.erase(found);
    if (accept.receiver) {
        accept.receiver->cancel(id);
    }
    auto answer = owed<ports::SessionLinkPtr>(std::move(accept.handler));
    loop().post([answer = std::move(answer)] {
        answer(Failure{.code = Errc::cancelled, .detail = "the accept was given up"});
    });
}

// Sending

ports::RequestId Endpoint::send(ports::SendRequest request, ports::SendHandler handler) {
    const bool is_scheduled = std::ranges::any_of(
        request.messages, [](const Message& m) { return m.scheduled_enqueue_time.has_value(); });
    if (is_scheduled && !capabilities().has(Capability::schedule)) {
        return refuse<std::vector<std::int64_t>>(Capability::schedule, std::move(handler));
    }
    std::vector<std::string> encoded;
    encoded.reserve(request.messages.size());
    const amqp::ClockReading at = hub_->reading();
    for (const Message& message : request.messages) {
        std::string made = amqp::encode_message(message, at);
        if (message.scheduled_enqueue_time) {
            made = with_delivery_time(std::move(made), hub_->dialect()->delivery_time,
                                      *message.scheduled_enqueue_time);
        }
        encoded.push_back(make_durable(std::move(made)));
    }
    auto answer = owed(std::move(handler));
    if (encoded.empty()) {
        loop().post([answer = std::move(answer)] { answer(std::vector<std::int64_t>{}); });
        return 0;
    }
    hub_->ready([this, alive = std::weak_ptr{owed_}, entity = std::move(request.entity),
                 encoded = std::move(encoded),
                 answer = std::move(answer)](core::Result<amqp::Engine*> engine) mutable {
        if (alive.expired()) {
            return; // answered when the endpoint went
        }
        if (!engine.ok()) {
            loop().post([answer, why = engine.failure()] { answer(why); });
            return;
        }
        auto& channel = senders_[entity];
        if (channel == nullptr || channel->is_lost()) {
            channel = std::make_unique<SenderChannel>(loop(), *engine.value(), entity);
        }
        channel->send(std::move(encoded), answer);
    });
    return 0;
}

// What these brokers do not have

ports::RequestId Endpoint::cancel_scheduled(std::string, std::vector<std::int64_t>, Deadline,
                                            ports::DoneHandler handler) {
    return refuse<core::Done>(Capability::cancel_scheduled, std::move(handler));
}
ports::RequestId Endpoint::peek(ports::PeekRequest, ports::PeekHandler handler) {
    return refuse<std::vector<ReceivedMessage>>(Capability::peek, std::move(handler));
}
ports::RequestId Endpoint::list_sessions(ports::ListSessionsRequest,
                                         ports::ListSessionsHandler handler) {
    return refuse<std::vector<std::string>>(Capability::list_sessions, std::move(handler));
}

} // namespace sessionq::groups
