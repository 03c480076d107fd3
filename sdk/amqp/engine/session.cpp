// SPDX-License-Identifier: MIT
#include "amqp/engine/session.hpp"

#include <algorithm>
#include <utility>

#include "amqp/engine/engine.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {

Session::Session(Engine& engine, std::uint16_t channel, core::ReceiveRoomPtr room)
    : engine_{&engine},
      window_{std::move(room), *this, engine.local_.max_frame_size},
      channel_{channel} {}

Session::~Session() {
    if (gone_) {
        return;
    }
    listener_ = nullptr;
    end();
    while (lose_link() != nullptr) {
    }
}

void Session::end(const Condition& condition) {
    if (!gone_ && !ended_) {
        write_dispositions();
        ended_ = true;
        engine_->end_session(channel_, condition);
    }
}

// Handles

std::size_t Session::links_left() const noexcept {
    const std::size_t most = std::size_t{remote_handle_max_} + 1;
    const bool is_over = gone_ || engine_->is_closed();
    return !is_over && most > handles_.used() ? most - handles_.used() : 0;
}

template <typename Made>
std::unique_ptr<Made> Session::make(std::string name) {
    if (links_left() == 0) {
        return nullptr;
    }
    const std::uint32_t handle = handles_.take();
    auto made = std::make_unique<Made>(*this, handle, std::move(name));
    handles_.at(handle).link = made.get();
    handles_.at(handle).is_sender = made->is_sender();
    return made;
}

SenderLinkPtr Session::make_sender(const std::string& name) { return make<SenderLink>(name); }
ReceiverLinkPtr Session::make_receiver(const std::string& name) { return make<ReceiverLink>(name); }

// The link's object goes. Its handle stays until both sides have detached.
void Session::forget(Link& link) noexcept {
    links_.remove(link);
    if (link.flow_due_) {
        std::erase(flows_due_, &link);
    }
    engine_->unattached_.forget(link);
    Handles::Handle& handle = handles_.at(link.handle_);
    if (handle.link != &link) {
        return; // both have detached
    }
    handle.link = nullptr;
    if (!link.opened_) {
        handles_.free(link.handle_);
    } else if (handle.awaits_attach) {
        handles_.leave_unanswered(link.name(), link.handle_);
    }
}

Link* Session::lose_link() noexcept {
    Link* const link = links_.pop_front();
    if (link == nullptr) {
        engine_->forget(*this);
        window_.close();
        gone_ = true;
    } else {
        link->be_gone();
        std::erase(flows_due_, link);
        engine_->unattached_.forget(*link);
    }
    return link;
}

// The peer's frames

void Session::on_begin(const Fields& begin) {
    window_.peer_sends_from(begin.number(begin_field::next_outgoing_id));
    window_.peer_takes(window_.next_outgoing(), begin.number(begin_field::incoming_window));
    remote_handle_max_ = begin.number(begin_field::handle_max);
}

Condition Session::on_attach(const Fields& attach, std::string_view body) {
    const std::uint32_t remote = attach.number(attach_field::handle);
    if (handles_.of_remote(remote) != nullptr) {
        return {.name = "amqp:session:handle-in-use",
                .text = "the peer attached a handle that is in use",
                .found = Errc::protocol_error};
    }
    const bool is_sender = attach.is_true(attach_field::role); // the peer receives
    const auto local =
        handles_.answered_by(attach.text(attach_field::name), is_sender,
                             [](const Link& link) -> const std::string& { return link.name(); });
    if (!local) {
        return on_peers_link(remote, attach, body);
    }
    on_answer(*local, remote, attach, body);
    return {};
}

void Session::on_answer(std::uint32_t local, std::uint32_t remote, const Fields& attach,
                        std::string_view body) {
    handles_.connect(local, remote);
    Link* const link = handles_.at(local).link;
    if (link == nullptr) {
        return; // it was left meanwhile, and the peer's detach follows
    }
    link->peer_attached(attach);
    if (link->listening() != nullptr && !link->closed_) {
        engine_->tell_open(channel_, remote, *link, body);
    }
}

Condition Session::on_peers_link(std::uint32_t remote, const Fields& attach,
                                 std::string_view body) {
    if (!engine_->accepts_links_ || links_left() == 0) {
        return {.name = "amqp:resource-limit-exceeded",
                .text = "the peer attached a link, and may attach no more",
                .found = Errc::protocol_error};
    }
    const auto adopt = [&]<typename Made>(std::unique_ptr<Made> link) {
        handles_.connect(link->handle_, remote);
        link->peer_attached(attach);
        link->kept_attach_ = std::make_unique<std::string>(body);
        link->attach_ = *link->kept_attach_;
        return link;
    };
    std::string name{attach.text(attach_field::name)};
    if (attach.is_true(attach_field::role)) {
        auto link = adopt(make<SenderLink>(std::move(name)));
        if (listener_ != nullptr) {
            listener_->on_sender(std::move(link));
        }
    } else {
        auto link = adopt(make<ReceiverLink>(std::move(name)));
        if (listener_ != nullptr) {
            listener_->on_receiver(std::move(link));
        }
    }
    return {};
}

Condition Session::on_transfer(const Fields& transfer) {
    if (!window_.received()) {
        return {.name = "amqp:session:window-violation",
                .text = "the peer sent more frames than its window allows",
                .found = Errc::protocol_error};
    }
    if (!window_due_ && window_.wants_flow()) {
        on_room();
    }
    const Handles::Handle* const handle =
        handles_.of_remote(transfer.number(transfer_field::handle));
    if (handle == nullptr || handle->is_sender) {
        return {.name = "amqp:session:unattached-handle",
                .text = "the peer sent a message to a handle that receives none",
                .found = Errc::protocol_error};
    }
    return handle->link != nullptr ? static_cast<ReceiverLink*>(handle->link)->take(transfer)
                                   : Condition{};
}

void Session::on_flow(const Fields& flow) {
    window_.peer_sends_from(flow.number(flow_field::next_outgoing_id));
    window_.peer_takes(flow.number(flow_field::next_incoming_id),
                       flow.number(flow_field::incoming_window));
    const Handles::Handle* const handle = flow.has(flow_field::handle)
                                              ? handles_.of_remote(flow.number(flow_field::handle))
                                              : nullptr;
    Link* const link = handle != nullptr ? handle->link : nullptr;
    if (flow.is_true(flow_field::echo)) {
        link != nullptr && link->may_speak() ? want_flow(*link) : on_room();
    }
    if (link != nullptr && link->is_sender()) {
        static_cast<SenderLink*>(link)->credit_.granted(flow.number(flow_field::delivery_count),
                                                        flow.number(flow_field::link_credit),
                                                        flow.is_true(flow_field::drain));
    } else if (link != nullptr && flow.has(flow_field::delivery_count)) {
        static_cast<ReceiverLink*>(link)->credit_.advanced(flow.number(flow_field::delivery_count));
    }
    std::erase_if(stalled_, [](SenderLink* each) { return each->send_waiting(); });
}

void Session::hold(std::ptrdiff_t messages, std::size_t bytes) noexcept {
    waiting_bytes_ += static_cast<std::size_t>(messages) * bytes;
    engine_->held_ += static_cast<std::size_t>(messages) * bytes;
    engine_->waiting_ += static_cast<std::size_t>(messages);
}

void Session::on_detach(const Fields& detach) {
    const std::uint32_t remote = detach.number(detach_field::handle);
    if (handles_.of_remote(remote) == nullptr) {
        return; // the peer has left this link before
    }
    const std::uint32_t local = handles_.disconnect(remote);
    Link* const link = handles_.at(local).link;
    if (link == nullptr || link->closed_) {
        handles_.free(local);
    }
    if (link != nullptr) {
        link->remote_closed_ = true;
        link->drop_bytes();
        link->tell_closed(read_condition(detach.raw(detach_field::error)),
                          detach.is_true(detach_field::closed));
    }
}

} // namespace sessionq::amqp
