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
    [[nodiscard]] ports::LockGrant initial_lock() const noexcept override {
        return link_->initial_lock();
    }
    void set_events(ports::LinkEvents& events) override;
    void add_credit(std::uint32_t count) override { link_->add_credit(count); }
    void drain() override { link_->drain(); }
    void settle(ports::Delivery& delivery, ports::Settlement settlement) override {
        link_->settle(delivery, std::move(settlement));
    }
    void renew_lock(LockHandler handler) override { link_->renew_lock(std::move(handler)); }
    void get_state(StateHandler handler) override;
    void set_state(std::optional<std::string> state, DoneHandler handler) override;
    void receive_deferred(std::vector<std::int64_t> sequence_numbers,
                          DeliveriesHandler handler) override {
        link_->receive_deferred(std::move(sequence_numbers), std::move(handler));
    }
    void close(DoneHandler handler) override { link_->close(std::move(handler)); }

private:
    SeamDefect defect_;
    std::shared_ptr<UnwrittenStates> unwritten_;
    std::shared_ptr<std::optional<std::optional<std::string>>> read_{
        std::make_shared<std::optional<std::optional<std::string>>>()};
    ports::SessionLinkPtr link_;
};

} // namespace sessionq::simulation
