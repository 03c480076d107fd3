#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "amqp/link.hpp"

struct pn_session_t;

namespace sessionq::amqp {

class Engine;

class SessionListener {
public:
    virtual ~SessionListener() = default;
    /// The peer attached: a sender's attach makes a receiver here and the reverse. The owner
    /// answers with `open` or `refuse`.
    virtual void on_sender(SenderLinkPtr link) = 0;
    virtual void on_receiver(ReceiverLinkPtr link) = 0;
    /// The peer ended the session, or the connection is gone; its links were told before. Nothing
    /// follows.
    virtual void on_session_ended(const Condition& condition) = 0;
};

/// An AMQP session: the channel links live on. Not a broker's session. Destroying it ends it;
/// destroy its links before.
class Session {
public:
    Session(Engine& engine, pn_session_t* session);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session();

    void set_listener(SessionListener* listener) noexcept { listener_ = listener; }

    /// Begins it; done already for whoever gets to see it. Again: no effect.
    void open();
    void end(const Condition& condition = {});

    /// Links that may still be made under the peer's handle-max; none once the session is gone.
    [[nodiscard]] std::size_t links_left() const noexcept;
    /// Null if there is none left.
    [[nodiscard]] SenderLinkPtr make_sender(const std::string& name);
    [[nodiscard]] ReceiverLinkPtr make_receiver(const std::string& name);

    [[nodiscard]] Engine& engine() noexcept { return *engine_; }
    [[nodiscard]] bool is_gone() const noexcept { return session_ == nullptr; }

private:
    friend class Engine;
    friend class Link;

    Engine* engine_;
    pn_session_t* session_;
    SessionListener* listener_{nullptr};
    std::vector<Link*> links_{};
    bool opened_{false};
    bool ended_{false};
};

using SessionPtr = std::unique_ptr<Session>;

} // namespace sessionq::amqp
