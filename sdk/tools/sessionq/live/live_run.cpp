// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/live_run.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/clock.hpp"
#include "tools/sessionq/live/descriptor.hpp"
#include "tools/sessionq/live/looker.hpp"
#include "tools/sessionq/live/screen.hpp"

namespace sessionq::cli {
namespace {

constexpr Duration patience = std::chrono::milliseconds{500};
constexpr Duration grace = std::chrono::seconds{3}; // a look may take as long
constexpr int redrawn_every = 1000;                 // ms: the time without an answer goes on

enum class SignalAction : std::uint8_t { none, quit };

SignalAction handle_signal(const Descriptor& signals, Screen& screen) {
    signalfd_siginfo info{};
    if (::read(signals.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) {
        return SignalAction::none;
    }
    switch (static_cast<int>(info.ssi_signo)) {
    case SIGWINCH: screen.resize(); return SignalAction::none;
    case SIGTSTP: screen.suspend(); return SignalAction::none;
    default: return SignalAction::quit;
    }
}

void take_result(Looker& looker, ScreenModel& model, TimePoint now) {
    if (auto result = looker.take()) {
        if (result->mistake) {
            std::rethrow_exception(result->mistake);
        }
        if (result->report) {
            model.show(*std::move(result->report), now);
        } else {
            model.fail(result->failure, now);
        }
    }
}

/// Returns false if a key ends the program.
bool press_keys(Screen& screen, ScreenModel& model) {
    while (const auto press = screen.key()) {
        if (!model.press(*press)) {
            return false;
        }
    }
    return true;
}

void clear_event(const Descriptor& event) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t size = ::read(event.get(), &count, sizeof count);
}

} // namespace

BlockedSignals::BlockedSignals() {
    sigemptyset(&blocked_);
    for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP}) {
        sigaddset(&blocked_, each);
    }
    ::pthread_sigmask(SIG_BLOCK, &blocked_, &before_);
}

BlockedSignals::~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void check_terminal(const Shared& shared, const LiveOptions& options) {
    if (!shared.json && !options.once &&
        (::isatty(STDOUT_FILENO) == 0 || ::isatty(STDIN_FILENO) == 0)) {
        throw UsageError{"a live screen needs a terminal; use --once or --json without one"};
    }
}

int show_live(LiveSubject& subject, const LiveOptions& options, const BlockedSignals& signals) {
    const Descriptor signal{::signalfd(-1, &signals.set(), SFD_CLOEXEC | SFD_NONBLOCK)};
    const Descriptor event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (signal.get() < 0 || event.get() < 0) {
        throw std::runtime_error{"cannot wait for signals"};
    }
    ScreenModel model{subject.target(), options.interval + grace};
    std::optional<Screen> screen{std::in_place};
    Looker looker{subject, options.interval, [&event] {
                      const std::uint64_t one = 1;
                      [[maybe_unused]] const ssize_t written =
                          ::write(event.get(), &one, sizeof one);
                  }};
    while (true) {
        screen->draw(model.draw(screen->size(), core::system_clock().now()));
        std::array<pollfd, 3> ready{{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                     {.fd = signal.get(), .events = POLLIN, .revents = 0},
                                     {.fd = event.get(), .events = POLLIN, .revents = 0}}};
        if (::poll(ready.data(), ready.size(), redrawn_every) < 0 && errno != EINTR) {
            throw std::runtime_error{"cannot wait for keys"};
        }
        clear_event(event);
        take_result(looker, model, core::system_clock().now());
        const bool is_gone = (ready[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
        if (is_gone || handle_signal(signal, *screen) == SignalAction::quit ||
            !press_keys(*screen, model)) {
            break;
        }
    }
    screen.reset(); // restores the terminal, even if the looker still waits
    if (!looker.stop(patience)) {
        std::_Exit(0); // it is connecting, and holds nothing that must be given back
    }
    return 0;
}

} // namespace sessionq::cli
