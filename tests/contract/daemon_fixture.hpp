// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "contract/prepared_daemon.hpp"
#include "contract/real_time_fixture.hpp"
#include "servicebus/endpoint.hpp"

namespace sessionq::test {

/// The daemon as a process of its own, which the program's main has started.
class DaemonFixture final : public RealTimeFixture {
public:
    DaemonFixture() : onlooker_{make_endpoint()} {}
    ~DaemonFixture() override {
        onlooker_.reset();
        be_still(5ms);
    }

    /// Sets the daemon for the following cases. It outlives them.
    static void use(PreparedDaemon& daemon) { current() = &daemon; }

    std::string create_entity(const EntitySpec& spec) override { return current()->take(spec); }
    [[nodiscard]] std::string sends_to(const std::string& entity) const override {
        return entity.substr(0, entity.find('/'));
    }
    [[nodiscard]] bool tells_sequence_numbers() const override { return false; }
    [[nodiscard]] std::string dead_letters_of(const std::string& entity) const override {
        return entity + "/$DeadLetterQueue";
    }

    [[nodiscard]] std::unique_ptr<ports::Endpoint> make_endpoint() override {
        detail::servicebus::EndpointSettings settings;
        settings.target = current()->target();
        settings.tokens =
            detail::servicebus::make_key_tokens("RootManageSharedAccessKey", "SAS_KEY_VALUE");
        return std::make_unique<detail::servicebus::Endpoint>(loop(), io(), std::move(settings));
    }

    /// Two answers show that the daemon has read what other connections sent before.
    void quiet() override {
        for (int i = 0; i < 2; ++i) {
            bool is_answered = false;
            onlooker_->peek({.entity = "onlooker", .max_messages = 1},
                            [&](const auto&) { is_answered = true; });
            if (!eventually([&] { return is_answered; })) {
                throw std::runtime_error{"the daemon does not answer"};
            }
        }
        be_still(50ms);
    }

private:
    static PreparedDaemon*& current() {
        static PreparedDaemon* daemon = nullptr;
        return daemon;
    }

    std::unique_ptr<ports::Endpoint> onlooker_;
};

} // namespace sessionq::test
