// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "ports/session_link.hpp"
#include "simulation/broker_ledger.hpp"
#include "simulation/link_book.hpp"

namespace sessionq::simulation {

/// Wraps a link of a real port and records how it is used. Forwards everything and checks that the
/// port keeps the contract of the seam.
class WatchedLink final : public ports::SessionLink, private ports::LinkEvents {
public:
    WatchedLink(Environment& environment, BrokerLedger& ledger, LinkBook book,
                ports::SessionLinkPtr link);
    ~WatchedLink() override;

    [[nodiscard]] const std::string& session_id() const noexcept override {
        return link_->session_id();
    }
    [[nodiscard]] std::size_t entity_index() const noexcept override {
        return link_->entity_index();
    }
    [[nodiscard]] core::ReceiveSharePtr share() const override { return link_->share(); }
    [[nodiscard]] ports::LockGrant initial_lock() const noexcept override {
        return link_->initial_lock();
    }
    ports::FirstCredit set_events(ports::LinkEvents& events) override;
    void add_credit(std::uint32_t count) override;
    void drain() override;
    void settle(ports::Delivery& delivery, ports::Settlement&& settlement) override;
    ports::RequestId renew_lock(Deadline deadline, LockHandler handler) override;
    ports::RequestId get_state(Deadline deadline, StateHandler handler) override;
    ports::RequestId set_state(std::optional<std::string> state, Deadline deadline,
                               DoneHandler handler) override;
    ports::RequestId receive_deferred(std::vector<std::int64_t> sequence_numbers, Deadline deadline,
                                      DeliveriesHandler handler) override;
    void give_up(ports::RequestId id) override { link_->give_up(id); }
    void close(DoneHandler handler) override;

private:
    [[nodiscard]] ports::DeliveryPtr new_delivery() override { return events_->new_delivery(); }
    void on_delivery(ports::DeliveryPtr delivery) override;
    void on_settled(ports::Delivery& delivery, const Failure* failure) override;
    void on_drained() override;
    void on_lost(const Failure& reason) override;

    /// Wraps a handler so that it runs once, and never after the link is destroyed.
    template <typename T>
    std::function<void(core::Result<T>)> once(const char* what,
                                              std::function<void(core::Result<T>)> handler);
    template <typename T>
    std::function<void(core::Result<T>)> state_answer(std::function<void(core::Result<T>)> handler);
    void check_answered(const char* before);

    Environment* environment_;
    BrokerLedger* ledger_;
    LinkBook book_;
    ports::SessionLinkPtr link_;
    ports::LinkEvents* events_{nullptr};
    std::unordered_map<const ports::Delivery*, DeliveryRecord*> unsettled_{};
    std::unordered_set<std::uint64_t> deferred_{}; ///< tags of what was asked for, and not settled
    std::unordered_set<const ports::Delivery*> settling_deferred_{};
    std::size_t unanswered_{0};
    std::shared_ptr<bool> here_{std::make_shared<bool>(true)}; ///< false once destroyed
};

} // namespace sessionq::simulation
