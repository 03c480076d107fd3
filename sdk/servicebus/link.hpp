#pragma once

#include <memory>
#include <utility>

#include "servicebus/link_core.hpp"

namespace sessionq::servicebus {

/// A held session of a Service Bus entity.
class Link final : public ports::SessionLink {
public:
    explicit Link(std::shared_ptr<LinkCore> core) noexcept : core_{std::move(core)} {}
    ~Link() override { core_->destroy(); }

    [[nodiscard]] const std::string& session_id() const noexcept override {
        return core_->session_id();
    }
    [[nodiscard]] ports::LockGrant initial_lock() const noexcept override {
        return core_->initial_lock();
    }
    void set_events(ports::LinkEvents& events) override { core_->set_events(events); }
    void add_credit(std::uint32_t count) override { core_->add_credit(count); }
    void drain() override { core_->drain(); }
    void settle(ports::Delivery& delivery, ports::Settlement settlement) override {
        core_->settle(delivery, std::move(settlement));
    }
    ports::RequestId renew_lock(Deadline deadline, LockHandler handler) override {
        core_->renew_lock(deadline, std::move(handler));
        return 0;
    }
    ports::RequestId get_state(Deadline deadline, StateHandler handler) override {
        core_->get_state(deadline, std::move(handler));
        return 0;
    }
    ports::RequestId set_state(std::optional<std::string> state, Deadline deadline,
                               DoneHandler handler) override {
        core_->set_state(state, deadline, std::move(handler));
        return 0;
    }
    ports::RequestId receive_deferred(std::vector<std::int64_t> sequence_numbers, Deadline deadline,
                                      DeliveriesHandler handler) override {
        core_->receive_deferred(sequence_numbers, deadline, std::move(handler));
        return 0;
    }
    void give_up(ports::RequestId) override {}
    void close(DoneHandler handler) override { core_->close(std::move(handler)); }

private:
    const std::shared_ptr<LinkCore> core_;
};

} // namespace sessionq::servicebus
