#pragma once

#include <memory>
#include <utility>

#include "in_process/link_core.hpp"

namespace sessionq::in_process {

/// A held session of the local broker. Must not outlive the loop of its endpoint; may outlive the
/// endpoint.
class Link final : public ports::SessionLink {
public:
    Link(std::shared_ptr<Pump> pump, std::shared_ptr<LinkCore> core)
        : pump_{std::move(pump)}, core_{std::move(core)} {
        pump_->retain();
    }
    ~Link() override {
        core_->destroy();
        pump_->release();
    }

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
    void renew_lock(LockHandler handler) override { core_->renew_lock(std::move(handler)); }
    void get_state(StateHandler handler) override { core_->get_state(std::move(handler)); }
    void set_state(std::optional<std::string> state, DoneHandler handler) override {
        core_->set_state(std::move(state), std::move(handler));
    }
    void receive_deferred(std::vector<std::int64_t> sequence_numbers,
                          DeliveriesHandler handler) override {
        core_->receive_deferred(sequence_numbers, std::move(handler));
    }
    void close(DoneHandler handler) override { core_->close(std::move(handler)); }

private:
    const std::shared_ptr<Pump> pump_;
    const std::shared_ptr<LinkCore> core_;
};

} // namespace sessionq::in_process
