// SPDX-License-Identifier: MIT
#include "tools/sessionq/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>

#include "core/peer_words.hpp"

namespace sessionq::cli {

OutputError::OutputError(int error)
    : std::runtime_error{"cannot write standard output: " + std::generic_category().message(error)},
      error_{error} {}

void write_output(std::string_view text) {
    static std::mutex one_at_a_time;
    const std::lock_guard lock{one_at_a_time};
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) { // another program made the terminal non-blocking
            pollfd ready{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
            ::poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            throw OutputError{errno};
        }
    }
}

std::string for_output(const std::string& text) {
    return ::isatty(STDOUT_FILENO) != 0 ? core::peer_words(text, text.max_size()) : text;
}

void end_program(const OutputError& error) noexcept {
    if (error.error() == EPIPE) {
        std::signal(SIGPIPE, SIG_DFL);
        std::raise(SIGPIPE);
    }
    std::fprintf(stderr, "sessionq: %s\n", error.what());
    std::_Exit(1);
}

void tell(const std::string& text) { std::fputs((text + "\n").c_str(), stderr); }

} // namespace sessionq::cli
