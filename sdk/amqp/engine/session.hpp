// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "amqp/engine/delivery_table.hpp"
#include "amqp/engine/disposition_batch.hpp"
#include "amqp/engine/handles.hpp"
#include "amqp/engine/link.hpp"
#include "amqp/engine/transfer_window.hpp"

namespace sessionq::amqp {

class Engine;

/// Peers count the handles of a session from zero to this.
inline constexpr std::uint32_t handle_max = 1023;

class SessionListener {
public:
    virtual ~SessionListener() = default;
    /// The peer attached: a sender's attach makes a receiver here and the reverse. The owner
    /// answers with `open` or `refuse`. Not called where the engine accepts no links.
    virtual void on_sender(SenderLinkPtr /*link*/) {}
    virtual void on_receiver(ReceiverLinkPtr /*link*/) {}
    /// The peer ended the session or broke one of its rules, or the connection is gone; its links
    /// were told before. Nothing follows.
    virtual void on_session_ended(const Condition& condition) = 0;
};

/// An AMQP session: the channel links live on. Not a broker's session. Destroying it ends it;
/// destroy its links before.
class Session final : private core::RoomWaiter {
public:
    /// The messages that the peer may send are within `room`. Null: within the widest window.
    Session(Engine& engine, std::uint16_t channel, core::ReceiveRoomPtr room = {});
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session();

    void set_listener(SessionListener* listener) noexcept { listener_ = listener; }

    void end(const Condition& condition = {});

    /// Links that may still be made under the peer's handle-max; none once the session is gone.
    [[nodiscard]] std::size_t links_left() const noexcept;
    /// Null if there is none left.
    [[nodiscard]] SenderLinkPtr make_sender(const std::string& name);
    [[nodiscard]] ReceiverLinkPtr make_receiver(const std::string& name);

    [[nodiscard]] Engine& engine() noexcept { return *engine_; }
    [[nodiscard]] bool is_gone() const noexcept { return gone_; }
    /// Counts the messages that came over this session and are kept. Null without a room.
    [[nodiscard]] const core::ReceiveSharePtr& share() const noexcept { return window_.share(); }

private:
    friend class Engine;
    friend class Link;
    friend class ReceiverLink;
    friend class SenderLink;

    template <typename Made>
    [[nodiscard]] std::unique_ptr<Made> make(std::string name);
    void forget(Link& link) noexcept;
    [[nodiscard]] DeliveryTable& table(bool is_sender) noexcept {
        return is_sender ? sent_ : received_;
    }

    // This side's frames. Nothing follows an end.
    [[nodiscard]] std::string& out() noexcept;
    void write_begin(const std::uint16_t* remote_channel);
    /// False: it does not fit into a frame of the peer's size.
    [[nodiscard]] bool write_attach(Link& link, const Attach& attach);
    void write_detach(Link& link, const Condition& condition);
    /// The same.
    [[nodiscard]] bool say(bool is_receiver, std::uint32_t id, const Outcome* outcome,
                           bool settled);
    void want_flow(Link& link);
    void write_flow(Link* link);
    void on_room() override {
        window_due_ = true;
        mark_due();
    }
    void write_dispositions();
    /// Writes the frames that were put off until the end of the turn.
    void flush();
    void mark_due();

    // The peer's frames. Each may destroy the session; a condition that is not empty ends it.
    void on_begin(const Fields& begin);
    [[nodiscard]] Condition on_attach(const Fields& attach, std::string_view body);
    void on_answer(std::uint32_t local, std::uint32_t remote, const Fields& attach,
                   std::string_view body);
    [[nodiscard]] Condition on_peers_link(std::uint32_t remote, const Fields& attach,
                                          std::string_view body);
    [[nodiscard]] Condition on_transfer(const Fields& transfer);
    void on_flow(const Fields& flow);
    void on_detach(const Fields& detach);
    /// Counts a message of so many bytes that waits; with minus one, that waits no more.
    void hold(std::ptrdiff_t messages, std::size_t bytes) noexcept;
    /// Lets go of a link and returns it. Null: there is none, and the session is gone now.
    [[nodiscard]] Link* lose_link() noexcept;
    void tell_ended(const Condition& why) {
        if (listener_ != nullptr) {
            listener_->on_session_ended(why);
        }
    }

    Engine* engine_;
    SessionListener* listener_{nullptr};
    core::IntrusiveList<Link> links_{};
    Handles handles_{};
    std::uint32_t remote_handle_max_{0xffffffff};
    TransferWindow window_;
    DeliveryTable sent_{};
    DeliveryTable received_{};
    DispositionBatch dispositions_{};
    std::vector<Link*> flows_due_{};
    std::vector<SenderLink*> stalled_{}; // with messages that wait for credit or room
    std::size_t waiting_bytes_{0};
    std::uint32_t next_delivery_id_{0};
    const std::uint16_t channel_;
    bool ended_{false};
    bool gone_{false};
    bool is_due_{false};
    bool window_due_{false};
};

using SessionPtr = std::unique_ptr<Session>;

} // namespace sessionq::amqp
