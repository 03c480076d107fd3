// SPDX-License-Identifier: MIT
#include "server/message_feed.hpp"

#include <algorithm>
#include <atomic>
#include <span>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/lock_token.hpp"
#include "server/conditions.hpp"
#include "server/lock_token.hpp"
#include "server/settlement.hpp"

namespace sessionq::server {
namespace {

constexpr std::uint32_t most_at_once = 64;

std::uint64_t bytes_of(const std::vector<broker::Delivered>& messages) {
    std::uint64_t bytes = 0;
    for (const broker::Delivered& each : messages) {
        bytes += each.bytes;
    }
    return bytes;
}

amqp::Condition refusal_of(const Failure& why, Duration waited) {
    if (why.code != Errc::no_session_available) {
        return condition_of(why, LockKind::session);
    }
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(waited).count();
    const auto two_digits = [](std::int64_t number) {
        return std::string{static_cast<char>('0' + number / 10),
                           static_cast<char>('0' + number % 10)};
    };
    return make_condition(condition::timeout,
                          "The operation did not complete within the allotted timeout of " +
                              two_digits(seconds / 3600 % 100) + ":" +
                              two_digits(seconds / 60 % 60) + ":" + two_digits(seconds % 60) + ".");
}

/// The parts of an outcome that an answer to it needs.
amqp::Outcome without_texts(const amqp::Outcome& said) {
    amqp::Outcome brief{.kind = said.kind};
    brief.delivery_failed = said.delivery_failed;
    brief.undeliverable_here = said.undeliverable_here;
    return brief;
}

} // namespace

/// The broker's handle to a feed. Outlives the feed while another thread is calling it.
class MessageFeed::Target final : public broker::ConsumerTarget,
                                  public std::enable_shared_from_this<Target> {
public:
    Target(MessageFeed& feed, core::EventLoop& loop, broker::QueuePtr queue)
        : feed_{&feed}, loop_{loop}, queue_{std::move(queue)} {}

    void forget() noexcept { feed_ = nullptr; }

    /// The peer has left while it waited. A session that it was granted meanwhile is free at once:
    /// the next frame may ask for it.
    void abandon(broker::Instant now) noexcept {
        abandoned_at_ = now;
        if ((notes_.fetch_or(abandoned) & granted) != 0) {
            queue_->close(*granted_, now);
        }
    }

    void on_accepted(broker::ConsumerPtr consumer) noexcept override {
        granted_ = std::move(consumer);
        if ((notes_.fetch_or(granted) & abandoned) != 0) { // one of the two sees the other's note
            queue_->close(*granted_, abandoned_at_);
            return;
        }
        loop_.post([self = shared_from_this()] {
            if (self->feed_ != nullptr) {
                self->feed_->open(std::move(self->granted_));
            }
        });
    }
    void on_refused(Failure why) noexcept override {
        tell([why = std::move(why)](MessageFeed& feed) { feed.on_refused(why); });
    }
    void notify_work() noexcept override {
        tell([](MessageFeed& feed) { feed.pump(); });
    }
    void on_lost(Failure why) noexcept override {
        tell([why = std::move(why)](MessageFeed& feed) { feed.on_lost(why); });
    }

private:
    template <typename What>
    void tell(What what) {
        loop_.post([self = shared_from_this(), what = std::move(what)] {
            if (self->feed_ != nullptr) {
                what(*self->feed_);
            }
        });
    }

    static constexpr std::uint8_t granted = 1;
    static constexpr std::uint8_t abandoned = 2;

    MessageFeed* feed_; // null once the feed is destroyed; used on the loop's thread only
    std::atomic<std::uint8_t> notes_{0};
    broker::ConsumerPtr granted_{};  // written before its note
    broker::Instant abandoned_at_{}; // written before its note
    core::EventLoop& loop_;
    const broker::QueuePtr queue_;
};

MessageFeed::MessageFeed(PeerLinkOwner& owner, Peer& peer, amqp::SenderLinkPtr link,
                         broker::QueuePtr queue, AttachDecision wanted)
    : PeerLink{owner, std::string{link->name()}, wanted.entity, Rights::listen(), false},
      peer_{peer},
      link_{std::move(link)},
      queue_{std::move(queue)},
      wanted_{.mode = wanted.mode,
              .session = std::move(wanted.session),
              .wait = wanted.wait,
              .priority = wanted.priority},
      target_{std::make_shared<Target>(*this, peer.loop, queue_)},
      holder_{make_holder_number()} {
    link_->set_listener(this);
}

MessageFeed::~MessageFeed() {
    target_->forget();
    peer_.room->change_unsettled(-static_cast<std::ptrdiff_t>(unsettled_));
    peer_.locks.remove(holder_);
    if (consumer_) {
        queue_->retire(*consumer_, peer_.now());
    } else if (!queue_->cancel_accept(wait_, peer_.now())) {
        target_->abandon(peer_.now());
    }
}

void MessageFeed::start() {
    const broker::Instant now = peer_.now();
    if (wanted_.session.wish != SessionFilter::Wish::none) {
        broker::AcceptSpec spec{
            .mode = wanted_.mode, .priority = wanted_.priority, .until = now.now + wanted_.wait};
        if (wanted_.session.wish == SessionFilter::Wish::named) {
            spec.session_id = wanted_.session.id;
        }
        wait_ = queue_->accept(std::move(spec), target_, now);
        return;
    }
    auto opened = queue_->open(wanted_.mode, wanted_.priority, target_, now);
    if (!opened) {
        on_refused(opened.failure());
        return;
    }
    open(std::move(opened).value());
}

void MessageFeed::open(broker::ConsumerPtr consumer) {
    consumer_ = std::move(consumer);
    peer_.locks.add({.number = holder_,
                     .link = name(),
                     .queue = queue_,
                     .consumer = consumer_,
                     .locked_until = consumer_->first_locked_until});
    amqp::Attach answer = echo_attach(link_->remote(), unlimited_messages);
    answer.source.filter.clear();
    if (consumer_->has_session) {
        answer.source.filter = answer_session_filter(wanted_.session, consumer_->session_id);
        const broker::Instant now = peer_.now();
        const WallTime until = now.wall + std::chrono::duration_cast<WallTime::duration>(
                                              consumer_->first_locked_until - now.now);
        answer.properties = amqp::encode(amqp::Value::map(
            {{amqp::Value::symbol("com.microsoft:locked-until-utc"), amqp::ticks_of(until)},
             {amqp::Value::symbol(amqp::broker_time), amqp::ticks_of(now.wall)}}));
    }
    link_->open(answer);
    pump();
}

// The detach follows the attach in a write of its own. If both arrive in one read, versions 7.0 to
// 7.9.1 of Azure's JavaScript client lose the reason.
void MessageFeed::on_refused(const Failure& why) {
    wait_ = 0;
    link_->open_refused();
    peer_.loop.post([this, self = std::weak_ptr{self_}, condition = refusal_of(why, wanted_.wait)] {
        if (!self.expired()) {
            end(condition);
        }
    });
}

void MessageFeed::on_lost(const Failure& why) {
    if (held_back_.empty()) {
        end(condition_of(why, LockKind::session));
    } else { // send these first, because nobody else receives them
        loss_ = std::make_unique<const Failure>(why);
    }
}

void MessageFeed::on_flow() { pump(); }

// A peer that ends its session or connection in order gives no reason.
void MessageFeed::on_link_gone(const amqp::Condition& why) {
    if (consumer_ && !why.empty()) {
        queue_->vanish(*consumer_, peer_.now());
    }
    PeerLink::on_link_gone(why);
}

std::uint32_t MessageFeed::room() {
    if (free_credit() == 0 || peer_.is_quiescing) {
        return 0;
    }
    // The engine would copy messages that the peer's session has no room for, so they stay in the
    // queue. A drain is answered all the same: the queue may be empty.
    const std::uint32_t frames = link_->session_room();
    if (peer_.room->is_full() || (frames == 0 && !link_->is_draining()) ||
        link_->buffered() >= peer_.limits.buffered_bytes) {
        peer_.room->await(*this);
        return 0;
    }
    if (peer_.room->is_unsettled()) {
        if (unsettled_ != 0) {
            peer_.room->await_settled(*this);
        }
        return unsettled_ == 0 ? 1 : 0; // no link waits for another one's settlements
    }
    return std::min({most_at_once, free_credit(), std::max(frames, 1U)});
}

void MessageFeed::pump() {
    if (!consumer_) {
        return;
    }
    bool found_end = false;
    std::vector<broker::Delivered>& delivered = peer_.delivered;
    while (const std::uint32_t wanted = room()) {
        delivered.clear();
        const broker::Instant now = peer_.now();
        const std::uint64_t bytes = peer_.limits.buffered_bytes - link_->buffered();
        if (!queue_->pull(*consumer_, wanted, delivered, now, bytes)) {
            return; // the consumer is lost; the target learns why
        }
        found_end = delivered.size() < wanted && bytes_of(delivered) < bytes;
        if (consumer_->mode == broker::ReceiveMode::receive_and_delete &&
            !peer_.commits.is_always_open()) {
            hold_back(delivered);
        } else {
            for (const broker::Delivered& each : delivered) {
                if (!send(each, now)) {
                    return; // the link has ended
                }
            }
        }
        delivered.clear(); // the queue alone keeps them
        is_interested_ = found_end;
        if (found_end) {
            break;
        }
    }
    const bool waits = peer_.room->is_unsettled() && unsettled_ != 0; // for the peer's settlements
    if (link_->is_draining() && held_back_.empty() &&
        (found_end || waits || link_->credit() == 0)) {
        link_->drained();
    }
    if (free_credit() == 0) { // without credit, leave the work to other consumers
        if (is_interested_) {
            queue_->withdraw(*consumer_, peer_.now());
            is_interested_ = false;
        }
    }
}

// Delays deleted messages until the deletion is durable, so that a restarted broker does not
// deliver them again.
void MessageFeed::hold_back(const std::vector<broker::Delivered>& deleted) {
    change_unsettled(static_cast<std::ptrdiff_t>(deleted.size()));
    held_back_.insert(held_back_.end(), deleted.begin(), deleted.end());
    await_commit();
}

// Awaits one commit at a time, so that messages stay in order if a commit fails.
void MessageFeed::await_commit() {
    if (held_back_.empty() || awaits_commit_) {
        return;
    }
    awaits_commit_ = true;
    peer_.commits.when_durable(
        [this, self = std::weak_ptr{self_}, count = held_back_.size()](const Failure* why) {
            if (self.expired()) {
                return;
            }
            awaits_commit_ = false;
            if (why == nullptr) { // on failure, wait for the next commit
                send_held_back(count);
            }
            await_commit();
            if (loss_ && held_back_.empty()) {
                end(condition_of(*loss_, LockKind::session));
            } else {
                pump();
            }
        });
}

void MessageFeed::send_held_back(std::size_t count) {
    change_unsettled(-static_cast<std::ptrdiff_t>(count));
    const auto end = held_back_.begin() + static_cast<std::ptrdiff_t>(count);
    for (auto deleted = held_back_.begin(); deleted != end; ++deleted) {
        static_cast<void>(send(*deleted, peer_.now()));
    }
    held_back_.erase(held_back_.begin(), end);
}

void MessageFeed::change_unsettled(std::ptrdiff_t by) noexcept {
    unsettled_ += static_cast<std::size_t>(by);
    peer_.room->change_unsettled(by);
    if (unsettled_ == 0) {
        peer_.room->resume_soon(*this);
    }
}

// False: the link has ended, because the peer takes no message of this size. The delivery counts,
// so that the message becomes a dead letter if nobody takes it.
bool MessageFeed::send(const broker::Delivered& delivered, broker::Instant now) {
    const bool is_locked = consumer_->mode == broker::ReceiveMode::peek_lock;
    const LockToken token{.holder = holder_, .token = is_locked ? delivered.token : ++sent_};
    const ReceivedMessage& message = delivered.message;
    amqp::DeliveryNotes notes{.facts = message.facts(), .holder_lost = delivered.holder_lost};
    if (is_locked) {
        notes.lock_token = token.uuid();
    }
    if (const Holder* holder = is_locked ? peer_.locks.of_number(holder_) : nullptr;
        holder != nullptr) {
        notes.locked_until = holder->message_locked_until(now);
    }
    const std::string_view rest = amqp::encode_delivery(
        *message.shared_content(), notes, {.now = now.now, .wall = now.wall}, peer_.head);
    const std::uint64_t most = link_->remote_max_message_size();
    if (const std::size_t size = peer_.head.size() + rest.size();
        is_locked && most != 0 && size > most) {
        broker::SettleOrder back{.token = delivered.token, .outcome = broker::Outcome::abandon};
        queue_->settle(*consumer_, std::span{&back, 1}, now);
        end(make_condition(condition::message_size_exceeded,
                           "The next message has " + std::to_string(size) +
                               " bytes. The receiver takes at most " + std::to_string(most) + "."));
        return false;
    }
    const amqp::TokenTag tag = amqp::tag_of(token.uuid());
    link_->send({tag.data(), tag.size()}, amqp::SenderLink::Pieces{peer_.head, rest}, !is_locked);
    if (is_locked) {
        change_unsettled(1);
    }
    return true;
}

void MessageFeed::on_disposition(amqp::DeliveryHandle delivery) {
    if (delivery.context() != nullptr) {
        return; // settled already; the answer waits for a commit
    }
    if (delivery.remote_state() != nullptr) {
        settle(delivery, *read_details(delivery));
    } else {
        settle(delivery, read(delivery));
    }
}

void MessageFeed::settle(amqp::DeliveryHandle delivery, const Said& said) {
    const bool is_settled = delivery.remote_settled();
    if (said.outcome.kind == amqp::OutcomeKind::transactional && !is_settled) {
        answer(delivery, said.outcome, Errc::not_supported);
        return;
    }
    const auto token = amqp::token_of(delivery.tag());
    if (!said.decision || !token) {
        return;
    }
    broker::SettleOrder order{.token = LockToken::of(*token).token,
                              .outcome = said.decision->outcome,
                              .changes = said.decision->changes.get()};
    const bool may_wait = !peer_.commits.is_always_open() && !is_settled;
    const auto before = may_wait ? peer_.commits.mark() : 0;
    queue_->settle(*consumer_, std::span{&order, 1}, peer_.now());
    // a release stores nothing
    if (!may_wait || order.failed_with || peer_.commits.mark() == before) {
        answer(delivery, said.outcome, order.failed_with);
        return;
    }
    delivery.set_context(this);
    peer_.commits.when_durable([this, self = std::weak_ptr{self_}, delivery,
                                brief = without_texts(said.outcome)](const Failure* why) {
        if (!self.expired()) {
            answer(delivery, brief, why != nullptr ? std::optional{why->code} : std::nullopt);
        }
    });
}

MessageFeed::Said MessageFeed::read(amqp::DeliveryHandle delivery) {
    Said said{.outcome = delivery.remote_outcome()};
    said.decision = decide_settlement(said.outcome, delivery.remote_settled());
    return said;
}

std::shared_ptr<const MessageFeed::Said> MessageFeed::read_details(amqp::DeliveryHandle delivery) {
    if (told_ && delivery.remote_state() == told_state_) {
        return told_;
    }
    if (!told_) {
        peer_.loop.post([this, self = std::weak_ptr{self_}] {
            if (!self.expired()) {
                told_state_.reset();
                told_.reset();
            }
        });
    }
    told_state_ = delivery.remote_state();
    told_ = std::make_shared<const Said>(read(delivery));
    return told_;
}

void MessageFeed::answer(amqp::DeliveryHandle delivery, const amqp::Outcome& said,
                         std::optional<Errc> failed_with) {
    delivery.settle(answer_settlement(said, failed_with, LockKind::message));
    change_unsettled(-1);
}

} // namespace sessionq::server
