// SPDX-License-Identifier: MIT
// Load for the fault tests. Sends numbered messages to sessions and consumes them through all
// faults, and logs what it is told. Each line is in the file before the next thing happens, even if
// this program is killed.
//
//   fault_load --connection STRING --entity NAME --log FILE [--sessions 32] [--senders 4]
//              [--rate 2000] [--role both|send|receive] [--first 0] [--drain-seconds 30]
//              [--body-bytes 64] [--handle-ms 0]
//
// Sends to the sessions s0, s1, ... of NAME, with numbers from --first on. Repeats each message
// until it is confirmed, and only then sends the session's next one. Sends at most --rate messages
// a second in all (0: no limit). SIGTERM or SIGINT ends the sending. Consuming goes on until
// nothing has come for two seconds, for at most --drain-seconds; with --role send it ends at once.
// The exit code does not judge the messages; the log does.
//
// The log has one line per event, appended, so that several runs may share a file. Blanks separate
// the words:
//   A SESSION NUMBER                a send is tried (if more than once, there may be copies)
//   S SESSION NUMBER                the send was confirmed
//   O LEASE SESSION                 a session was accepted; LEASE is unique in the file
//   R LEASE SESSION NUMBER SEQUENCE DELIVERY-COUNT    its handler begins
//   C LEASE SESSION NUMBER SEQUENCE                   its completion was confirmed
//   X LEASE SESSION REASON          the session was left; without a C a completion is unconfirmed
//   E TEXT                          an error

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sessionq/sessionq.hpp>

namespace {

using namespace std::chrono_literals;
using sessionq::TimePoint;

// A short backoff, because these tests break connections all the time.
constexpr sessionq::BackoffOptions at_once{.min = 20ms, .max = 500ms};

TimePoint now() { return std::chrono::steady_clock::now(); }

struct Options {
    std::string connection;
    std::string entity;
    std::string log;
    std::string role{"both"};
    std::size_t sessions{32};
    std::size_t senders{4};
    std::size_t rate{2000};
    std::size_t first{0};
    std::size_t drain_seconds{30};
    std::size_t body_bytes{64};
    std::size_t handle_ms{0};
};

[[noreturn]] void refuse(const std::string& why) {
    std::fprintf(stderr, "fault_load: %s\n", why.c_str());
    std::exit(2);
}

Options parse(int count, char** arguments) {
    Options options;
    const std::map<std::string, std::string*, std::less<>> texts{
        {"--connection", &options.connection},
        {"--entity", &options.entity},
        {"--log", &options.log},
        {"--role", &options.role}};
    const std::map<std::string, std::size_t*, std::less<>> numbers{
        {"--sessions", &options.sessions},
        {"--senders", &options.senders},
        {"--rate", &options.rate},
        {"--first", &options.first},
        {"--drain-seconds", &options.drain_seconds},
        {"--body-bytes", &options.body_bytes},
        {"--handle-ms", &options.handle_ms}};
    for (int i = 1; i < count; i += 2) {
        const std::string name = arguments[i];
        if (i + 1 == count) {
            refuse(name + " needs a value");
        }
        const std::string value = arguments[i + 1];
        if (const auto text = texts.find(name); text != texts.end()) {
            *text->second = value;
        } else if (const auto number = numbers.find(name); number != numbers.end()) {
            const auto [end, error] =
                std::from_chars(value.data(), value.data() + value.size(), *number->second);
            if (error != std::errc{} || end != value.data() + value.size()) {
                refuse(name + " needs a number");
            }
        } else {
            refuse("unknown option " + name);
        }
    }
    if (options.connection.empty() || options.entity.empty() || options.log.empty() ||
        options.sessions == 0 || options.senders == 0) {
        refuse("--connection, --entity and --log are needed, and at least one session and sender");
    }
    return options;
}

/// Writes each line at once, so that it survives the end of this process.
class Log {
public:
    explicit Log(const std::string& file)
        : file_{::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)} {
        if (file_ < 0) {
            refuse("cannot write '" + file + "'");
        }
    }
    ~Log() { ::close(file_); }
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    void line(std::string text) {
        text += '\n';
        if (::write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
            std::fputs("fault_load: the log cannot be written\n", stderr);
            std::_Exit(3);
        }
    }

private:
    const int file_;
};

std::string key(std::size_t session, std::size_t number) {
    return "s" + std::to_string(session) + " " + std::to_string(number);
}

/// Sends to its share of the sessions, one message at a time.
void send_all(const Options& options, const sessionq::Client& client, std::size_t sender_index,
              const std::atomic<bool>& ending, Log& log) {
    sessionq::Sender sender{client, options.entity};
    auto pace = now();
    const auto step = sessionq::Duration{
        options.rate == 0 ? 0
                          : 1'000'000'000 * static_cast<std::int64_t>(options.senders) /
                                static_cast<std::int64_t>(options.rate)};
    for (std::size_t number = options.first; !ending; ++number) {
        for (std::size_t session = sender_index; session < options.sessions && !ending;
             session += options.senders) {
            const std::string body =
                std::to_string(number) + " " + std::string(options.body_bytes, '.');
            for (bool is_confirmed = false; !is_confirmed && !ending;) {
                auto message =
                    sessionq::Message::of(body).in_session("s" + std::to_string(session));
                log.line("A " + key(session, number));
                try {
                    sender.send(std::move(message)); // within the client's operation_timeout
                    log.line("S " + key(session, number));
                    is_confirmed = true;
                } catch (const sessionq::Error& error) {
                    log.line("E send " + key(session, number) + ": " + error.what());
                    std::this_thread::sleep_for(50ms);
                }
            }
            pace = std::max(pace + step, now() - 100ms);
            std::this_thread::sleep_until(pace);
        }
    }
}

/// The messages received under each lock. If settlements are confirmed, a session's next message
/// arrives only after the one before is settled. So the next message, or an orderly close, shows
/// that the completion was confirmed.
class Leases {
public:
    explicit Leases(Log& log) : log_{log} {}

    void open(const std::string& session) {
        const std::lock_guard lock{mutex_};
        Lease& lease = leases_[session];
        lease = {.name = std::to_string(::getpid()) + "." + std::to_string(++last_)};
        log_.line("O " + lease.name + " " + session);
    }
    void receive(const std::string& session, const sessionq::ReceivedMessage& message) {
        const std::lock_guard lock{mutex_};
        Lease& lease = leases_[session];
        confirm(lease, session);
        const std::string_view text = message.text();
        lease.in_flight = std::string{text.substr(0, text.find(' '))} + " " +
                          std::to_string(message.sequence_number());
        log_.line("R " + lease.name + " " + session + " " + *lease.in_flight + " " +
                  std::to_string(message.delivery_count()));
        last_seen_ = now();
    }
    void refused(const std::string& session) {
        const std::lock_guard lock{mutex_};
        if (const auto lease = leases_.find(session); lease != leases_.end()) {
            lease->second.in_flight.reset();
        }
    }
    void close(const std::string& session, sessionq::CloseReason why) {
        const std::lock_guard lock{mutex_};
        Lease& lease = leases_[session];
        if (why == sessionq::CloseReason::idle || why == sessionq::CloseReason::stopped) {
            confirm(lease, session);
        }
        log_.line("X " + lease.name + " " + session + " " + std::string{to_string(why)});
        leases_.erase(session);
    }
    [[nodiscard]] TimePoint last_seen() {
        const std::lock_guard lock{mutex_};
        return last_seen_;
    }

private:
    struct Lease {
        std::string name{};
        std::optional<std::string> in_flight{};
    };

    void confirm(Lease& lease, const std::string& session) {
        if (lease.in_flight) {
            log_.line("C " + lease.name + " " + session + " " + *lease.in_flight);
            lease.in_flight.reset();
        }
    }

    Log& log_;
    std::mutex mutex_;
    std::map<std::string, Lease> leases_;
    std::size_t last_{0};
    TimePoint last_seen_{now()};
};

sessionq::Client connect(const Options& options, Log& log) {
    for (;;) {
        try {
            return sessionq::Client::connect(
                options.connection, {.operation_timeout = 5s, .reconnect_backoff = at_once});
        } catch (const sessionq::Error& error) {
            if (error.code() == sessionq::Errc::invalid_argument ||
                error.code() == sessionq::Errc::unauthorized) {
                throw;
            }
            log.line(std::string{"E connect: "} + error.what());
            std::this_thread::sleep_for(100ms);
        }
    }
}

void run(const Options& options) {
    Log log{options.log};
    const sessionq::Client client = connect(options, log);
    Leases leases{log};
    std::optional<sessionq::SessionProcessor> processor;
    if (options.role != "send") {
        processor.emplace(
            client, options.entity,
            sessionq::SessionProcessorOptions{.max_concurrent_sessions =
                                                  static_cast<std::uint32_t>(options.sessions),
                                              .session_idle_timeout = 200ms,
                                              .worker_threads = 2,
                                              .confirm_settlements = true,
                                              .error_backoff = at_once});
        processor->on_session_open(
            [&](sessionq::SessionContext& session) { leases.open(session.session_id()); });
        processor->on_message([&](sessionq::MessageContext& call) {
            leases.receive(call.session().session_id(), call.message());
            std::this_thread::sleep_for(std::chrono::milliseconds{options.handle_ms});
        });
        processor->on_session_close(
            [&](sessionq::SessionContext& session, sessionq::CloseReason why) {
                leases.close(session.session_id(), why);
            });
        processor->on_error([&](const sessionq::ErrorContext& error) {
            if (error.source == sessionq::ErrorSource::settlement) {
                leases.refused(error.session_id);
            }
            log.line("E " + error.failure.to_string());
        });
        processor->start();
    }
    std::atomic<bool> ending{false};
    std::vector<std::thread> senders;
    if (options.role != "receive") {
        for (std::size_t i = 0; i < options.senders; ++i) {
            senders.emplace_back([&, i] { send_all(options, client, i, ending, log); });
        }
    }
    std::puts("fault_load runs");
    std::fflush(stdout);
    sessionq::wait_for_signal();
    ending = true;
    for (std::thread& sender : senders) {
        sender.join();
    }
    if (processor) {
        const TimePoint until = now() + std::chrono::seconds{options.drain_seconds};
        while (now() < until && now() - leases.last_seen() < 2s) {
            std::this_thread::sleep_for(50ms);
        }
        processor->stop(10s);
    }
}

} // namespace

int main(int count, char** arguments) {
    try {
        run(parse(count, arguments));
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fault_load: %s\n", error.what());
        return 1;
    }
}
