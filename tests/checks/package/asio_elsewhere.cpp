// SPDX-License-Identifier: MIT
// A part of an application that uses Asio and knows nothing of sessionq: timers, sockets, signals
// and threads. With BOOST it is Boost.Asio.
#include <chrono>
#include <csignal>
#include <thread>

#ifdef BOOST
#include <boost/asio.hpp>
namespace net = boost::asio;
using error_code = boost::system::error_code;
#else
#include <asio.hpp>
namespace net = asio;
using error_code = asio::error_code;
#endif

namespace {

bool timer_fires() {
    net::io_context io;
    bool fired = false;
    net::steady_timer timer{io, std::chrono::milliseconds{1}};
    timer.async_wait([&](const error_code& error) { fired = !error; });
    io.run();
    return fired;
}

bool signal_comes() {
    net::io_context io;
    int came = 0;
    net::signal_set signals{io, SIGUSR1};
    signals.async_wait([&](const error_code& error, int number) { came = error ? -1 : number; });
    net::post(io, [] { std::raise(SIGUSR1); });
    io.run();
    return came == SIGUSR1;
}

bool byte_travels() {
    net::io_context io;
    net::ip::tcp::acceptor acceptor{io, {net::ip::address_v4::loopback(), 0}};
    net::ip::tcp::socket near{io};
    net::ip::tcp::socket far{io};
    char got = 0;
    acceptor.async_accept(far, [&](const error_code&) {
        net::async_read(far, net::buffer(&got, 1), [](const error_code&, std::size_t) {});
    });
    near.async_connect(acceptor.local_endpoint(), [&](const error_code&) {
        net::async_write(near, net::buffer("x", 1), [](const error_code&, std::size_t) {});
    });
    std::thread other{[&] { io.run(); }};
    io.run();
    other.join();
    return got == 'x';
}

} // namespace

bool asio_works_elsewhere() { return timer_fires() && signal_comes() && byte_travels(); }
