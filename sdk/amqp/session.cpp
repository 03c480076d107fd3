#include "amqp/session.hpp"

#include <algorithm>

#include <proton/connection.h>
#include <proton/link.h>
#include <proton/session.h>

#include "amqp/engine.hpp"
#include "amqp/proton.hpp"

namespace sessionq::amqp {

Session::Session(Engine& engine, pn_session_t* session) : engine_{&engine}, session_{session} {
    pn_session_set_context(session_, this);
    engine_->sessions_.push_back(this);
    ++engine_->channels_;
}

Session::~Session() {
    if (session_ == nullptr) {
        return;
    }
    listener_ = nullptr;
    end();
    engine_->forget_links(*this);
    std::erase(engine_->sessions_, this);
    pn_session_set_context(session_, nullptr);
    if ((pn_session_state(session_) & PN_REMOTE_CLOSED) != 0 || !opened_) {
        engine_->dead_sessions_.push_back(session_); // otherwise with the peer's end
    }
}

void Session::open() {
    if (session_ != nullptr && !opened_) {
        opened_ = true;
        pn_session_open(session_);
        engine_->touch();
    }
}

void Session::end(const Condition& condition) {
    if (session_ != nullptr && opened_ && !ended_) {
        ended_ = true;
        proton::set(pn_session_condition(session_), condition);
        if ((pn_session_state(session_) & PN_REMOTE_UNINIT) ==
            0) { // the engine would not know whom an answer to its begin is for
            pn_session_close(session_);
            engine_->touch();
        }
    }
}

std::size_t Session::links_left() const noexcept {
    const std::size_t most = std::size_t{engine_->shim_.peers_handle_max()} + 1;
    return session_ != nullptr && most > links_.size() ? most - links_.size() : 0;
}

SenderLinkPtr Session::make_sender(const std::string& name) {
    return links_left() != 0
               ? std::make_unique<SenderLink>(*this, pn_sender(session_, name.c_str()))
               : nullptr;
}

ReceiverLinkPtr Session::make_receiver(const std::string& name) {
    return links_left() != 0
               ? std::make_unique<ReceiverLink>(*this, pn_receiver(session_, name.c_str()))
               : nullptr;
}

} // namespace sessionq::amqp
