// SPDX-License-Identifier: MIT
#include "client/processors/describe_endpoint.hpp"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>

#include <sessionq/error.hpp>

#include "client/threads/thread_start.hpp"
#include "core/log.hpp"

namespace sessionq::detail::client {
namespace {

using Local = asio::local::stream_protocol;

constexpr int most_waiting = 16;
/// The time that one visitor has to read its document. The next one waits meanwhile.
constexpr Duration visit_patience = std::chrono::seconds{2};
/// The pause after a failed accept. There may be no descriptors left.
constexpr Duration accept_pause = std::chrono::seconds{1};

[[noreturn]] void refuse_socket(const std::string& path, const std::string& why) {
    throw Error{Errc::invalid_option, "describe_socket '" + path + "': " + why};
}

/// Whether a process listens at the socket. Throws if the system does not tell.
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
        return; // if something is wrong, `bind` tells the reason
    }
    if (!S_ISSOCK(found.st_mode)) {
        refuse_socket(path, "a file that is not a socket has that name");
    }
    if (is_listened_at(path)) {
        refuse_socket(path, "another processor has opened it");
    }
    ::unlink(path.c_str());
}

/// The name of a local socket in the file system, from its binding to its removal.
class SocketPath {
public:
    /// Binds `acceptor` to `path` and lets it listen. Replaces a socket that an ended process left
    /// at `path`. Throws `invalid_option` and names `describe_socket` in its text.
    SocketPath(std::string path, Local::acceptor& acceptor);
    /// Removes the socket, unless another file has taken its place.
    ~SocketPath();
    SocketPath(const SocketPath&) = delete;
    SocketPath& operator=(const SocketPath&) = delete;

private:
    std::string path_;
    struct ::stat bound_ {}; ///< identifies the file that was bound
};

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
    // Nobody can connect before `listen`, so it is early enough to set the mode here.
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

} // namespace

/// Accepts each process that connects, and sends the document to it. Works on the endpoint's
/// thread, from `run` on.
class DescribeEndpoint::Visits {
public:
    Visits(const std::string& path, Document document, const core::Clock& clock)
        : document_{std::move(document)}, clock_{clock}, path_{path, acceptor_} {
        accept();
    }

    void run() { context_.run(); }
    void stop() { context_.stop(); } ///< Any thread.

private:
    void accept();
    void tell();
    void end_visit();
    void accept_later();

    Document document_;
    const core::Clock& clock_;
    asio::io_context context_{1};
    Local::acceptor acceptor_{context_};
    Local::socket visitor_{context_};
    asio::steady_timer timer_{context_}; ///< one visit, or the wait after a failed accept
    std::string text_{};                 ///< being sent
    SocketPath path_;                    ///< last: removed while the acceptor still listens
};

void DescribeEndpoint::Visits::accept() {
    acceptor_.async_accept(visitor_, [this](const asio::error_code& failed) {
        if (failed) {
            core::log(LogLevel::warning, "processor",
                      "describe_socket took no connection: ", failed.message());
            accept_later();
            return;
        }
        tell();
    });
}

void DescribeEndpoint::Visits::tell() {
    try {
        text_ = document_();
    } catch (const std::exception& error) { // out of memory
        core::log(LogLevel::warning, "processor", "describe_socket has no answer: ", error.what());
        end_visit();
        return;
    }
    timer_.expires_at(clock_.now() + visit_patience);
    timer_.async_wait([this](const asio::error_code& cancelled) {
        if (!cancelled) {
            visitor_.cancel();
        }
    });
    asio::async_write(visitor_, asio::buffer(text_),
                      [this](const asio::error_code&, std::size_t) { end_visit(); });
}

void DescribeEndpoint::Visits::end_visit() {
    timer_.cancel();
    asio::error_code ignored; // the visitor may have closed it
    visitor_.close(ignored);
    accept();
}

void DescribeEndpoint::Visits::accept_later() {
    timer_.expires_at(clock_.now() + accept_pause);
    timer_.async_wait([this](const asio::error_code& cancelled) {
        if (!cancelled) {
            accept();
        }
    });
}

DescribeEndpoint::DescribeEndpoint(const std::string& path, Document document,
                                   const core::Clock& clock)
    : visits_{std::make_unique<Visits>(path, std::move(document), clock)} {
    thread_ = start_threads("the thread of describe_socket could not be started", [this] {
        return std::jthread{[this] {
            pthread_setname_np(pthread_self(), "sessionq-tell");
            visits_->run();
        }};
    });
}

DescribeEndpoint::~DescribeEndpoint() {
    visits_->stop();
    thread_.join();
}

} // namespace sessionq::detail::client
