#include <csignal>
#include <cstdio>
#include <exception>

#include "tools/sessionqd/daemon.hpp"
#include "tools/sessionqd/options.hpp"

namespace {

constexpr int failed = 1;
constexpr int bad_usage = 2;

/// Blocks SIGINT and SIGTERM in all threads. The first one ends `wait`, the next one kills.
class StopSignals {
public:
    /// Before any other thread is started.
    StopSignals() {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGINT);
        sigaddset(&signals_, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    }

    void wait() {
        int arrived = 0;
        sigwait(&signals_, &arrived);
        pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    }

private:
    sigset_t signals_{};
};

} // namespace

int main(int count, char** arguments) {
    try {
        const auto parsed = sessionq::sessionqd::parse_command_line(count, arguments);
        if (parsed.is_help) {
            std::fputs(parsed.help.c_str(), stdout);
            return 0;
        }
        StopSignals signals;
        sessionq::sessionqd::Daemon daemon{parsed.options};
        std::string line = "sessionqd listens on";
        for (const std::string& url : daemon.urls()) {
            line += " " + url;
        }
        std::puts(line.c_str());
        std::fflush(stdout);
        signals.wait();
        daemon.stop(parsed.options.drain_time);
        return 0;
    } catch (const sessionq::sessionqd::UsageError& error) {
        std::fprintf(stderr, "sessionqd: %s\nTry 'sessionqd --help'.\n", error.what());
        return bad_usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sessionqd: %s\n", error.what());
        return failed;
    }
}
