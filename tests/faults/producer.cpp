// SPDX-License-Identifier: MIT
#include "faults/producer.hpp"

#include <optional>

#include "faults/consumer.hpp"
#include "faults/now.hpp"

namespace sessionq::faults {
namespace {

using namespace std::chrono_literals;

constexpr Duration send_limit = 2s;

} // namespace

Producer::Producer(ProducerOptions options, Promptness& promptness)
    : options_{std::move(options)},
      promptness_{promptness},
      random_{options_.seed},
      thread_{[this] { run(); }} {}

Producer::~Producer() {
    gives_up_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
}

bool Producer::finish(Duration longest) {
    finishing_ = true;
    for (const TimePoint until = now() + longest; !is_done_ && now() < until;) {
        std::this_thread::sleep_for(5ms);
    }
    gives_up_ = true;
    thread_.join();
    return !failed_;
}

void Producer::run() {
    // Not by the context of a send: its deadline would go along with the messages.
    ClientOptions options = hasty_client();
    options.operation_timeout = send_limit;
    std::optional<Client> client;
    while (!client && !gives_up_) {
        ++connects_;
        if (promptness_.watch("connect", operation_timeout,
                              [&] { client = Client::connect(options_.connection, options); })) {
            std::this_thread::sleep_for(100ms);
        }
    }
    const TimePoint began = now();
    while (client && !finishing_) {
        for (const std::uint32_t session : options_.sessions) {
            send(*client, session,
                 static_cast<std::int64_t>(random_.below(4) == 0 ? 1 + random_.below(5) : 1));
            if (finishing_) {
                break;
            }
            std::this_thread::sleep_until(
                began + std::chrono::microseconds{confirmed_ * 1'000'000 / options_.rate});
        }
    }
    is_done_ = true;
}

void Producer::send(const Client& client, std::uint32_t session, std::int64_t count) {
    Sent& sent = sent_[session];
    std::vector<Message> messages;
    for (std::int64_t i = 1; i <= count; ++i) {
        messages.push_back(Message::of(std::to_string(sent.confirmed + i) + " " +
                                       std::string(random_.below(600), '.'))
                               .in_session("s" + std::to_string(session)));
    }
    Sender sender{client, options_.entity};
    while (promptness_.watch("send", send_limit, [&] { sender.send_all(messages); })) {
        if (gives_up_) {
            failed_ = true;
            return;
        }
        for (std::int64_t i = 1; i <= count; ++i) {
            sent.asked_twice.insert(sent.confirmed + i);
        }
        std::this_thread::sleep_for(20ms);
    }
    sent.confirmed += count;
    confirmed_ += static_cast<std::size_t>(count);
}

} // namespace sessionq::faults
