// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ports/session_link.hpp"
#include "simulation/seam_defect.hpp"

namespace sessionq::simulation {

/// States whose write failed with the session, by session.
using UnwrittenStates = std::map<std::string, std::optional<std::string>>;

/// A session's link with a deliberate defect in its handling of the state.
class FlawedLink final : public ports::SessionLink {
public:
    FlawedLink(SeamDefect defect, std::shared_ptr<UnwrittenStates> unwritten,
               ports::SessionLinkPtr link)
        : defect_{defect}, unwritten_{std::move(unwritten)}, link_{std::move(link)} {}

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
    void add_credit(std::uint32_t count) override { link_->add_credit(count); }
    void drain() override { link_->drain(); }
    void settle(ports::Delivery& delivery, ports::Settlement&& settlement) override {
        link_->settle(delivery, std::move(settlement));
    }
    ports::RequestId renew_lock(Deadline deadline, LockHandler handler) override {
        return link_->renew_lock(deadline, std::move(handler));
    }
    ports::RequestId get_state(Deadline deadline, StateHandler handler) override;
    ports::RequestId set_state(std::optional<std::string> state, Deadline deadline,
                               DoneHandler handler) override;
    ports::RequestId receive_deferred(std::vector<std::int64_t> sequence_numbers, Deadline deadline,
                                      DeliveriesHandler handler) override {
        return link_->receive_deferred(std::move(sequence_numbers), deadline, std::move(handler));
    }
    void give_up(ports::RequestId id) override { link_->give_up(id); }
    void close(DoneHandler handler) override { link_->close(std::move(handler)); }

private:
    SeamDefect defect_;
    std::shared_ptr<UnwrittenStates> unwritten_;
    std::shared_ptr<std::optional<std::optional<std::string>>> read_{
        std::make_shared<std::optional<std::optional<std::string>>>()};
    ports::SessionLinkPtr link_;
};

} // namespace sessionq::simulation
