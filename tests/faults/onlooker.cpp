// SPDX-License-Identifier: MIT
#include "faults/onlooker.hpp"

#include <optional>

#include <sessionq/sessionq.hpp>

#include "faults/consumer.hpp"

namespace sessionq::faults {
namespace {

using namespace std::chrono_literals;

constexpr Duration limit = 1s;

const CallOptions soon{.timeout = limit};

} // namespace

Onlooker::Onlooker(std::string connection, std::string watched, std::string own,
                   Promptness& promptness)
    : connection_{std::move(connection)},
      watched_{std::move(watched)},
      own_{std::move(own)},
      promptness_{promptness},
      thread_{[this] { run(); }} {}

Onlooker::~Onlooker() {
    ending_ = true;
    thread_.join();
}

void Onlooker::run() {
    std::optional<Client> client;
    while (!client && !ending_) {
        ++connects_;
        if (promptness_.watch("connect", operation_timeout,
                              [&] { client = Client::connect(connection_, hasty_client()); })) {
            std::this_thread::sleep_for(100ms);
        }
    }
    while (client && !ending_) {
        promptness_.watch("peek", limit, [&] {
            static_cast<void>(Browser{*client, watched_}.peek(10, soon));
        });
        promptness_.watch("list_sessions", limit,
                          [&] { static_cast<void>(list_sessions(*client, watched_, {}, soon)); });
        promptness_.watch("send", limit, [&] {
            Sender{*client, own_}.send(Message::of("1").in_session("own"), soon);
        });
        std::optional<SessionReceiver> receiver;
        promptness_.watch("accept", limit, [&] {
            receiver = SessionReceiver::accept_next_if_any(*client, own_, 500ms, {}, soon);
        });
        if (receiver) {
            promptness_.watch("receive", limit, [&] {
                for (SessionMessage& message : receiver->receive(10, 200ms, soon)) {
                    message.complete(soon);
                }
            });
            promptness_.watch("state", limit, [&] { receiver->set_state("seen", soon); });
            promptness_.watch("renew_lock", limit,
                              [&] { static_cast<void>(receiver->renew_lock(soon)); });
            promptness_.watch("close", limit, [&] { receiver->close(soon); });
        }
        std::this_thread::sleep_for(20ms);
    }
}

} // namespace sessionq::faults
