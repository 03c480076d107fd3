// SPDX-License-Identifier: MIT
#include "server/browse_feed.hpp"

#include <array>
#include <utility>

#include "amqp/codec/delivery_codec.hpp"
#include "core/byte_order.hpp"
#include "server/conditions.hpp"

namespace sessionq::server {
namespace {

constexpr std::uint32_t most_browsed_at_once = 64;

} // namespace

/// The broker's handle to a waiting feed. Outlives the feed while another thread is calling it.
class BrowseFeed::Target final : public broker::BrowserTarget,
                                 public std::enable_shared_from_this<Target> {
public:
    Target(BrowseFeed& feed, core::EventLoop& loop) : feed_{&feed}, loop_{loop} {}

    void forget() noexcept { feed_ = nullptr; }

    void notify_message() noexcept override {
        tell([](BrowseFeed& feed) {
            feed.end_wait();
            feed.pump_soon(); // one message may wake many feeds
        });
    }
    void on_deleted(Failure why) noexcept override {
        tell([why = std::move(why)](BrowseFeed& feed) {
            feed.end(condition_of(why, LockKind::message));
        });
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

    BrowseFeed* feed_; // null once the wait is over; used on the loop's thread only
    core::EventLoop& loop_;
};

BrowseFeed::BrowseFeed(PeerLinkOwner& owner, Peer& peer, amqp::SenderLinkPtr link,
                       broker::QueuePtr queue, const AttachDecision& wanted)
    : PeerLink{owner, std::string{link->name()}, wanted.entity, Rights::listen(), false},
      peer_{peer},
      link_{std::move(link)},
      queue_{std::move(queue)} {
    if (wanted.session.wish == SessionFilter::Wish::named) {
        next_.session_id = wanted.session.id;
    }
    link_->set_listener(this);
}

BrowseFeed::~BrowseFeed() { end_wait(); }

void BrowseFeed::start() {
    amqp::Attach answer = echo_attach(link_->remote(), unlimited_messages);
    answer.sender_mode = amqp::SenderSettleMode::settled;
    link_->open(answer);
    pump();
}

std::uint32_t BrowseFeed::room() {
    if (link_->credit() == 0 || peer_.is_quiescing) {
        return 0;
    }
    if (peer_.room->is_full() || link_->buffered() >= peer_.limits.buffered_bytes) {
        peer_.room->await(*this);
        return 0;
    }
    return std::min(most_browsed_at_once, link_->credit());
}

void BrowseFeed::pump() {
    if (searches_in_turns_) {
        return; // the next turn goes on
    }
    end_wait();
    bool found_end = false;
    for (std::uint32_t wanted = room(); wanted != 0 && !found_end; wanted = room()) {
        const broker::Instant now = peer_.now();
        const broker::Peeked peeked = queue_->peek_some(next_.from, wanted, next_.session_id, now);
        next_.from = std::max(next_.from, peeked.searched_to);
        const std::size_t most = peer_.limits.buffered_bytes - link_->buffered();
        std::size_t bytes = 0;
        auto message = peeked.messages.begin();
        for (; message != peeked.messages.end() && bytes < most; ++message) {
            if (message->facts().state == MessageState::active) {
                bytes += send(*message, now);
            }
        }
        if (message != peeked.messages.end()) {
            next_.from = message->sequence_number(); // these are looked up again when there is room
            continue;
        }
        if (!peeked.is_complete) {
            pump_soon();
            return;
        }
        found_end = peeked.messages.size() < wanted;
    }
    if (link_->is_draining() && (found_end || link_->credit() == 0)) {
        link_->drained();
    } else if (found_end) {
        await_message();
    }
}

void BrowseFeed::pump_soon() {
    if (std::exchange(searches_in_turns_, true)) {
        return;
    }
    peer_.turns.add([this, self = std::weak_ptr{self_}] {
        if (!self.expired()) {
            searches_in_turns_ = false;
            pump();
        }
    });
}

std::size_t BrowseFeed::send(const ReceivedMessage& message, broker::Instant now) {
    const std::string_view rest =
        amqp::encode_delivery(*message.shared_content(), {.facts = message.facts()},
                              {.now = now.now, .wall = now.wall}, peer_.head);
    std::array<char, 8> tag{};
    core::put_number<8>(tag.data(), ++sent_);
    link_->send({tag.data(), tag.size()}, amqp::SenderLink::Pieces{peer_.head, rest}, true);
    return peer_.head.size() + rest.size();
}

void BrowseFeed::await_message() {
    target_ = std::make_shared<Target>(*this, peer_.loop);
    wait_ = queue_->browse(next_, target_, peer_.now());
}

void BrowseFeed::end_wait() {
    if (const auto over = std::exchange(target_, nullptr)) {
        over->forget();
        queue_->cancel_browse(std::exchange(wait_, 0), peer_.now());
    }
}

} // namespace sessionq::server
