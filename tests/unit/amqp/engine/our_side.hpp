// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <string>

#include "amqp/engine/engine.hpp"
#include "engine_side.hpp"

namespace sessionq::test {

/// The project's own engine.
class OurSide final : public EngineSide, private amqp::ConnectionListener {
public:
    explicit OurSide(const SideOptions& options);
    ~OurSide() override;

    void input(std::string_view bytes) override;
    [[nodiscard]] std::string take() override;
    void lose_input() override;
    void apply(const Operation& operation) override;

private:
    struct OneLink;
    struct OneSession;

    void on_open(const amqp::Open& peer) override;
    void on_session(amqp::SessionPtr session) override;
    void on_closed(const amqp::Condition& condition) override;
    void report_flows() override;

    OneSession& add_session(int number, amqp::SessionPtr session);
    OneLink& add_link(const std::string& key);
    void attach(const Operation& operation);
    void use(OneLink& link, const Operation& operation);
    void settle(OneLink& link, const Operation& operation);
    void detach(OneLink& link, const amqp::Condition& condition);

    amqp::Engine engine_;
    std::map<int, std::unique_ptr<OneSession>> sessions_;
    std::map<std::string, std::unique_ptr<OneLink>> links_;
};

} // namespace sessionq::test
