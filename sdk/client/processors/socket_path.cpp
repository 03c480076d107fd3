// SPDX-License-Identifier: MIT
#include "client/processors/socket_path.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <asio/io_context.hpp>

#include <sessionq/error.hpp>

namespace sessionq::client {
namespace {

using Local = asio::local::stream_protocol;

constexpr int most_waiting = 16;

[[noreturn]] void refuse_socket(const std::string& path, const std::string& why) {
    throw Error{Errc::invalid_option, "describe_socket '" + path + "': " + why};
}

/// Whether a process listens there. Another failure than that is refused.
bool is_listened_at(const std::string& path) {
    asio::io_context context;
    Local::socket socket{context};
    asio::error_code failed;
    socket.connect(Local::endpoint{path}, failed);
    if (failed && failed != asio::error::connection_refused) {
        refuse_socket(path, failed.message());
    }
    return !failed;
}

/// Removes a socket that a process left behind.
void make_room(const std::string& path) {
    struct ::stat found {};
    if (::lstat(path.c_str(), &found) != 0) {
        return; // binding says why it cannot be
    }
    if (!S_ISSOCK(found.st_mode)) {
        refuse_socket(path, "a file that is not a socket has that name");
    }
    if (is_listened_at(path)) {
        refuse_socket(path, "another processor has opened it");
    }
    ::unlink(path.c_str());
}

} // namespace

SocketPath::SocketPath(std::string path, Local::acceptor& acceptor) : path_{std::move(path)} {
    make_room(path_);
    asio::error_code failed;
    acceptor.open(Local{}, failed);
    if (!failed) {
        acceptor.bind(Local::endpoint{path_}, failed);
    }
    if (failed) {
        refuse_socket(path_, failed.message());
    }
    // Until it listens nobody can connect, so the mode comes in time.
    if (::chmod(path_.c_str(), S_IRUSR | S_IWUSR) != 0 || ::lstat(path_.c_str(), &bound_) != 0) {
        const std::string why = std::strerror(errno);
        ::unlink(path_.c_str());
        refuse_socket(path_, why);
    }
    acceptor.listen(most_waiting, failed);
    if (failed) {
        ::unlink(path_.c_str());
        refuse_socket(path_, failed.message());
    }
}

SocketPath::~SocketPath() {
    struct ::stat found {};
    if (::lstat(path_.c_str(), &found) == 0 && found.st_dev == bound_.st_dev &&
        found.st_ino == bound_.st_ino) {
        ::unlink(path_.c_str());
    }
}

} // namespace sessionq::client
