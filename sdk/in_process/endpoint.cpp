#include "in_process/endpoint.hpp"

#include <utility>

#include "in_process/link.hpp"

namespace sessionq::in_process {
namespace {

broker::ReceiveMode to_broker(ports::ReceiveMode mode) noexcept {
    return mode == ports::ReceiveMode::peek_lock ? broker::ReceiveMode::peek_lock
                                                 : broker::ReceiveMode::receive_and_delete;
}

} // namespace

Endpoint::Endpoint(std::shared_ptr<broker::Broker> broker, core::EventLoop& loop)
    : broker_{std::move(broker)},
      pump_{std::make_shared<Pump>(loop)},
      answers_{std::make_shared<Answers>(pump_, broker_->journal())} {
    pump_->retain();
}

Endpoint::~Endpoint() {
    for (auto& [id, accept] : accepts_) {
        accept.core->abandon_ask();
    }
    for (auto& [id, accept] : std::exchange(accepts_, {})) {
        accept.handler(Failure{.code = Errc::cancelled, .detail = "the endpoint was closed"});
    }
    answers_->cancel();
    pump_->release();
}

const ports::Capabilities& Endpoint::capabilities() const noexcept {
    using ports::Capability;
    static const ports::Capabilities all{
        "the local broker",
        {Capability::accept_named, Capability::accept_next, Capability::lock_renewal,
         Capability::session_state, Capability::list_sessions, Capability::defer,
         Capability::dead_letter, Capability::dead_letter_reason, Capability::schedule,
         Capability::cancel_scheduled, Capability::peek, Capability::refuse_held,
         Capability::refuse_sessionless, Capability::sequence_numbers,
         Capability::modify_properties, Capability::receive_and_delete}};
    return all;
}

ports::RequestId Endpoint::accept(ports::AcceptRequest request, ports::AcceptHandler handler) {
    const ports::RequestId id = ++last_accept_;
    auto queue = broker_->find(request.entity);
    if (!queue) {
        answers_->give<ports::SessionLinkPtr>(std::move(handler), queue.failure());
        return id;
    }
    auto core = std::make_shared<LinkCore>(pump_, std::move(queue).value(), broker_->journal());
    accepts_.emplace(id, Accept{core, std::move(handler)});
    core->ask(
        {.session_id = std::move(request.session_id),
         .mode = to_broker(request.mode),
         .priority = request.priority,
         .until = Deadline::after(request.wait, loop().now()).sooner(request.deadline).time()},
        [this, id](core::Result<broker::ConsumerPtr> result) {
            finish_accept(id, std::move(result));
        });
    return id;
}

void Endpoint::finish_accept(ports::RequestId id, core::Result<broker::ConsumerPtr> result) {
    const auto node = accepts_.extract(id);
    const Accept& accept = node.mapped();
    if (result) {
        accept.handler(ports::SessionLinkPtr{std::make_unique<Link>(pump_, accept.core)});
    } else {
        accept.handler(result.failure());
    }
}

void Endpoint::give_up(ports::RequestId id) {
    if (const auto found = accepts_.find(id); found != accepts_.end()) {
        found->second.core->cancel_ask();
    }
}

template <typename T, typename Operation>
ports::RequestId Endpoint::perform(const std::string& entity, Deadline deadline,
                                   std::function<void(core::Result<T>)> handler,
                                   Operation operation) {
    if (deadline.passed(loop().now())) {
        answers_->give<T>(std::move(handler), Failure{.code = Errc::timeout});
        return 0;
    }
    auto queue = broker_->find(entity);
    answers_->give<T>(std::move(handler), queue ? operation(*queue.value(), pump_->now())
                                                : core::Result<T>{queue.failure()});
    return 0;
}

template <typename T, typename Operation>
ports::RequestId Endpoint::change(const std::string& entity, Deadline deadline,
                                  std::function<void(core::Result<T>)> handler,
                                  Operation operation) {
    if (deadline.passed(loop().now())) {
        answers_->give<T>(std::move(handler), Failure{.code = Errc::timeout});
        return 0;
    }
    auto queue = broker_->find(entity);
    answers_->confirm<T>(std::move(handler), queue ? operation(*queue.value(), pump_->now())
                                                   : core::Result<T>{queue.failure()});
    return 0;
}

ports::RequestId Endpoint::send(ports::SendRequest request, ports::SendHandler handler) {
    return change<std::vector<std::int64_t>>(request.entity, request.deadline, std::move(handler),
                                             [&](broker::Queue& queue, broker::Instant at) {
                                                 return queue.send(std::move(request.messages), at);
                                             });
}

ports::RequestId Endpoint::cancel_scheduled(std::string entity,
                                            std::vector<std::int64_t> sequence_numbers,
                                            Deadline deadline, ports::DoneHandler handler) {
    return change<core::Done>(entity, deadline, std::move(handler),
                              [&](broker::Queue& queue, broker::Instant at) {
                                  return queue.cancel_scheduled(sequence_numbers, at);
                              });
}

ports::RequestId Endpoint::peek(ports::PeekRequest request, ports::PeekHandler handler) {
    using Messages = std::vector<ReceivedMessage>;
    return perform<Messages>(request.entity, request.deadline, std::move(handler),
                             [&](broker::Queue& queue, broker::Instant at) {
                                 return core::Result<Messages>{
                                     queue.peek(request.from_sequence_number, request.max_messages,
                                                request.session_id, at)};
                             });
}

ports::RequestId Endpoint::list_sessions(ports::ListSessionsRequest request,
                                         ports::ListSessionsHandler handler) {
    using Ids = std::vector<std::string>;
    return perform<Ids>(request.entity, request.deadline, std::move(handler),
                        [&](broker::Queue& queue, broker::Instant at) {
                            return core::Result<Ids>{
                                queue.list_sessions(request.skip, request.top, at)};
                        });
}

} // namespace sessionq::in_process
