// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/socket_document.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <system_error>

#include "core/clock.hpp"
#include "tools/sessionq/live/descriptor.hpp"

namespace sessionq::cli {
namespace {

constexpr std::size_t longest_document = std::size_t{64} << 20U;

[[noreturn]] void fail_with(int error) {
    throw std::runtime_error{std::generic_category().message(error)};
}

void connect_to(const Descriptor& socket, const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) {
        throw std::runtime_error{"the path of a socket has 1 to " +
                                 std::to_string(sizeof address.sun_path - 1) + " bytes"};
    }
    std::copy(path.begin(), path.end(), static_cast<char*>(address.sun_path));
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(socket.get(), generic, sizeof address) != 0) {
        if (errno == EAGAIN) {
            throw std::runtime_error{"it does not accept the connection"};
        }
        fail_with(errno);
    }
}

/// Waits until the socket has something to read.
void wait_for_input(const Descriptor& socket, const Descriptor& stopped, TimePoint end) {
    const auto now = core::system_clock().now();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now).count();
    std::array<pollfd, 2> ready{{{.fd = socket.get(), .events = POLLIN, .revents = 0},
                                 {.fd = stopped.get(), .events = POLLIN, .revents = 0}}};
    const int count = left > 0 ? ::poll(ready.data(), ready.size(), static_cast<int>(left)) : 0;
    if (count < 0 && errno != EINTR) {
        fail_with(errno);
    }
    if (ready[1].revents != 0) {
        throw std::runtime_error{"stopped"};
    }
    if (count == 0) {
        throw std::runtime_error{"the description did not come in time"};
    }
}

std::string read_all(const Descriptor& socket, const Descriptor& stopped, TimePoint end) {
    std::string document;
    std::array<char, 65'536> piece;
    while (true) {
        wait_for_input(socket, stopped, end);
        const ssize_t size = ::read(socket.get(), piece.data(), piece.size());
        if (size == 0) {
            return document;
        }
        if (size > 0) {
            document.append(piece.data(), static_cast<std::size_t>(size));
        } else if (errno != EAGAIN && errno != EINTR) {
            fail_with(errno);
        }
        if (document.size() > longest_document) {
            throw std::runtime_error{"the description is longer than 64 MiB"};
        }
    }
}

} // namespace

std::string read_socket_document(const std::string& path, Duration timeout,
                                 const std::stop_token& stop) {
    const TimePoint end = core::system_clock().now() + timeout;
    const Descriptor stopped{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    const std::stop_callback notice{stop, [&stopped] {
                                        const std::uint64_t one = 1;
                                        [[maybe_unused]] const ssize_t written =
                                            ::write(stopped.get(), &one, sizeof one);
                                    }};
    const Descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (stopped.get() < 0 || socket.get() < 0) {
        fail_with(errno);
    }
    connect_to(socket, path);
    return read_all(socket, stopped, end);
}

} // namespace sessionq::cli
