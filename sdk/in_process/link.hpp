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
    ports::RequestId renew_lock(Deadline deadline, LockHandler handler) override {
        if (core_->is_in_time(deadline, handler)) {
            core_->renew_lock(std::move(handler));
        }
        return 0;
    }
    ports::RequestId get_state(Deadline deadline, StateHandler handler) override {
        if (core_->is_in_time(deadline, handler)) {
            core_->get_state(std::move(handler));
        }
        return 0;
    }
    ports::RequestId set_state(std::optional<std::string> state, Deadline deadline,
                               DoneHandler handler) override {
        if (core_->is_in_time(deadline, handler)) {
            core_->set_state(std::move(state), std::move(handler));
        }
        return 0;
    }
    ports::RequestId receive_deferred(std::vector<std::int64_t> sequence_numbers, Deadline deadline,
                                      DeliveriesHandler handler) override {
        if (core_->is_in_time(deadline, handler)) {
            core_->receive_deferred(sequence_numbers, std::move(handler));
        }
        return 0;
    }
    /// The broker has carried a request out when the call returns: its answer is on the way.
    void give_up(ports::RequestId) override {}
    void close(DoneHandler handler) override { core_->close(std::move(handler)); }

private:
    const std::shared_ptr<Pump> pump_;
    const std::shared_ptr<LinkCore> core_;
};

} // namespace sessionq::in_process
