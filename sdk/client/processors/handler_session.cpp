// SPDX-License-Identifier: MIT
#include "client/processors/handler_session.hpp"

#include <utility>

#include "client/receiving/unanswered_settlements.hpp"

namespace sessionq::detail::client {
namespace {

/// The settlements of messages that a handler asked for.
class AskedSettlements final : public processor::AskedMessages {
public:
    ~AskedSettlements() override {
        unanswered_.fail_all({.code = Errc::lock_lost,
                              .detail = "the session ended before the broker confirmed",
                              .outcome_unknown = true});
    }

    [[nodiscard]] HeldDelivery& add(std::shared_ptr<HeldDelivery> delivery,
                                    PendingPtr<core::Done> pending) {
        return unanswered_.add(std::move(delivery), std::move(pending));
    }
    void settled(ports::Delivery& delivery, const Failure* failure) override {
        unanswered_.answer(static_cast<HeldDelivery&>(delivery), failure);
    }

private:
    UnansweredSettlements unanswered_{};
};

} // namespace

HandlerSession::HandlerSession(processor::SessionDriver& driver)
    : driver_{driver.weak_from_this()},
      host_{driver.view().shared().environment.host},
      loop_{driver.view().loop()},
      capabilities_{driver.view().workplace().endpoint.capabilities()},
      clock_{driver.view().shared().environment.clock},
      lock_{driver.view().lock()},
      session_id_{driver.view().session_id()},
      timeout_{driver.view().shared().environment.operation_timeout} {}

void HandlerSession::require(ports::Capability capability) const {
    if (const auto host = host_.lock()) { // else nothing can be settled
        capabilities_.require(capability);
    }
}

void HandlerSession::require_held() const {
    const auto host = host_.lock();
    if (!host || driver_.expired() || lock_expires().passed(clock_->now())) {
        throw Error{loss()};
    }
}

std::optional<Operation<core::Done>> HandlerSession::settle(DeliveryPtr delivery,
                                                            ports::Settlement settlement,
                                                            const CallOptions& call) {
    const auto host = host_.lock(); // keeps the clock
    if (!host) {
        throw Error{loss()};
    }
    return operation<core::Done>(
        call,
        [delivery = std::move(delivery), settlement = std::move(settlement)](
            processor::SessionDriver& driver,
            const PendingPtr<core::Done>& pending) mutable -> GiveUp {
            if (driver.asked() == nullptr) {
                driver.asked() = std::make_unique<AskedSettlements>();
            }
            ports::OwnLock* const lock = delivery->own_lock.get();
            driver.held_link()->settle(
                static_cast<AskedSettlements&>(*driver.asked()).add(std::move(delivery), pending),
                std::move(settlement), lock);
            return nullptr;
        });
}

Operation<Deadline> HandlerSession::renew_lock(const HeldDelivery& /*delivery*/,
                                               const CallOptions& /*call*/) {
    throw Error{Errc::not_supported, "the processor renews the locks of its sessions"};
}

} // namespace sessionq::detail::client
