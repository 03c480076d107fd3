#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "amqp/session.hpp"

namespace sessionq::servicebus {

/// An AMQP session that several session links share: a channel costs more memory than a link, and
/// its begin and end cost frames with each roll. Bound to the loop; ends with the last of its
/// links. The links are told of its end themselves.
class SharedSession final : private amqp::SessionListener {
public:
    /// Few, as what breaks the session takes them all.
    static constexpr std::size_t most_links = 16;

    explicit SharedSession(amqp::SessionPtr session) : session_{std::move(session)} {
        session_->set_listener(this);
    }
    ~SharedSession() override = default;
    SharedSession(const SharedSession&) = delete;
    SharedSession& operator=(const SharedSession&) = delete;

    [[nodiscard]] bool has_room() const noexcept {
        return links_ < most_links && !session_->is_gone() && session_->links_left() != 0;
    }
    /// Null if the peer allows no more. Whoever got one says so when it is gone.
    [[nodiscard]] amqp::ReceiverLinkPtr make_receiver(const std::string& name) {
        auto link = session_->make_receiver(name);
        links_ += link != nullptr ? 1 : 0;
        return link;
    }
    void left() noexcept { --links_; }
    /// Not once the session is gone.
    [[nodiscard]] amqp::Engine& engine() noexcept { return session_->engine(); }

private:
    void on_sender(amqp::SenderLinkPtr link) override {
        link->refuse({.name = "amqp:not-allowed", .text = "no links are served here"});
    }
    void on_receiver(amqp::ReceiverLinkPtr link) override {
        link->refuse({.name = "amqp:not-allowed", .text = "no links are served here"});
    }
    void on_session_ended(const amqp::Condition&) override {}

    amqp::SessionPtr session_;
    std::size_t links_{0};
};

} // namespace sessionq::servicebus
