// SPDX-License-Identifier: MIT
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include <sessionq/error.hpp>

#include "tools/sessionqd/daemon.hpp"
#include "tools/sessionqd/memory_release.hpp"
#include "tools/sessionqd/options.hpp"
#include "tools/sessionqd/stored_entities.hpp"

namespace {

constexpr int failed = 1;
constexpr int bad_usage = 2;

/// Blocks SIGINT, SIGTERM, SIGHUP and SIGUSR1 in all threads. The first of SIGINT and SIGTERM ends
/// `wait`, the next one kills.
class StopSignals {
public:
    /// Before any other thread is started.
    StopSignals() {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGINT);
        sigaddset(&signals_, SIGTERM);
        sigaddset(&signals_, SIGHUP);
        sigaddset(&signals_, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    }

    /// Calls `describe` at each SIGUSR1, `reload` at each SIGHUP, and `tidy` every few seconds.
    template <typename Describe, typename Reload, typename Tidy>
    void wait(Describe describe, Reload reload, Tidy tidy) {
        constexpr timespec pause{.tv_sec = 3, .tv_nsec = 0};
        for (int arrived = -1; arrived != SIGINT && arrived != SIGTERM;) {
            arrived = sigtimedwait(&signals_, nullptr, &pause);
            if (arrived == SIGUSR1) {
                describe();
            } else if (arrived == SIGHUP) {
                reload();
            } else if (arrived < 0) {
                tidy();
            }
        }
        sigdelset(&signals_, SIGHUP); // there is nothing to read again, and it would kill
        sigdelset(&signals_, SIGUSR1);
        pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    }

private:
    sigset_t signals_{};
};

/// Reads the files again that the command line names. If one is wrong, all stays as it is.
std::string reload(sessionq::sessionqd::Daemon& daemon, int count, const char* const* arguments) {
    const std::string nothing = "nothing was changed: ";
    try {
        return daemon.reload(sessionq::sessionqd::parse_command_line(count, arguments).options);
    } catch (const sessionq::Error& error) {
        const std::string& detail = error.failure().detail;
        return nothing + (detail.empty() ? error.what() : detail) + "\n";
    } catch (const std::exception& error) {
        return nothing + error.what() + "\n";
    }
}

} // namespace

int main(int count, char** arguments) {
    try {
        const auto parsed = sessionq::sessionqd::parse_command_line(count, arguments);
        if (!parsed.help.empty()) {
            std::fputs(parsed.help.c_str(), stdout);
            return 0;
        }
        if (parsed.options.lists_entities) {
            std::fputs(sessionq::sessionqd::list_entities(parsed.options).c_str(), stdout);
            return 0;
        }
        if (!parsed.options.deleted_entities.empty()) {
            std::fputs(sessionq::sessionqd::delete_entities(parsed.options).c_str(), stdout);
            return 0;
        }
        sessionq::sessionqd::tune_allocator(parsed.options.receive_threads);
        StopSignals signals;
        sessionq::sessionqd::Daemon daemon{parsed.options};
        std::string line = "sessionqd listens on";
        for (const std::string& url : daemon.urls()) {
            line += " " + url;
        }
        std::puts(line.c_str());
        std::fflush(stdout);
        signals.wait([&] { std::fputs(daemon.describe().c_str(), stderr); },
                     [&] { std::fputs(reload(daemon, count, arguments).c_str(), stderr); },
                     sessionq::sessionqd::release_freed_memory);
        daemon.stop(parsed.options.drain_time);
        return 0;
    } catch (const sessionq::sessionqd::UsageError& error) {
        std::fprintf(stderr, "sessionqd: %s\nTry 'sessionqd --help'.\n", error.what());
        return bad_usage;
    } catch (const sessionq::Error& error) {
        const std::string& detail = error.failure().detail;
        std::fprintf(stderr, "sessionqd: %s\n", detail.empty() ? error.what() : detail.c_str());
        return failed;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sessionqd: %s\n", error.what());
        return failed;
    }
}
