// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "faults/conduit.hpp"
#include "faults/director.hpp"

namespace sessionq::faults {

/// A client's connection and its connection to the broker. Bound to the reactor's thread. Keeps
/// itself alive while an operation is pending.
class ProxiedConnection : public std::enable_shared_from_this<ProxiedConnection> {
public:
    using Ended = std::function<void()>;
    ProxiedConnection(asio::ip::tcp::socket client, std::uint64_t seed, Ended ended);

    void connect(const asio::ip::tcp::endpoint& broker);
    void be_black_hole();
    void apply(const AppliedFault& applied);
    void heal();
    /// Closes both sides with RST.
    void reset();

private:
    /// One direction.
    struct Half {
        Half(asio::io_context& io, asio::ip::tcp::socket& source, asio::ip::tcp::socket& sink,
             std::uint64_t seed)
            : from{source}, to{sink}, conduit{seed}, timer{io} {}

        asio::ip::tcp::socket& from;
        asio::ip::tcp::socket& to;
        Conduit conduit;
        asio::steady_timer timer;
        std::array<char, 32768> read{};
        std::string held{};
        std::string written{};
        bool reading{false};
        bool writing{false};
        bool input_over{false};
        bool discards{false}; ///< the end was forwarded early
        bool is_done{false};  ///< the end was forwarded
    };

    void pump(Half& half);
    void read(Half& half);
    void write(Half& half);
    void on_read(Half& half, const asio::error_code& error, std::size_t bytes);
    void cut(Half& half);
    void finish_if_done();
    void end();

    template <typename Do>
    void each(Way way, Do act) {
        if (way != Way::down) {
            act(up_);
        }
        if (way != Way::up) {
            act(down_);
        }
    }

    asio::ip::tcp::socket client_;
    asio::ip::tcp::socket broker_;
    Half up_;
    Half down_;
    asio::steady_timer grace_;
    Ended ended_; // null once called
    bool is_connected_{false};
};

} // namespace sessionq::faults
