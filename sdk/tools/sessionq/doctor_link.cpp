// SPDX-License-Identifier: MIT
#include "tools/sessionq/doctor_link.hpp"

#include <utility>

namespace sessionq::cli {

LinkTrial::LinkTrial(amqp::Engine& engine, const LinkWish& wish, ExplainCondition explain,
                     Done done)
    : what_{wish.what},
      explain_{explain},
      done_{std::move(done)},
      session_{engine.begin_session()} {
    if (session_ != nullptr) {
        session_->set_listener(this);
        if (wish.sends) {
            link_ = session_->make_sender(wish.attach.name);
        } else {
            link_ = session_->make_receiver(wish.attach.name);
        }
    }
    if (link_ == nullptr) {
        tell(Failure{.code = Errc::resource_exhausted,
                     .detail = what_ + ": the broker allows no more links on this connection"});
        return;
    }
    link_->set_listener(this);
    link_->open(wish.attach);
}

LinkTrial::~LinkTrial() {
    link_.reset();
    session_.reset();
}

void LinkTrial::on_link_open() {
    LinkAnswer answer{.attach = link_->remote()};
    const bool is_granted =
        link_->is_sender() ? answer.attach.target.present : answer.attach.source.present;
    if (is_granted) { // else the refusal follows
        answer.handles = session_->links_left() + 1;
        tell(std::move(answer));
    }
}

void LinkTrial::fail(const amqp::Condition& condition) { tell(explain_(condition, what_)); }

void LinkTrial::tell(core::Result<LinkAnswer> answer) {
    if (done_) {
        std::exchange(done_, nullptr)(std::move(answer));
    }
}

} // namespace sessionq::cli
