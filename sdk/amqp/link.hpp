#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "amqp/condition.hpp"
#include "amqp/outcome.hpp"

struct pn_delivery_t;
struct pn_link_t;

namespace sessionq::amqp {

class Engine;
class Session;

enum class SenderSettleMode : std::uint8_t { unsettled = 0, settled = 1, mixed = 2 };
enum class ReceiverSettleMode : std::uint8_t { first = 0, second = 1 };

/// One end of a link as an attach describes it. What is encoded is a whole AMQP value; empty:
/// absent.
struct Terminus {
    bool present{true};
    bool dynamic{false};
    std::string address{};    ///< empty: null
    std::string filter{};     ///< source only: an encoded map
    std::string properties{}; ///< dynamic node properties: an encoded map
};

/// What an attach says.
struct Attach {
    std::string name{};
    Terminus source{};
    Terminus target{};
    SenderSettleMode sender_mode{SenderSettleMode::mixed};
    ReceiverSettleMode receiver_mode{ReceiverSettleMode::first};
    std::string properties{};          ///< an encoded map
    std::uint64_t max_message_size{0}; ///< zero: not limited
};

/// A delivery on a link. Valid until it is settled by this side or its link is gone; copied freely.
class DeliveryHandle {
public:
    DeliveryHandle() = default;
    explicit DeliveryHandle(pn_delivery_t* delivery) noexcept : delivery_{delivery} {}

    [[nodiscard]] explicit operator bool() const noexcept { return delivery_ != nullptr; }
    [[nodiscard]] std::string_view tag() const noexcept;

    /// The user's own pointer, null at first.
    void set_context(void* context) noexcept;
    [[nodiscard]] void* context() const noexcept;

    /// What the peer says of it now.
    [[nodiscard]] Outcome remote_outcome() const;
    [[nodiscard]] OutcomeKind remote_kind() const noexcept;
    [[nodiscard]] bool remote_settled() const noexcept;

    /// Says an outcome; without settling the peer may answer.
    void update(const Outcome& outcome);
    /// Says no more about it; the handle is dead.
    void settle();

    /// For amqp/'s own sources.
    [[nodiscard]] pn_delivery_t* raw() const noexcept { return delivery_; }

    friend bool operator==(const DeliveryHandle&, const DeliveryHandle&) = default;

private:
    void touch() noexcept;

    pn_delivery_t* delivery_{nullptr};
};

/// What a link tells its owner. From `Engine::process`, never from within a call. The owner may
/// destroy the link in any of these.
class LinkListener {
public:
    virtual ~LinkListener() = default;

    /// The peer answered our attach. One that refuses answers without a terminus and closes at
    /// once.
    virtual void on_link_open() {}
    /// The peer detached, or sent more than it may (`found` says so, and the link is closed
    /// already); `closed` false: it keeps the link's state. An empty condition: no error. Nothing
    /// follows. The owner answers with `close`.
    virtual void on_link_closed(const Condition& condition, bool closed) = 0;
    /// The peer's session or connection is gone, and the link with it. Nothing follows. Do not
    /// destroy the session here.
    virtual void on_link_gone(const Condition& condition) = 0;
    /// Sender: credit or drain may have changed.
    virtual void on_flow() {}
    /// Receiver: the answer to `drain`. No delivery follows until credit is added.
    virtual void on_drained() {}
    /// Receiver: a message has arrived in whole; read it now, or take it later in order. Sender:
    /// not called.
    virtual void on_delivery(DeliveryHandle delivery) { static_cast<void>(delivery); }
    /// The peer changed its outcome or settled.
    virtual void on_disposition(DeliveryHandle delivery) = 0;
};

/// A link of a session. Destroying it detaches (closed) if it is still attached; nothing is told
/// after that. Outlived by its engine, or told `on_link_gone`.
class Link {
public:
    Link(Session& session, pn_link_t* link);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    virtual ~Link();

    void set_listener(LinkListener* listener) noexcept { listener_ = listener; }

    [[nodiscard]] bool is_sender() const noexcept;
    [[nodiscard]] std::string_view name() const noexcept;
    [[nodiscard]] Session& session() noexcept { return *session_; }

    /// The peer's attach. Not before `on_link_open`, for a link of ours.
    [[nodiscard]] Attach remote() const;
    /// Parts of it; what is not asked for takes no memory.
    [[nodiscard]] bool remote_has_source() const noexcept;
    [[nodiscard]] std::string remote_filter() const;
    [[nodiscard]] std::string remote_properties() const;
    [[nodiscard]] std::uint64_t remote_max_message_size() const noexcept;
    [[nodiscard]] bool is_remote_open() const noexcept;

    /// Answers the peer's attach (the name is the peer's anyway), or for a link of ours sends it.
    void open(const Attach& attach);
    /// Answers the peer's attach as brokers refuse: without termini, then closed with this
    /// condition.
    void refuse(const Condition& condition);
    /// The refusal's second half, for who has to let time pass between the two.
    void open_refused();
    /// Detaches for good. Again: no effect.
    void close(const Condition& condition = {});

    [[nodiscard]] bool is_gone() const noexcept { return link_ == nullptr; }

protected:
    friend class DeliveryHandle;
    friend class Engine;
    friend class Session;

    [[nodiscard]] bool carries_formats() const noexcept;

    pn_link_t* link_;
    Session* session_;
    Engine* engine_;
    LinkListener* listener_{nullptr};
    std::uint64_t max_message_size_{0}; // what this side announced
    bool opened_{false};
    bool closed_{false};
    bool being_lost_{false};
};

class SenderLink final : public Link {
public:
    using Link::Link;

    [[nodiscard]] std::uint32_t credit() const noexcept;
    /// The peer wants its credit used up or given back.
    [[nodiscard]] bool is_draining() const noexcept;
    /// Gives back what is left of the credit.
    void drained();
    /// Sends one message whole. A tag has 1 to 32 bytes. Settled: no answer follows, and no handle
    /// is given.
    DeliveryHandle send(std::string_view tag, std::string_view encoded, bool settled,
                        std::uint32_t message_format = 0);
    /// A message of which the end is somewhere else than the beginning.
    struct Pieces {
        std::string_view head{};
        std::string_view rest{};
    };
    DeliveryHandle send(std::string_view tag, const Pieces& encoded, bool settled,
                        std::uint32_t message_format = 0);
    /// Bytes accepted and not yet on their way.
    [[nodiscard]] std::size_t buffered() const noexcept;
};

class ReceiverLink final : public Link {
public:
    using Link::Link;

    void add_credit(std::uint32_t count);
    /// Credit the peer has not used.
    [[nodiscard]] std::uint32_t credit() const noexcept;
    /// Asks for the credit to be used up or given back, answered by `on_drained`. False: there is
    /// none, and no answer follows.
    bool drain();
    [[nodiscard]] bool is_draining() const noexcept { return draining_; }

    /// Of a delivery just told: its encoded message. Read once, into exactly `size` bytes.
    [[nodiscard]] std::size_t size(DeliveryHandle delivery) const noexcept;
    void read(DeliveryHandle delivery, char* to);
    [[nodiscard]] bool is_settled_by_sender(DeliveryHandle delivery) const noexcept;
    /// The format the sender named; the tag without it.
    [[nodiscard]] std::uint32_t message_format(DeliveryHandle delivery) const noexcept;

private:
    friend class Engine;
    bool draining_{false};
};

using LinkPtr = std::unique_ptr<Link>;
using SenderLinkPtr = std::unique_ptr<SenderLink>;
using ReceiverLinkPtr = std::unique_ptr<ReceiverLink>;

} // namespace sessionq::amqp
