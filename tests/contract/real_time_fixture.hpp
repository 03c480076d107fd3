// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include "contract/port_fixture.hpp"
#include "core/clock.hpp"
#include "support/manual_loop.hpp"

namespace sessionq::test {

/// For brokers in other processes. The loop runs while a case waits, on real time.
class RealTimeFixture : public PortFixture {
public:
    RealTimeFixture() {
        loop_.clock().step_wall_clock(core::system_clock().wall_now() - loop_.wall_now());
    }

    [[nodiscard]] core::EventLoop& loop() override { return loop_; }
    bool eventually(const std::function<bool()>& done) override {
        const auto hopeless = std::chrono::steady_clock::now() + 30s; // a busy machine
        while (!done() && std::chrono::steady_clock::now() < hopeless) {
            static_cast<void>(turn(1ms));
        }
        return done();
    }
    void quiet() override { be_still(100ms); }
    void pass(Duration length) override {
        for (const auto end = std::chrono::steady_clock::now() + length;
             std::chrono::steady_clock::now() < end;) {
            static_cast<void>(turn(1ms));
        }
    }
    [[nodiscard]] Duration lag() const override { return 2s; }

protected:
    /// Runs until nothing has happened for this long.
    void be_still(std::chrono::milliseconds length) {
        const auto look = [] { return std::chrono::steady_clock::now(); };
        for (auto last = look(); look() - last < length;) {
            if (turn(5ms)) {
                last = look();
            }
        }
    }
    [[nodiscard]] asio::io_context& io() noexcept { return io_; }

private:
    /// Runs one task. Returns false if none came within `wait`. The time is that of its end, as a
    /// case goes on then.
    bool turn(std::chrono::milliseconds wait) {
        catch_up();
        bool ran = loop_.turn();
        if (!ran) {
            io_.restart();
            ran = io_.run_one_for(wait) != 0;
        }
        catch_up();
        return ran;
    }
    void catch_up() {
        loop_.advance_to(
            std::max(loop_.now(), start_ + (std::chrono::steady_clock::now() - real_start_)));
    }

    ManualLoop loop_{};
    const TimePoint start_{loop_.now()};
    const std::chrono::steady_clock::time_point real_start_{std::chrono::steady_clock::now()};
    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard_{io_.get_executor()};
};

} // namespace sessionq::test
