#include "client/session_receiver_core.hpp"

#include <algorithm>
#include <utility>

#include "timing/timer_service.hpp"

namespace sessionq::client {
namespace {

// How long a broker may take to answer when a session is given back; then the link is dropped, which gives it back too.
constexpr Duration close_patience = std::chrono::seconds{5};

} // namespace

ReceiverPtr SessionReceiverCore::make(const Home& home, std::string entity,
                                      const SessionReceiverOptions& options,
                                      ports::SessionLinkPtr link, TimePoint asked) {
    ReceiverPtr made{new SessionReceiverCore{home, std::move(entity), options, std::move(link)},
                     [&loop = home.loop](SessionReceiverCore* last) {
                         loop.post([owned = std::unique_ptr<SessionReceiverCore>{last}] {});
                     }};
    home.residents.push_back(*made);
    made->lease_.grant_by_accept(asked, home.loop.now(), made->link_->initial_lock().length);
    made->follow_lease();
    return made;
}

SessionReceiverCore::SessionReceiverCore(const Home& home, std::string entity,
                                         const SessionReceiverOptions& options,
                                         ports::SessionLinkPtr link)
    : loop_{home.loop},
      notifier_{home.notifier},
      entity_{std::move(entity)},
      session_id_{link->session_id()},
      options_{options},
      link_{std::move(link)},
      queue_{options.receive_and_delete} {
    link_->set_events(*this);
}

SessionReceiverCore::~SessionReceiverCore() {
    refuse(Failure{.code = Errc::cancelled});
    link_.reset();
    fail_settling();
}

std::optional<Failure> SessionReceiverCore::loss() const {
    const std::lock_guard lock{loss_mutex_};
    return loss_;
}

template <typename T>
bool SessionReceiverCore::refuse_unless_usable(const PendingPtr<T>& pending) {
    if (!usable()) {
        pending->complete(loss().value_or(Failure{.code = Errc::lock_lost}));
        return true;
    }
    return false;
}

// Messages

void SessionReceiverCore::receive(PendingPtr<Deliveries> pending, std::size_t max,
                                  bool present_only) {
    if (refuse_unless_usable(pending)) {
        return;
    }
    queue_.want(std::move(pending), max, present_only);
    advance_queue();
}

void SessionReceiverCore::forget(const PendingBase& pending) {
    queue_.forget(pending);
    advance_queue();
}

void SessionReceiverCore::on_delivery(ports::DeliveryPtr delivery) {
    queue_.delivered(std::move(delivery));
    if (serve_posted_ || !queue_.has_work()) {
        return;
    }
    // After the turn, so that what comes together is handed out together.
    serve_posted_ = true;
    loop_.post([self = weak_from_this()] {
        if (const auto core = self.lock()) {
            core->serve_posted_ = false;
            core->advance_queue();
        }
    });
}

void SessionReceiverCore::on_drained() {
    if (link_ == nullptr) { // it is being let go of
        return;
    }
    queue_.drained();
    if (closing_) {
        detach();
    } else {
        advance_queue();
    }
}

void SessionReceiverCore::advance_queue() {
    handed_out(queue_.serve());
    if (usable()) {
        tell_link(queue_.next_flow());
    }
}

void SessionReceiverCore::handed_out(std::size_t count) {
    if (count != 0 && in_hand_ == 0) {
        progress_at_ = loop_.now();
    }
    in_hand_ += count;
}

void SessionReceiverCore::note_progress() {
    in_hand_ -= std::min<std::size_t>(in_hand_, 1);
    progress_at_ = loop_.now();
    if (options_.max_lock_renewal > Duration::zero()) {
        drive_lease(); // a renewal that was held back is due
    }
}

/// Whether messages are with the application and none has been settled for longer than the lease
/// may be renewed.
bool SessionReceiverCore::is_slow(TimePoint now) const noexcept {
    const Duration most = options_.max_lock_renewal;
    return most > Duration::zero() && !options_.receive_and_delete && in_hand_ != 0 &&
           now - progress_at_ >= most;
}

void SessionReceiverCore::tell_link(ReceiveQueue::Flow flow) {
    if (flow.credit > 0) {
        link_->add_credit(flow.credit);
    }
    if (flow.drain) {
        link_->drain();
    }
}

void SessionReceiverCore::receive_deferred(std::vector<std::int64_t> sequence_numbers,
                                           const PendingPtr<Deliveries>& pending) {
    if (refuse_unless_usable(pending)) {
        return;
    }
    if (sequence_numbers.empty()) {
        pending->complete(Deliveries{});
    } else {
        const ports::RequestId id = link_->receive_deferred(
            std::move(sequence_numbers), pending->deadline(),
            [this, pending, answer_to = AnswerTo<Deliveries>{pending, Errc::lock_lost}](
                core::Result<Deliveries> answer) {
                if (answer && !pending->ended()) {
                    handed_out(answer.value().size());
                }
                answer_to(std::move(answer));
            });
        give_up_with(*pending, id);
    }
}

void SessionReceiverCore::give_up_with(PendingBase& pending, ports::RequestId id) {
    pending.ask_port([weak = weak_from_this(), id] {
        if (const auto core = weak.lock(); core && core->link_ != nullptr) {
            core->link_->give_up(id);
        }
    });
}

void SessionReceiverCore::settle(std::shared_ptr<HeldDelivery> held, ports::Settlement settlement,
                                 PendingPtr<core::Done> pending) {
    if (refuse_unless_usable(pending)) {
        return;
    }
    HeldDelivery& delivery = *held;
    delivery.settling = std::move(pending);
    delivery.self = std::move(held);
    settling_.push_back(delivery);
    link_->settle(delivery, std::move(settlement));
    note_progress();
}

void SessionReceiverCore::on_settled(ports::Delivery& delivery, const Failure* failure) {
    auto& held = static_cast<HeldDelivery&>(delivery);
    const auto kept = std::exchange(held.self, nullptr);
    held.core::ListHook<HeldDelivery>::unlink();
    if (const auto pending = std::exchange(held.settling, nullptr)) {
        pending->complete(failure != nullptr ? core::Result<core::Done>{*failure}
                                             : core::Result<core::Done>{core::Done{}});
    }
}

// State

void SessionReceiverCore::get_state(const PendingPtr<std::optional<std::string>>& pending) {
    if (!refuse_unless_usable(pending)) {
        give_up_with(*pending,
                     link_->get_state(pending->deadline(), AnswerTo<std::optional<std::string>>{
                                                               pending, Errc::lock_lost}));
    }
}

void SessionReceiverCore::set_state(std::optional<std::string> state,
                                    const PendingPtr<core::Done>& pending) {
    if (!refuse_unless_usable(pending)) {
        give_up_with(*pending, link_->set_state(std::move(state), pending->deadline(),
                                                AnswerTo<core::Done>{pending, Errc::lock_lost}));
    }
}

// Lease

void SessionReceiverCore::on_granted(TimePoint asked, const ports::LockGrant& grant) {
    lease_.grant(asked, grant.length);
    follow_lease();
}

void SessionReceiverCore::on_lease_doubted() {
    if (link_ != nullptr) {
        const TimePoint now = loop_.now();
        lease_.doubt(now);
        loop_.timers().arm(lease_timer_,
                           now); // by a later turn: the link is in the middle of telling
    }
}

void SessionReceiverCore::follow_lease() {
    expires_.store(lease_.expires().time().time_since_epoch().count(), std::memory_order_release);
    drive_lease();
}

void SessionReceiverCore::drive_lease() {
    using Step = processor::Lease::Step;
    while (link_ != nullptr) {
        const TimePoint now = loop_.now();
        const auto next = lease_.next(now, options_.renew_lock && !closing_ && !is_slow(now));
        switch (next.step) {
        case Step::wait:
            if (next.at != TimePoint::max()) {
                loop_.timers().arm(lease_timer_, next.at);
            }
            return;
        case Step::renew: renew(); break;
        case Step::warn: fire_stop(); break;
        case Step::expire:
            end(Failure{.code = Errc::lock_lost,
                        .detail = "the lease of session '" + session_id_ + "' ran out"});
            return;
        }
    }
}

void SessionReceiverCore::renew() {
    lease_.renewal_asked();
    link_->renew_lock(lease_.expires(),
                      [this, asked = loop_.now()](core::Result<ports::LockGrant> answer) {
                          if (answer) {
                              on_granted(asked, answer.value());
                          } else if (answer.failure().code == Errc::lock_lost) {
                              end(answer.failure());
                          } else {
                              lease_.renewal_failed(loop_.now());
                              drive_lease();
                          }
                      });
}

void SessionReceiverCore::renew_lock(const PendingPtr<Deadline>& pending) {
    if (refuse_unless_usable(pending)) {
        return;
    }
    const ports::RequestId id = link_->renew_lock(
        pending->deadline(), [this, answer_to = AnswerTo<Deadline>{pending, Errc::lock_lost},
                              asked = loop_.now()](core::Result<ports::LockGrant> answer) {
            if (!answer) {
                answer_to(answer.failure());
                return;
            }
            on_granted(asked, answer.value());
            answer_to(lease_.expires());
        });
    give_up_with(*pending, id);
}

// The end

void SessionReceiverCore::close(PendingPtr<core::Done> pending) {
    if (pending != nullptr) {
        closers_.push_back(std::move(pending));
    }
    if (link_ == nullptr) { // over already
        end(Failure{.code = Errc::cancelled});
        return;
    }
    if (closing_) {
        return;
    }
    closing_ = true;
    self_ = shared_from_this();
    refuse(Failure{.code = Errc::cancelled,
                   .detail = "the receiver of session '" + session_id_ + "' is closed"});
    loop_.timers().arm(close_guard_, loop_.now() + close_patience);
    const auto flow = queue_.last_flow();
    tell_link(flow);
    if (!queue_.is_draining()) {
        detach();
    }
}

void SessionReceiverCore::detach() {
    link_->close([this](const core::Result<core::Done>& /*answer*/) {
        end(Failure{.code = Errc::cancelled});
    });
}

void SessionReceiverCore::leave() noexcept {
    end(Failure{.code = Errc::cancelled, .detail = "the client is closed"});
}

void SessionReceiverCore::refuse(const Failure& why) {
    {
        const std::lock_guard lock{loss_mutex_};
        if (!loss_) {
            loss_ = why;
        }
    }
    fire_stop();
    queue_.fail_all(why);
}

void SessionReceiverCore::fire_stop() {
    if (!stop_fired_) {
        stop_fired_ = true;
        notifier_.post([stop = stop_]() mutable { stop.request_stop(); });
    }
}

void SessionReceiverCore::end(const Failure& why) {
    const auto self = std::exchange(self_, nullptr);
    refuse(why);
    Resident::unlink();
    loop_.timers().cancel(lease_timer_);
    loop_.timers().cancel(close_guard_);
    let_go_of_link();
    for (const auto& closer : std::exchange(closers_, {})) {
        closer->complete(core::Done{});
    }
}

void SessionReceiverCore::let_go_of_link() {
    if (link_ == nullptr) {
        return;
    }
    // Later, because this may be inside one of its events; and before the core and the deliveries, to which it refers.
    struct Parting {
        ReceiverPtr core;
        ports::SessionLinkPtr link;
        void operator()() {
            link.reset();
            core->fail_settling();
        }
    };
    if (auto core =
            weak_from_this()
                .lock()) { // else the core's own end, which is on its way, takes the link along
        loop_.post(Parting{std::move(core), std::move(link_)});
    }
}

void SessionReceiverCore::fail_settling() {
    const Failure unknown{.code = Errc::lock_lost,
                          .detail =
                              "session '" + session_id_ + "' ended before the broker confirmed"};
    while (HeldDelivery* held = settling_.front()) {
        on_settled(*held, &unknown);
    }
}

} // namespace sessionq::client
