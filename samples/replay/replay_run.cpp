// SPDX-License-Identifier: MIT
#include "replay_run.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <sessionq/sessionq.hpp>

#include "input_error.hpp"
#include "progress.hpp"
#include "record_reader.hpp"

namespace replay {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// So that handlers begin soon. A batch may be full before.
constexpr std::size_t most_in_batch = 1000;

/// Bounds the messages in the broker, so that memory does not grow with the file.
constexpr std::uint64_t backlog_limit = std::uint64_t{192} << 20U;
constexpr std::uint64_t cost_beside_body = 768; // bytes of a message in the broker, roughly

/// The handlers and their results. Thread safety: safe.
class Handling {
public:
    explicit Handling(const Options& options)
        : tally{options.calls_per_session}, handler_time_{options.handler_time} {}

    void handle(sessionq::MessageContext& call) {
        const sessionq::ReceivedMessage& message = call.message();
        const auto ordinal = message.property<std::uint64_t>("ordinal").value();
        tally.started(message.session_id(), ordinal);
        if (handler_time_ > 0ns) {
            std::this_thread::sleep_for(handler_time_);
        }
        const bool first = tally.finished(message.session_id(), ordinal,
                                          message.property<std::string>("outcome").value_or(""));
        last_end_.store(Clock::now(), std::memory_order_relaxed);
        if (first) {
            bytes_.fetch_add(cost_of(message.text().size()), std::memory_order_relaxed);
            count_.fetch_add(1, std::memory_order_release);
        }
    }

    void closed(sessionq::CloseReason why) {
        if (why != sessionq::CloseReason::stopped) {
            rolls_.fetch_add(1, std::memory_order_relaxed);
        }
    }

    void failed(const sessionq::ErrorContext& error) {
        constexpr std::size_t most = 5;
        const std::lock_guard lock{mutex_};
        if (errors_.size() < most) {
            errors_.push_back("session '" + error.session_id + "': " + error.failure.to_string());
        }
        if (error.source == sessionq::ErrorSource::accept && !error.failure.retryable()) {
            refused_ = error.failure;
        }
    }

    [[nodiscard]] static std::uint64_t cost_of(std::size_t body) noexcept {
        return body + cost_beside_body;
    }

    [[nodiscard]] std::uint64_t count() const noexcept {
        return count_.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        return bytes_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t rolls() const noexcept {
        return rolls_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] Clock::time_point last_end() const noexcept {
        return last_end_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::vector<std::string> errors() const {
        const std::lock_guard lock{mutex_};
        return errors_;
    }
    /// Throws if the broker gives no sessions, for a reason that will not pass.
    void throw_if_refused() const {
        const std::lock_guard lock{mutex_};
        if (refused_) {
            throw sessionq::Error{*refused_};
        }
    }

    Tally tally;

private:
    std::chrono::nanoseconds handler_time_;
    std::atomic<std::uint64_t> count_{0};
    std::atomic<std::uint64_t> bytes_{0};
    std::atomic<std::uint64_t> rolls_{0};
    std::atomic<Clock::time_point> last_end_{Clock::now()};
    mutable std::mutex mutex_;
    std::vector<std::string> errors_;
    std::optional<sessionq::Failure> refused_;
};

/// The sending side: reads, numbers and sends records, and waits while the handlers are behind.
class Feed {
public:
    Feed(const sessionq::Client& client, const Options& options, RecordReader& reader,
         Handling& handling)
        : sender_{client, options.entity},
          reader_{&reader},
          handling_{&handling},
          with_outcome_{options.outcome.has_value()},
          batch_{sender_.create_batch()},
          patience_{30s + options.idle_timeout + 2 * options.handler_time} {}

    void send_all() {
        Record record;
        while (reader_->next(record)) {
            add(record);
        }
        flush();
    }

    /// Waits until all messages are handled, or until none was handled for so long that the rest
    /// must be lost.
    void wait_until_handled() {
        while (handling_->count() < sent_ && progressing()) {
            std::this_thread::sleep_for(1ms);
        }
    }

    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }

private:
    void add(Record& record) {
        sessionq::Message message =
            sessionq::Message::of(record.body).in_session(record.session_id);
        message.properties.emplace("ordinal", handling_->tally.next_ordinal(record.session_id));
        if (with_outcome_) {
            message.properties.emplace("outcome", std::move(record.outcome));
        }
        if (batch_.size() == most_in_batch || !fits(message)) {
            flush();
            batch_ = sender_.create_batch();
            if (!fits(message)) {
                reader_->refuse("the record is larger than a message of '" + sender_.entity() +
                                "' may be");
            }
        }
        bytes_ += Handling::cost_of(record.body.size());
    }

    bool fits(const sessionq::Message& message) {
        try {
            return batch_.add_if_fits(message);
        } catch (const sessionq::Error& error) {
            reader_->refuse(error.what());
        }
    }

    void flush() {
        while (bytes_ - handling_->bytes() > backlog_limit) {
            if (!progressing()) {
                throw std::runtime_error{"no message was handled for too long"};
            }
            std::this_thread::sleep_for(1ms);
        }
        const std::size_t count = batch_.size();
        sender_.send(std::move(batch_));
        sent_ += count;
        (void)progressing();
    }

    /// Draws the bar. False: no message was handled within the time limit.
    bool progressing() {
        handling_->throw_if_refused();
        const std::uint64_t handled = handling_->count();
        const double read = reader_->progress();
        bar_.show(sent_ == 0 ? 0.0
                             : read * static_cast<double>(handled) / static_cast<double>(sent_),
                  handled);
        if (handled != seen_) {
            seen_ = handled;
            seen_at_ = Clock::now();
        }
        return Clock::now() - seen_at_ < patience_;
    }

    sessionq::Sender sender_;
    RecordReader* reader_;
    Handling* handling_;
    bool with_outcome_;
    sessionq::MessageBatch batch_;
    Clock::duration patience_;
    Progress bar_;
    std::uint64_t sent_{0};
    std::uint64_t bytes_{0};
    std::uint64_t seen_{0};
    Clock::time_point seen_at_{Clock::now()};
};

/// The one difference between a broker in this process and one on the network.
sessionq::Client make_client(const Options& options) {
    if (!options.connection.empty()) {
        return sessionq::Client::connect(options.connection);
    }
    sessionq::LocalBroker broker;
    broker.create_queue(options.entity, {.max_message_bytes = std::size_t{16} << 20U});
    return sessionq::Client::in_process(broker);
}

} // namespace

Run replay_file(const Options& options) {
    RecordReader reader{options.input, options.session_key, options.outcome};

    const sessionq::Client client = make_client(options);

    const auto handling = std::make_shared<Handling>(options); // handlers may outlive this function
    sessionq::SessionProcessor processor{
        client,
        options.entity,
        {
            .max_concurrent_sessions = options.concurrent_sessions,
            .max_concurrent_calls_per_session = options.calls_per_session,
            .session_idle_timeout = options.idle_timeout,
            .worker_threads = options.workers,
        }};
    processor.on_message([handling](sessionq::MessageContext& call) { handling->handle(call); });
    processor.on_session_close([handling](sessionq::SessionContext&, sessionq::CloseReason why) {
        handling->closed(why);
    });
    processor.on_error(
        [handling](const sessionq::ErrorContext& error) { handling->failed(error); });

    const auto began = Clock::now();
    processor.start();
    {
        Feed feed{client, options, reader, *handling};
        try {
            feed.send_all();
        } catch (const InputError& error) {
            throw InputError{std::string{error.what()} +
                             "; stopped there, the records before it are not reported"};
        }
        feed.wait_until_handled();
    }
    const sessionq::StopReport stopped = processor.stop(10s + options.handler_time);

    Run run;
    run.report = {.figures = handling->tally.figures(),
                  .rolls = handling->rolls(),
                  .longest_wait = processor.counters().longest_ready_wait,
                  .elapsed = std::max<Clock::duration>(handling->last_end() - began, 0ns)};
    run.errors = handling->errors();
    if (!stopped.complete) {
        run.errors.push_back("stopping took too long; " + std::to_string(stopped.left) +
                             " handlers were left running");
    }
    if (options.outcome) {
        run.outcomes = handling->tally.outcomes();
    }
    return run;
}

} // namespace replay
