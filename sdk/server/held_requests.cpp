// SPDX-License-Identifier: MIT
#include "server/held_requests.hpp"

#include <utility>

#include "timing/timer_service.hpp"

namespace sessionq::server {

/// The broker's handle to a held request. Outlives it while another thread is calling it.
class HeldRequests::Target final : public broker::BrowserTarget,
                                   public std::enable_shared_from_this<Target> {
public:
    Target(HeldRequests& owner, Number number)
        : owner_{&owner}, loop_{owner.peer_.loop}, number_{number} {}

    void forget() noexcept { owner_ = nullptr; }

    void notify_message() noexcept override { give_back(std::nullopt); }
    void on_deleted(Failure why) noexcept override { give_back(std::move(why)); }

private:
    void give_back(std::optional<Failure> deletion) {
        loop_.post([self = shared_from_this(), deletion = std::move(deletion)] {
            if (self->owner_ != nullptr) {
                self->owner_->give_back(self->number_, deletion ? &*deletion : nullptr);
            }
        });
    }

    HeldRequests* owner_; // null once the request is given back; used on the loop's thread only
    core::EventLoop& loop_;
    const Number number_;
};

struct HeldRequests::Held {
    Held(HeldRequests& in, Number as, Request what, const Hold& hold, TimePoint when)
        : owner{in},
          number{as},
          request{std::move(what)},
          queue{hold.queue},
          until{when},
          target{std::make_shared<Target>(in, as)} {
        owner.peer_.loop.timers().arm(timer, until);
        wait = queue->browse(hold.spec, target, owner.peer_.now());
        ++owner.peer_.held_requests;
    }
    ~Held() {
        --owner.peer_.held_requests;
        target->forget();
        queue->cancel_browse(wait, owner.peer_.now());
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    void expire() { owner.give_back(number, nullptr); }

    HeldRequests& owner;
    const Number number;
    Request request;
    const broker::QueuePtr queue;
    const TimePoint until;
    const std::shared_ptr<Target> target;
    broker::OperationId wait{0};
    timing::Timer timer{timing::Timer::calling<&Held::expire>(this)};
};

HeldRequests::HeldRequests(Peer& peer, GiveBack give_back)
    : peer_{peer}, give_back_{std::move(give_back)} {}

HeldRequests::~HeldRequests() = default;

bool HeldRequests::hold(const Request& request, const Hold& hold, TimePoint until) {
    if (request.bytes > peer_.limits.held_request_bytes ||
        peer_.held_requests >= peer_.limits.held_requests) {
        return false;
    }
    const Number number = ++last_;
    held_.emplace(number, std::make_unique<Held>(*this, number, request, hold, until));
    return true;
}

void HeldRequests::give_back(Number number, const Failure* deletion) {
    auto node = held_.extract(number);
    Request request = std::move(node.mapped()->request);
    const TimePoint until = node.mapped()->until;
    node.mapped().reset();
    const GiveBack told = give_back_; // a copy, because the call may destroy this
    told(std::move(request), until, deletion);
}

} // namespace sessionq::server
