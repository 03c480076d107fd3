// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "amqp/engine/engine.hpp"
#include "core/result.hpp"

namespace sessionq::cli {

/// How a dialect reads a condition.
using ExplainCondition = Failure (*)(const amqp::Condition& condition, std::string what);

/// A link to try.
struct LinkWish {
    bool sends{false};
    amqp::Attach attach{};
    std::string what{}; ///< For failures.
};

struct LinkAnswer {
    amqp::Attach attach{};
    std::size_t handles{0}; ///< Links that the peer's AMQP session allows.
};

/// Attaches a link in an AMQP session of its own and reports the peer's answer. No credit is given
/// and nothing is sent. Destroying it detaches. Bound to the loop. The engine outlives it.
class LinkTrial final : private amqp::LinkListener, private amqp::SessionListener {
public:
    /// Runs once, from the loop or within the constructor. Must not destroy the trial.
    using Done = std::function<void(core::Result<LinkAnswer>)>;

    LinkTrial(amqp::Engine& engine, const LinkWish& wish, ExplainCondition explain, Done done);
    LinkTrial(const LinkTrial&) = delete;
    LinkTrial& operator=(const LinkTrial&) = delete;
    ~LinkTrial() override;

private:
    void on_link_open() override;
    void on_link_closed(const amqp::Condition& condition, bool) override { fail(condition); }
    void on_link_gone(const amqp::Condition& condition) override { fail(condition); }
    void on_disposition(amqp::DeliveryHandle) override {}
    void on_session_ended(const amqp::Condition& condition) override { fail(condition); }

    void fail(const amqp::Condition& condition);
    void tell(core::Result<LinkAnswer> answer);

    const std::string what_;
    const ExplainCondition explain_;
    Done done_; // null once called
    amqp::SessionPtr session_;
    amqp::LinkPtr link_{};
};

} // namespace sessionq::cli
