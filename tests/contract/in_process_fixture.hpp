// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "broker/broker.hpp"
#include "client/sending/wire_size.hpp"
#include "contract/port_fixture.hpp"
#include "in_process/endpoint.hpp"
#include "support/manual_loop.hpp"

namespace sessionq::test {

/// The local broker in the same process, on manual time.
class InProcessFixture : public PortFixture {
public:
    std::string create_entity(const EntitySpec& spec) override {
        const std::string name = "queue" + std::to_string(++entities_);
        static_cast<void>(
            broker_
                ->create_queue(name,
                               {.requires_session = spec.requires_session,
                                .lock_duration = spec.lock_duration,
                                .max_delivery_count = spec.max_delivery_count,
                                .dead_letter_on_expiration = spec.dead_letter_on_expiration},
                               now())
                .value());
        return name;
    }
    [[nodiscard]] std::string dead_letters_of(const std::string& entity) const override {
        return entity + "/$DeadLetterQueue";
    }
    [[nodiscard]] std::unique_ptr<ports::Endpoint> make_endpoint() override {
        return std::make_unique<in_process::Endpoint>(broker_, loop_,
                                                      detail::client::sent_wire_size);
    }
    [[nodiscard]] core::EventLoop& loop() override { return loop_; }

    bool eventually(const std::function<bool()>& done) override {
        while (!done() && turn()) {
        }
        return done();
    }
    void quiet() override {
        while (turn()) {
        }
    }
    void pass(Duration length) override {
        const TimePoint end = loop_.now() + length;
        for (auto due = broker_->next_wakeup(); due && *due <= end; due = broker_->next_wakeup()) {
            move_to(*due);
        }
        move_to(end);
    }

    [[nodiscard]] broker::Broker& broker() { return *broker_; }
    [[nodiscard]] broker::Instant now() const { return {loop_.now(), loop_.wall_now()}; }

private:
    /// Runs one task, or what the broker's thread would do now. Returns false if there was none.
    bool turn() {
        if (loop_.turn()) {
            return true;
        }
        const auto due = broker_->next_wakeup();
        if (!due || *due > loop_.now()) {
            return false;
        }
        broker_->advance(now());
        return true;
    }
    void move_to(TimePoint instant) {
        loop_.advance_to(std::max(instant, loop_.now()));
        broker_->advance(now());
        quiet();
    }
    ManualLoop loop_;
    std::shared_ptr<broker::Broker> broker_{std::make_shared<broker::Broker>()};
    int entities_{0};
};

} // namespace sessionq::test
