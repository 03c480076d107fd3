#include "amqp/engine/session.hpp"

#include <algorithm>
#include <utility>

#include "amqp/engine/engine.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::uint32_t none = 0xffffffff;

} // namespace

Session::Session(Engine& engine, std::uint16_t channel) : engine_{&engine}, channel_{channel} {}

Session::~Session() {
    if (gone_) {
        return;
    }
    listener_ = nullptr;
    end();
    drop_links([](Link&) {});
    engine_->forget(*this);
}

void Session::end(const Condition& condition) {
    if (!gone_ && !std::exchange(ended_, true)) {
        write_dispositions();
        engine_->end_session(channel_, condition);
    }
}

// Handles

std::size_t Session::links_left() const noexcept {
    const std::size_t most = std::size_t{remote_handle_max_} + 1;
    return !gone_ && most > used_handles_ ? most - used_handles_ : 0;
}

std::uint32_t Session::take_handle() {
    ++used_handles_;
    if (!free_handles_.empty()) {
        const std::uint32_t handle = free_handles_.back();
        free_handles_.pop_back();
        return handle;
    }
    handles_.emplace_back();
    return static_cast<std::uint32_t>(handles_.size() - 1);
}

void Session::free_handle(std::uint32_t handle) noexcept {
    handles_[handle] = {};
    free_handles_.push_back(handle);
    --used_handles_;
}

Session::Handle* Session::remote_handle(std::uint32_t remote) noexcept {
    return remote < remote_handles_.size() && remote_handles_[remote] != 0
               ? &handles_[remote_handles_[remote] - 1]
               : nullptr;
}

template <typename Made>
std::unique_ptr<Made> Session::make(std::string name) {
    if (links_left() == 0) {
        return nullptr;
    }
    const std::uint32_t handle = take_handle();
    auto made = std::make_unique<Made>(*this, handle, std::move(name));
    handles_[handle] = {.link = made.get(), .is_used = true, .is_sender = made->is_sender()};
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
    Handle& handle = handles_[link.handle_];
    if (handle.link != &link) {
        return; // both have detached
    }
    handle.link = nullptr;
    if (!link.opened_) {
        free_handle(link.handle_);
    } else if (!link.remote_open_) {
        unanswered_.push_back({.name = link.name(), .handle = link.handle_});
    }
}

// What is heard

void Session::on_begin(const Fields& begin) {
    window_.peer_sends_from(begin.number(begin_field::next_outgoing_id));
    window_.peer_takes(window_.next_outgoing(), begin.number(begin_field::incoming_window));
    remote_handle_max_ = begin.number(begin_field::handle_max);
}

// Which of our ends the peer's attach answers. Most peers use the handles that we do.
std::uint32_t Session::unanswered(std::string_view name, bool is_sender) noexcept {
    const auto awaits = [&](const Handle& handle) {
        return handle.is_used && !handle.is_remote_known && handle.is_sender == is_sender &&
               handle.link != nullptr && handle.link->opened_ && !handle.link->remote_open_ &&
               handle.link->name() == name;
    };
    const auto left = std::ranges::find_if(unanswered_, [&](const Unanswered& each) {
        return each.name == name && handles_[each.handle].is_sender == is_sender;
    });
    if (left != unanswered_.end()) {
        const std::uint32_t handle = left->handle;
        unanswered_.erase(left);
        return handle;
    }
    const auto found = std::ranges::find_if(handles_, awaits);
    return found != handles_.end() ? static_cast<std::uint32_t>(found - handles_.begin()) : none;
}

Condition Session::on_attach(const Fields& attach, std::string_view body) {
    const std::uint32_t remote = attach.number(attach_field::handle);
    if (remote_handle(remote) != nullptr) {
        return {.name = "amqp:session:handle-in-use",
                .text = "the peer attached a handle that is in use",
                .found = Errc::protocol_error};
    }
    if (remote >= remote_handles_.size()) {
        remote_handles_.resize(remote + 1);
    }
    const bool is_sender = attach.is_true(attach_field::role); // the peer receives
    const std::uint32_t local = unanswered(attach.text(attach_field::name), is_sender);
    return local != none ? on_answer(local, remote, attach, body)
                         : on_peers_link(remote, attach, body);
}

Condition Session::on_answer(std::uint32_t local, std::uint32_t remote, const Fields& attach,
                             std::string_view body) {
    remote_handles_[remote] = local + 1;
    Handle& handle = handles_[local];
    handle.is_remote_known = true;
    Link* const link = handle.link;
    if (link == nullptr) {
        return {}; // it was left meanwhile, and the peer's detach follows
    }
    link->remote_open_ = true;
    link->remote_max_message_size_ = attach.long_number(attach_field::max_message_size);
    if (!link->is_sender()) {
        static_cast<ReceiverLink*>(link)->credit_.counts_from(
            attach.number(attach_field::initial_delivery_count));
    }
    if (link->listener_ != nullptr && !link->closed_) {
        engine_->tell_open(channel_, remote, *link, body);
    }
    return {};
}

Condition Session::on_peers_link(std::uint32_t remote, const Fields& attach,
                                 std::string_view body) {
    if (links_left() == 0) {
        return {.name = "amqp:resource-limit-exceeded",
                .text = "the peer attached more links than its own handle-max allows",
                .found = Errc::protocol_error};
    }
    const auto adopt = [&]<typename Made>(std::unique_ptr<Made> link) {
        remote_handles_[remote] = link->handle_ + 1;
        handles_[link->handle_].is_remote_known = true;
        link->remote_open_ = true;
        link->remote_max_message_size_ = attach.long_number(attach_field::max_message_size);
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
        link->credit_.counts_from(attach.number(attach_field::initial_delivery_count));
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
    if (window_.wants_flow() && !window_due_) {
        window_due_ = true;
        mark_due();
    }
    const Handle* const handle = remote_handle(transfer.number(transfer_field::handle));
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
    const Handle* const handle =
        flow.has(flow_field::handle) ? remote_handle(flow.number(flow_field::handle)) : nullptr;
    Link* const link = handle != nullptr ? handle->link : nullptr;
    if (flow.is_true(flow_field::echo)) {
        if (link != nullptr && link->may_speak()) {
            want_flow(*link);
        } else {
            window_due_ = true;
            mark_due();
        }
    }
    if (link != nullptr && link->is_sender()) {
        static_cast<SenderLink*>(link)->credit_.granted(flow.number(flow_field::delivery_count),
                                                        flow.number(flow_field::link_credit),
                                                        flow.is_true(flow_field::drain));
    } else if (link != nullptr && flow.has(flow_field::delivery_count)) {
        static_cast<ReceiverLink*>(link)->credit_.advanced(flow.number(flow_field::delivery_count));
    }
    send_waiting();
}

void Session::send_waiting() {
    for (std::size_t i = 0; i < stalled_.size();) {
        if (stalled_[i]->send_waiting()) {
            stalled_.erase(stalled_.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
            ++i;
        }
    }
}

void Session::on_detach(const Fields& detach) {
    const std::uint32_t remote = detach.number(detach_field::handle);
    Handle* const handle = remote_handle(remote);
    if (handle == nullptr) {
        return; // the peer has left this link before
    }
    const std::uint32_t local = remote_handles_[remote] - 1;
    remote_handles_[remote] = 0;
    handle->is_remote_known = false;
    Link* const link = handle->link;
    if (link == nullptr || link->closed_) {
        free_handle(local);
    }
    if (link == nullptr) {
        return;
    }
    link->remote_closed_ = true;
    link->drop_bytes();
    if (LinkListener* const listener = std::exchange(link->listener_, nullptr)) {
        listener->on_link_closed(read_condition(detach.raw(detach_field::error)),
                                 detach.is_true(detach_field::closed));
    }
}

} // namespace sessionq::amqp
