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

class Endpoint::PendingAccept final : public MailboxOwner {
public:
    PendingAccept(Endpoint& endpoint, ports::RequestId id, broker::QueuePtr queue,
                  Deadline deadline, ports::AcceptHandler handler)
        : endpoint_{endpoint},
          id_{id},
          deadline_{deadline},
          handler_{std::move(handler)},
          mailbox_{std::make_shared<ConsumerMailbox>(endpoint.turns_.shared(), std::move(queue))} {
        mailbox_->set_owner(this);
    }
    ~PendingAccept() {
        if (mailbox_->owner() == this) {
            mailbox_->abandon();
        }
    }
    PendingAccept(const PendingAccept&) = delete;
    PendingAccept& operator=(const PendingAccept&) = delete;

    [[nodiscard]] ConsumerMailbox& mailbox() noexcept { return *mailbox_; }

    void on_turn(MailboxNews news) override {
        if (news.accepted || news.refused) {
            endpoint_.finish_accept(id_, news);
        }
    }

    /// Runs the handler, which may destroy the endpoint.
    void answer(core::Result<ports::SessionLinkPtr> result) { handler_(std::move(result)); }

    [[nodiscard]] ports::SessionLinkPtr make_link(MailboxNews news) {
        return std::make_unique<LocalLink>(endpoint_.turns_.shared(), mailbox_,
                                           endpoint_.broker_->journal(), news);
    }
    [[nodiscard]] Failure refusal(TimePoint now) {
        mailbox_->set_owner(nullptr);
        Failure why = mailbox_->refusal();
        if (why.code == Errc::no_session_available && deadline_.passed(now)) {
            why.code = Errc::timeout;
        }
        return why;
    }

private:
    Endpoint& endpoint_;
    const ports::RequestId id_;
    const Deadline deadline_;
    const ports::AcceptHandler handler_;
    const std::shared_ptr<ConsumerMailbox> mailbox_;
};

Endpoint::Endpoint(std::shared_ptr<broker::Broker> broker, core::EventLoop& loop)
    : broker_{std::move(broker)},
      turns_{std::make_shared<TurnQueue>(loop)},
      confirmations_{turns_.shared(), broker_->journal()} {}

Endpoint::~Endpoint() {
    for (auto& [id, accept] : std::exchange(accepts_, {})) {
        accept->mailbox().abandon();
        accept->answer(Failure{.code = Errc::cancelled, .detail = "the client is closed"});
    }
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
    auto queue = broker_->find(request.entity);
    if (!queue || request.deadline.passed(loop().now())) {
        return confirmations_.reply<ports::SessionLinkPtr>(
            std::move(handler), queue ? Failure{.code = Errc::timeout} : queue.failure());
    }
    auto& accept =
        *accepts_
             .emplace(id, std::make_unique<PendingAccept>(*this, id, std::move(queue).value(),
                                                          request.deadline, std::move(handler)))
             .first->second;
    accept.mailbox().ask(
        {.session_id = std::move(request.session_id),
         .mode = to_broker(request.mode),
         .priority = request.priority,
         .until = Deadline::after(request.wait, loop().now()).sooner(request.deadline).time()});
    return id;
}

void Endpoint::finish_accept(ports::RequestId id, MailboxNews news) {
    const auto node = accepts_.extract(id);
    PendingAccept& accept = *node.mapped();
    accept.answer(news.accepted
                      ? core::Result<ports::SessionLinkPtr>{accept.make_link(news)}
                      : core::Result<ports::SessionLinkPtr>{accept.refusal(loop().now())});
}

void Endpoint::give_up(ports::RequestId id) {
    if (const auto found = accepts_.find(id); found != accepts_.end()) {
        found->second->mailbox().cancel();
    } else {
        confirmations_.give_up(id);
    }
}

template <typename T, typename Operation>
core::Result<T> Endpoint::perform(const std::string& entity, Deadline deadline,
                                  Operation operation) {
    if (deadline.passed(loop().now())) {
        return Failure{.code = Errc::timeout};
    }
    auto queue = broker_->find(entity);
    return queue ? operation(*queue.value(), turns_->now()) : core::Result<T>{queue.failure()};
}

ports::RequestId Endpoint::send(ports::SendRequest request, ports::SendHandler handler) {
    using Numbers = std::vector<std::int64_t>;
    return confirmations_.confirm<Numbers>(
        std::move(handler),
        perform<Numbers>(request.entity, request.deadline,
                         [&](broker::Queue& queue, broker::Instant at) {
                             return queue.send(std::move(request.messages), at);
                         }),
        request.deadline);
}

ports::RequestId Endpoint::cancel_scheduled(std::string entity,
                                            std::vector<std::int64_t> sequence_numbers,
                                            Deadline deadline, ports::DoneHandler handler) {
    return confirmations_.confirm<core::Done>(
        std::move(handler),
        perform<core::Done>(entity, deadline,
                            [&](broker::Queue& queue, broker::Instant at) {
                                return queue.cancel_scheduled(sequence_numbers, at);
                            }),
        deadline);
}

ports::RequestId Endpoint::peek(ports::PeekRequest request, ports::PeekHandler handler) {
    using Messages = std::vector<ReceivedMessage>;
    return confirmations_.reply<Messages>(
        std::move(handler),
        perform<Messages>(
            request.entity, request.deadline, [&](broker::Queue& queue, broker::Instant at) {
                return core::Result<Messages>{queue.peek(
                    request.from_sequence_number, request.max_messages, request.session_id, at)};
            }));
}

ports::RequestId Endpoint::list_sessions(ports::ListSessionsRequest request,
                                         ports::ListSessionsHandler handler) {
    using Ids = std::vector<std::string>;
    return confirmations_.reply<Ids>(
        std::move(handler),
        perform<Ids>(
            request.entity, request.deadline, [&](broker::Queue& queue, broker::Instant at) {
                return core::Result<Ids>{queue.list_sessions(request.skip, request.top, at)};
            }));
}

} // namespace sessionq::in_process
