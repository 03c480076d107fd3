// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ports/session_link.hpp"

namespace sessionq::test {

/// The owner of a link. Records every event and checks that none comes within a call or after the
/// end.
class RecordingLink final : public ports::LinkEvents {
public:
    struct Settled {
        ports::Delivery* delivery;
        std::optional<Errc> failed_with;
    };

    explicit RecordingLink(ports::SessionLinkPtr link) : link_{std::move(link)} {
        given = link_->set_events(*this);
    }

    ports::FirstCredit given{}; ///< with the accept

    // recorded events
    std::vector<ports::DeliveryPtr> got{};
    std::vector<Settled> settled{};
    int drained{0};
    std::optional<Errc> lost{};
    bool closed{false};

    // calls
    ports::SessionLink& link() { return *link_; }
    void credit(std::uint32_t count) {
        const Calling calling{*this};
        link_->add_credit(count);
    }
    void drain() {
        const Calling calling{*this};
        link_->drain();
    }
    void settle(ports::Delivery& delivery, ports::Outcome outcome) {
        settle(delivery, ports::Settlement{.outcome = outcome});
    }
    void settle(ports::Delivery& delivery, ports::Settlement settlement) {
        const Calling calling{*this};
        link_->settle(delivery, std::move(settlement));
    }
    void close() {
        const Calling calling{*this};
        is_closing_ = true;
        link_->close([this](const core::Result<core::Done>& done) {
            check_no_call();
            CHECK(done.ok());
            CHECK_FALSE(closed);
            closed = true;
        });
    }
    void destroy() { link_.reset(); }

    /// The bodies received, in order, separated by blanks.
    [[nodiscard]] std::string text() const {
        std::string text;
        for (const auto& delivery : got) {
            text += (text.empty() ? "" : " ") + delivery->message.content().body;
        }
        return text;
    }

    // LinkEvents
    [[nodiscard]] ports::DeliveryPtr new_delivery() override {
        return std::make_unique<ports::Delivery>();
    }
    void on_delivery(ports::DeliveryPtr delivery) override {
        check_flowing();
        got.push_back(std::move(delivery));
    }
    void on_settled(ports::Delivery& delivery, const Failure* failure) override {
        check_no_call();
        CHECK_FALSE(closed);
        settled.push_back(
            {&delivery, failure != nullptr ? std::optional{failure->code} : std::nullopt});
    }
    void on_drained() override {
        check_flowing();
        ++drained;
    }
    void on_lost(const Failure& reason) override {
        check_flowing();
        lost = reason.code;
    }

private:
    struct Calling {
        explicit Calling(RecordingLink& of) : owner{of} { owner.is_calling_ = true; }
        ~Calling() { owner.is_calling_ = false; }
        RecordingLink& owner;
    };

    void check_no_call() const {
        CHECK_FALSE(is_calling_);
        CHECK(link_ != nullptr);
    }
    void check_flowing() const {
        check_no_call();
        CHECK_FALSE(is_closing_);
        CHECK_FALSE(lost);
    }

    ports::SessionLinkPtr link_;
    bool is_calling_{false};
    bool is_closing_{false};
};

} // namespace sessionq::test
