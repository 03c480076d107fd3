#include "in_process/endpoint.hpp"

#include <utility>

#include "in_process/local_link.hpp"

namespace sessionq::in_process {
namespace {

broker::ReceiveMode to_broker(ports::ReceiveMode mode) noexcept {
    return mode == ports::ReceiveMode::peek_lock ? broker::ReceiveMode::peek_lock
                                                 : broker::ReceiveMode::receive_and_delete;
}

} // namespace

/// Asks the broker for a session. Destroying this gives back a session that comes later.
class Endpoint::Accept final : public ports::Asking, private MailboxOwner {
public:
    Accept(Endpoint& endpoint, ports::RequestId id, Deadline deadline, broker::QueuePtr queue,
           broker::AcceptSpec spec)
        : endpoint_{endpoint},
          id_{id},
          deadline_{deadline},
          mailbox_{std::make_shared<ConsumerMailbox>(endpoint.turns_.shared(), std::move(queue))} {
        mailbox_->set_owner(this);
        mailbox_->ask(std::move(spec));
    }
    ~Accept() override {
        if (mailbox_->owner() == this) {
            mailbox_->abandon();
        }
    }
    Accept(const Accept&) = delete;
    Accept& operator=(const Accept&) = delete;

private:
    /// The answer destroys this, and perhaps the endpoint.
    void on_turn(MailboxNews news) override {
        if (news.has(MailboxNews::accepted)) {
            endpoint_.accepts_.answer_now(
                id_, ports::SessionLinkPtr{std::make_unique<LocalLink>(
                         endpoint_.turns_.shared(), mailbox_, endpoint_.broker_->journal(), news)});
        } else if (news.has(MailboxNews::refused)) {
            mailbox_->set_owner(nullptr);
            const Failure& why = mailbox_->failure();
            const bool is_late =
                why.code == Errc::no_session_available && deadline_.passed(endpoint_.loop().now());
            endpoint_.accepts_.answer_now(id_, is_late ? Failure{.code = Errc::timeout} : why);
        }
    }

    Endpoint& endpoint_;
    const ports::RequestId id_;
    const Deadline deadline_;
    const std::shared_ptr<ConsumerMailbox> mailbox_;
};

Endpoint::Endpoint(std::shared_ptr<broker::Broker> broker, core::EventLoop& loop)
    : broker_{std::move(broker)},
      turns_{std::make_shared<TurnQueue>(loop)},
      confirmations_{turns_.shared(), broker_->journal()},
      accepts_{loop} {}

Endpoint::~Endpoint() {
    accepts_.close();
    confirmations_.cancel();
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
    const ports::RequestId id = confirmations_.next_id();
    const Deadline deadline = request.deadline;
    auto queue = broker_->find(request.entity);
    if (!queue || deadline.passed(loop().now())) {
        accepts_.add(id, deadline, std::move(handler));
        accepts_.answer(id, queue ? Failure{.code = Errc::timeout} : queue.failure());
        return id;
    }
    const Deadline until = Deadline::after(request.wait, loop().now()).sooner(deadline);
    accepts_.add(
        id, deadline, std::move(handler),
        std::make_unique<Accept>(*this, id, deadline, std::move(queue).value(),
                                 broker::AcceptSpec{.session_id = std::move(request.session_id),
                                                    .mode = to_broker(request.mode),
                                                    .priority = request.priority,
                                                    .until = until.time()}));
    return id;
}

void Endpoint::give_up(ports::RequestId id) {
    accepts_.give_up(id);
    confirmations_.give_up(id);
}

template <typename T, typename Operation>
core::Result<T> Endpoint::perform(const std::string& entity, Deadline deadline,
                                  Operation operation) {
    if (deadline.passed(loop().now())) {
        return Failure{.code = Errc::timeout};
    }
    auto queue = broker_->find(entity);
    if (!queue) {
        return queue.failure();
    }
    return operation(*queue.value(), turns_->now());
}

ports::RequestId Endpoint::send(ports::SendRequest request, ports::SendHandler handler) {
    return confirmations_.confirm(
        std::move(handler),
        perform<std::vector<std::int64_t>>(request.entity, request.deadline,
                                           [&](broker::Queue& queue, broker::Instant at) {
                                               return queue.send(std::move(request.messages), at);
                                           }),
        request.deadline);
}

ports::RequestId Endpoint::cancel_scheduled(std::string entity,
                                            std::vector<std::int64_t> sequence_numbers,
                                            Deadline deadline, ports::DoneHandler handler) {
    return confirmations_.confirm(
        std::move(handler),
        perform<core::Done>(entity, deadline,
                            [&](broker::Queue& queue, broker::Instant at) {
                                return queue.cancel_scheduled(sequence_numbers, at);
                            }),
        deadline);
}

ports::RequestId Endpoint::peek(ports::PeekRequest request, ports::PeekHandler handler) {
    return confirmations_.reply(
        std::move(handler),
        perform<std::vector<ReceivedMessage>>(
            request.entity, request.deadline, [&](broker::Queue& queue, broker::Instant at) {
                return queue.peek(request.from_sequence_number, request.max_messages,
                                  request.session_id, at);
            }));
}

ports::RequestId Endpoint::list_sessions(ports::ListSessionsRequest request,
                                         ports::ListSessionsHandler handler) {
    return confirmations_.reply(
        std::move(handler),
        perform<std::vector<std::string>>(
            request.entity, request.deadline, [&](broker::Queue& queue, broker::Instant at) {
                return queue.list_sessions(request.skip, request.top, at);
            }));
}

} // namespace sessionq::in_process
