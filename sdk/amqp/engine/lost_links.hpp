// SPDX-License-Identifier: MIT
#pragma once

#include "amqp/engine/session.hpp"

namespace sessionq::amqp {

/// Links that are gone and have not been told. Who is told may take others with it.
class LostLinks {
public:
    void take(Session& session) {
        session.drop_links([this](Link& link) { links_.push_back(link); });
    }

    /// Returns false if there is none.
    bool tell_one(const Condition& why) {
        Link* const link = links_.pop_front();
        if (link != nullptr && link->listener_ != nullptr) {
            link->listener_->on_link_gone(why);
        }
        return link != nullptr;
    }

private:
    core::IntrusiveList<Link> links_{};
};

} // namespace sessionq::amqp
