// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "amqp/engine/attach.hpp"
#include "amqp/engine/delivery.hpp"
#include "amqp/engine/link_credit.hpp"
#include "amqp/engine/partial_message.hpp"
#include "core/intrusive_list.hpp"

namespace sessionq::amqp {

class Engine;
class Fields;
class Session;

/// Events of a link, for its owner. They come from `Engine::input` and `Engine::process`, never
/// from within a call. The owner may destroy the link in any of these.
class LinkListener {
public:
    virtual ~LinkListener() = default;

    /// The peer answered our attach; `Link::remote` is valid during this call. One that refuses
    /// answers without a terminus and closes at once.
    virtual void on_link_open() {}
    /// The peer detached, or broke a rule of the link (`found` says so, and the link is closed
    /// already); `closed` false: it keeps the link's state. An empty condition: no error. Nothing
    /// follows but `on_link_gone`, for as long as the owner keeps the link. The owner answers with
    /// `close`. By default it is as if the link was gone.
    virtual void on_link_closed(const Condition& condition, bool closed) {
        static_cast<void>(closed);
        on_link_gone(condition);
    }
    /// The peer's session or connection is gone, and the link with it. Nothing follows. Do not
    /// destroy the session here.
    virtual void on_link_gone(const Condition& condition) = 0;
    /// Sender: credit or drain may have changed.
    virtual void on_flow() {}
    /// Receiver: the answer to `drain`. No delivery follows until credit is added.
    virtual void on_drained() {}
    /// Receiver: a message has arrived in whole. `encoded` is valid during this call.
    virtual void on_delivery(DeliveryHandle delivery, std::string_view encoded) {
        static_cast<void>(delivery);
        static_cast<void>(encoded);
    }
    /// Receiver: a message above max-message-size was rejected. False: the link is closed for it,
    /// as the standard has it (part 2, section 2.7.3). True: it goes on.
    [[nodiscard]] virtual bool on_message_too_large() { return false; }
    /// The peer changed its outcome or settled.
    virtual void on_disposition(DeliveryHandle delivery) = 0;
};

/// A link of a session. Destroying it detaches (closed) if it is still attached; nothing is told
/// after that. Outlived by its engine, or told `on_link_gone`.
class Link : public core::ListHook<> {
public:
    Link(Session& session, std::uint32_t handle, std::string name, bool is_sender);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    virtual ~Link() = default;

    void set_listener(LinkListener* listener) noexcept { listener_ = listener; }

    [[nodiscard]] bool is_sender() const noexcept { return is_sender_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] Session& session() noexcept { return *session_; }

    /// The peer's attach. For a link of ours, during `on_link_open`; for one of the peer's, until
    /// it is answered.
    [[nodiscard]] Attach remote() const;
    [[nodiscard]] std::uint64_t remote_max_message_size() const noexcept {
        return remote_max_message_size_;
    }
    /// Both sides have attached, and the peer has not detached.
    [[nodiscard]] bool is_remote_open() const noexcept {
        return !gone_ && remote_open_ && !remote_closed_;
    }

    /// Answers the peer's attach (the name is the peer's anyway), or for a link of ours sends it.
    /// An attach that does not fit into a frame of the peer's size is not sent. The link is then
    /// closed: the peer is refused, and the owner hears of it by `on_link_closed`.
    void open(const Attach& attach);
    /// Answers the peer's attach as brokers refuse: without termini, then closed with this
    /// condition.
    void refuse(const Condition& condition);
    /// The first half of a refusal, for an owner that must let time pass before the second,
    /// `close`.
    void open_refused();
    /// Detaches for good. Again: no effect. Messages that wait for credit are dropped.
    void close(const Condition& condition = {});

    [[nodiscard]] bool is_gone() const noexcept { return gone_; }

protected:
    friend class DeliveryHandle;
    friend class DispositionRun;
    friend class Engine;
    friend class Session;
    friend class UnattachedLinks;

    /// The owner, until it was told that the link is closed.
    [[nodiscard]] LinkListener* listening() const noexcept {
        return is_over_ ? nullptr : listener_;
    }
    /// Once. The listener may destroy the link.
    void tell_closed(const Condition& why, bool closed);
    void tell_disposition(Delivery& delivery) {
        if (listening() != nullptr) {
            listener_->on_disposition(DeliveryHandle{&delivery});
        }
    }
    void tell_gone(const Condition& why) {
        if (listener_ != nullptr) {
            listener_->on_link_gone(why);
        }
    }
    /// Its credit may have changed. The listener may destroy the link.
    virtual void tell_flow() = 0;
    virtual void peer_attached(const Fields& attach);
    /// Nothing of it is left to this side or the peer.
    void be_gone() noexcept {
        drop_bytes();
        release_all();
        gone_ = true;
    }
    /// For the destructors of the links.
    void leave() noexcept;
    [[nodiscard]] bool update(Delivery& delivery, const Outcome& outcome);
    virtual void settle(Delivery& delivery, const Outcome* outcome);
    /// Drops the bytes that are kept for messages on their way.
    virtual void drop_bytes() noexcept = 0;

    [[nodiscard]] Delivery& make_delivery(std::string_view tag, std::uint32_t message_format);
    void release(Delivery& delivery) noexcept;
    void release_all() noexcept;
    /// It may still speak of its deliveries.
    [[nodiscard]] bool may_speak() const noexcept { return !gone_ && !closed_; }

    Engine* engine_;
    Session* session_;
    LinkListener* listener_{nullptr};
    DeliveryList deliveries_{};
    std::string_view attach_{}; // the peer's, during the event or in `kept_attach_`
    std::unique_ptr<std::string> kept_attach_{};
    std::uint64_t max_message_size_{0}; // announced by this side
    std::uint64_t remote_max_message_size_{0};
    const std::uint32_t handle_;
    const bool is_sender_;
    bool opened_{false};
    bool closed_{false};
    bool remote_open_{false};
    bool remote_closed_{false};
    bool is_over_{false}; // the owner was told that it is closed
    bool gone_{false};
    bool flow_due_{false};

private:
    /// False: the attach does not fit into a frame of the peer's size.
    [[nodiscard]] bool attach_as(const Attach& attach);
    void could_not_attach();
    [[nodiscard]] Condition attach_too_large() const;
    [[nodiscard]] Attach refusal() const;

    const std::string name_;
};

/// Links whose attach was too large to be sent, until their owners are told.
class UnattachedLinks {
public:
    [[nodiscard]] bool empty() const noexcept { return links_.empty(); }
    void add(Link& link) { links_.push_back(&link); }
    void forget(Link& link) noexcept {
        if (!links_.empty()) {
            std::erase(links_, &link);
        }
    }
    /// Owners may destroy links.
    void tell();

private:
    std::vector<Link*> links_{};
};

class SenderLink final : public Link {
public:
    SenderLink(Session& session, std::uint32_t handle, std::string name)
        : Link{session, handle, std::move(name), true} {}
    ~SenderLink() override { leave(); }

    [[nodiscard]] std::uint32_t credit() const noexcept;
    /// The peer wants its credit used up or given back.
    [[nodiscard]] bool is_draining() const noexcept { return credit_.is_draining(); }
    /// Answers a drain: gives back the rest of the credit. Again: no effect.
    void drained();

    /// A message in two parts.
    struct Pieces {
        std::string_view head{};
        std::string_view rest{};
        [[nodiscard]] std::size_t size() const noexcept { return head.size() + rest.size(); }
        /// Appends `count` bytes from `position` on.
        void copy(std::string& to, std::size_t position, std::size_t count) const {
            const std::size_t in_head = std::min(position, head.size());
            const std::string_view part = head.substr(in_head, count);
            to.append(part).append(rest, position - in_head, count - part.size());
        }
    };
    /// Sends one message whole, or keeps it until the peer gives credit and room for it. A tag has
    /// 1 to 32 bytes. Settled: no answer follows, and no handle is given.
    DeliveryHandle send(std::string_view tag, const Pieces& encoded, bool settled,
                        std::uint32_t message_format = 0);
    DeliveryHandle send(std::string_view tag, std::string_view encoded, bool settled,
                        std::uint32_t message_format = 0) {
        return send(tag, Pieces{encoded, {}}, settled, message_format);
    }
    /// Frames that the peer's session has room for.
    [[nodiscard]] std::uint32_t session_room() const noexcept;
    /// Bytes that the session keeps until the peer gives credit or room for them.
    [[nodiscard]] std::size_t buffered() const noexcept;

private:
    friend class Session;

    /// A message on its way out.
    struct Outgoing {
        Delivery* delivery{nullptr}; // null: settled
        std::string_view tag{};
        std::uint32_t message_format{0};
        Pieces encoded{};
        std::size_t sent{0};
        std::uint32_t id{0};
        bool begun{false};
    };
    /// One that waits, with its bytes.
    struct Waiting {
        std::string tag{};
        std::string bytes{};
        Outgoing message{};
    };

    void settle(Delivery& delivery, const Outcome* outcome) override;
    void drop_bytes() noexcept override;
    void tell_flow() override {
        if (listening() != nullptr && !closed_) {
            listener_->on_flow();
        }
    }
    void begin(Outgoing& message);
    /// False: there is no room for the rest of it.
    [[nodiscard]] bool write(Outgoing& message);
    /// False: something has to go on waiting.
    [[nodiscard]] bool send_waiting();
    [[nodiscard]] bool may_begin() const noexcept;

    SenderCredit credit_{};
    std::unique_ptr<std::deque<Waiting>> waiting_{};
};

class ReceiverLink final : public Link {
public:
    ReceiverLink(Session& session, std::uint32_t handle, std::string name)
        : Link{session, handle, std::move(name), false} {}
    ~ReceiverLink() override { leave(); }

    /// Also before the peer has answered the attach.
    void add_credit(std::uint32_t count);
    /// Credit the peer has not used.
    [[nodiscard]] std::uint32_t credit() const noexcept { return credit_.left(); }
    /// Asks for the credit to be used up or given back, answered by `on_drained`. False: there is
    /// none, no message is on its way, and no answer follows.
    bool drain();
    [[nodiscard]] bool is_draining() const noexcept { return credit_.is_draining(); }
    /// The deliveries that this side has not settled, in the order in which they came.
    [[nodiscard]] std::vector<DeliveryHandle> unsettled() const;

private:
    friend class Engine;
    friend class Session;

    void peer_attached(const Fields& attach) override;
    void drop_bytes() noexcept override;
    /// May destroy the link. Fails with the condition that ends the session.
    [[nodiscard]] Condition take(const Fields& transfer);
    [[nodiscard]] Condition take_more(const Fields& transfer);
    /// The transfer belongs to the message of which more is to come.
    [[nodiscard]] bool continues(const Fields& transfer) const;
    void deliver(const TransferFacts& facts, std::string_view tag, std::string_view encoded);
    Delivery& keep_unsettled(const TransferFacts& facts, std::string_view tag);
    /// Closes the link for a rule that the peer broke. The listener may destroy the link.
    void fail(const Condition& why);
    /// Of the message of which more is to come. `is_last`: nothing more is. The listener may
    /// destroy the link.
    void refuse_by_size(bool is_last);
    // Credit that was used up needs no answer; a message that has not arrived in whole still holds
    // its own.
    void tell_flow() override;

    ReceiverCredit credit_{};
    std::unique_ptr<PartialMessage> partial_{};
};

using LinkPtr = std::unique_ptr<Link>;
using SenderLinkPtr = std::unique_ptr<SenderLink>;
using ReceiverLinkPtr = std::unique_ptr<ReceiverLink>;

} // namespace sessionq::amqp
