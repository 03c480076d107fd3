// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

#include "amqp/stream.hpp"

namespace sessionq::test {

/// A stream whose other end is the test.
struct ScriptedStream final : amqp::Stream {
    void read() override { reading = true; }
    void write(std::string& bytes) override {
        REQUIRE_FALSE(writing);
        written += bytes;
        writes += 1;
        bytes.clear();
        writing = true;
    }
    void shut() override { is_shut = true; }
    void close() noexcept override {
        is_closed = true;
        listener_ = nullptr;
    }
    [[nodiscard]] std::string peer() const override { return "the test"; }

    void give(std::string_view bytes) {
        REQUIRE(std::exchange(reading, false));
        listener_->on_read(bytes);
    }
    void let_write() {
        writing = false;
        listener_->on_written();
    }
    void fail() {
        listener_->on_failed({.code = Errc::connection_lost, .detail = "the test: broken"});
    }

    std::string written{};
    int writes{0};
    bool reading{false};
    bool writing{false};
    bool is_shut{false};
    bool is_closed{false};
};

} // namespace sessionq::test
