// SPDX-License-Identifier: MIT
// The lower limit of what a client on our engine takes: SESSIONS receivers on one connection and
// one thread, which only accept messages, as proton_receiver does. With `decode` they also make of
// each message what a handler gets. With `work` another thread gets it, and it is accepted when
// that has read and destroyed it.
//   engine_receiver PORT ENTITY SESSIONS MESSAGES [decode|work]
// Prints the seconds from the first message to the last accepted one.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sessionq/received_message.hpp>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/connection.hpp"
#include "amqp/connector.hpp"
#include "client/threads/receive_thread.hpp"
#include "servicebus/session_attach.hpp"

namespace {

using namespace sessionq;
using Clock = std::chrono::steady_clock;
constexpr std::uint32_t credit = 200;

struct Run {
    std::string entity;
    int sessions;
    long messages;
    std::string more;

    long received{0};
    long accepted{0};
    Clock::time_point first{};
};

using MessagePtr = std::unique_ptr<ReceivedMessage>;

[[noreturn]] void end(int code, const char* complaint) {
    std::fputs(complaint, stderr);
    std::fflush(stdout);
    std::_Exit(code);
}

/// Who accepts a message that was handled.
class Acceptor {
public:
    virtual void accept(amqp::DeliveryHandle delivery) = 0;

protected:
    ~Acceptor() = default;
};

/// A thread that reads and destroys messages. It gets as many at once as came together, and gives
/// back as many at once as it had.
class Worker {
public:
    struct Job {
        Acceptor* acceptor;
        amqp::DeliveryHandle delivery;
        MessagePtr message;
    };

    explicit Worker(detail::client::ReceiveThread& thread)
        : receive_thread_{thread}, thread_{[this] { work(); }} {}

    /// On the receive thread.
    void add(Job job) {
        if (gathered_.empty()) {
            receive_thread_.post([this] { hand_over(); });
        }
        gathered_.push_back(std::move(job));
    }

private:
    void hand_over() {
        {
            const std::lock_guard lock{mutex_};
            std::ranges::move(gathered_, std::back_inserter(waiting_));
        }
        gathered_.clear();
        is_waiting_.notify_one();
    }

    void work() {
        std::vector<Job> jobs;
        std::unique_lock lock{mutex_};
        while (true) {
            is_waiting_.wait(lock, [this] { return !waiting_.empty(); });
            jobs.swap(waiting_);
            lock.unlock();
            for (Job& job : jobs) {
                bytes_ += static_cast<std::size_t>(job.message->body().front());
                job.message.reset();
            }
            lock.lock();
            if (done_.empty()) {
                receive_thread_.post([this] { accept_done(); });
            }
            std::ranges::move(jobs, std::back_inserter(done_));
            jobs.clear();
        }
    }

    void accept_done() {
        {
            const std::lock_guard lock{mutex_};
            accepting_.swap(done_);
        }
        for (const Job& job : accepting_) {
            job.acceptor->accept(job.delivery);
        }
        accepting_.clear();
    }

    detail::client::ReceiveThread& receive_thread_;
    std::vector<Job> gathered_{};
    std::vector<Job> accepting_{};
    std::mutex mutex_{};
    std::condition_variable is_waiting_{};
    std::vector<Job> waiting_{};
    std::vector<Job> done_{};
    std::size_t bytes_{0};
    std::thread thread_;
};

/// A session's link.
class Receiving final : public amqp::LinkListener, public Acceptor {
public:
    Receiving(Run& run, Worker* worker, amqp::Session& session, const std::string& name)
        : run_{run}, worker_{worker}, link_{session.make_receiver(name)} {
        link_->set_listener(this);
        link_->open(detail::servicebus::to_attach(
            {.entity = run.entity, .wait = std::chrono::seconds{10}}, name));
        link_->add_credit(credit);
    }

    void on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) override {
        if (run_.received++ == 0) {
            run_.first = Clock::now();
        }
        MessagePtr message;
        if (!run_.more.empty()) {
            auto received = amqp::decode_delivery(encoded, {}).take_or_throw();
            message = std::make_unique<ReceivedMessage>(std::move(received.content),
                                                        std::move(received.facts));
        }
        if (worker_ != nullptr) {
            worker_->add({this, delivery, std::move(message)});
        } else {
            accept(delivery);
        }
    }
    void accept(amqp::DeliveryHandle delivery) override {
        delivery.update({.kind = amqp::OutcomeKind::accepted});
        delivery.settle();
        if (link_->credit() <= credit / 2) {
            link_->add_credit(credit - link_->credit());
        }
        if (++run_.accepted == run_.messages) {
            std::printf("%.6f\n", std::chrono::duration<double>(Clock::now() - run_.first).count());
            end(0, "");
        }
    }
    void on_link_closed(const amqp::Condition&, bool) override {
        end(1, "engine_receiver: the broker closed a link\n");
    }
    void on_link_gone(const amqp::Condition&) override {}
    void on_disposition(amqp::DeliveryHandle) override {}

private:
    Run& run_;
    Worker* worker_;
    amqp::ReceiverLinkPtr link_;
};

class Client final : public amqp::ConnectionOwner {
public:
    Client(Run& run, Worker* worker, amqp::ConnectionHost& host, amqp::StreamPtr stream)
        : run_{run}, worker_{worker} {
        amqp::ConnectionOptions options;
        options.engine.open = {
            .container = "engine_receiver", .hostname = "127.0.0.1", .max_frame_size = 65536};
        options.engine.sasl =
            amqp::make_sasl_client({.mechanism = amqp::SaslCredentials::Mechanism::plain,
                                    .user = "RootManageSharedAccessKey",
                                    .password = "SAS_KEY_VALUE"});
        connection_ =
            std::make_unique<amqp::Connection>(host, std::move(stream), std::move(options), *this);
    }

    void on_open(const amqp::Open&) override {
        for (int i = 0; i < run_.sessions; ++i) {
            sessions_.push_back(connection_->engine().begin_session());
            links_.push_back(std::make_unique<Receiving>(run_, worker_, *sessions_.back(),
                                                         "r" + std::to_string(i)));
        }
    }
    void on_closed(const amqp::Condition&) override {
        end(1, "engine_receiver: the broker closed the connection\n");
    }

private:
    Run& run_;
    Worker* worker_;
    std::unique_ptr<amqp::Connection> connection_{};
    std::vector<amqp::SessionPtr> sessions_{};
    std::vector<std::unique_ptr<Receiving>> links_{};
};

} // namespace

int main(int count, char** arguments) {
    if (count != 5 && count != 6) {
        std::fputs("usage: engine_receiver PORT ENTITY SESSIONS MESSAGES [decode|work]\n", stderr);
        return 2;
    }
    Run run{.entity = arguments[2],
            .sessions = std::atoi(arguments[3]),
            .messages = std::atol(arguments[4]),
            .more = count == 6 ? arguments[5] : ""};
    const auto port = static_cast<std::uint16_t>(std::atoi(arguments[1]));
    detail::client::ReceiveThread thread;
    std::unique_ptr<Worker> worker;
    if (run.more == "work") {
        worker = std::make_unique<Worker>(thread);
    }
    std::unique_ptr<amqp::ConnectionHost> host;
    std::unique_ptr<amqp::Connector> connector;
    std::unique_ptr<Client> client;
    thread.post([&] {
        host = std::make_unique<amqp::ConnectionHost>(thread, thread.io_context());
        connector = std::make_unique<amqp::Connector>(
            *host, amqp::Target{.host = "127.0.0.1", .port = port},
            thread.now() + std::chrono::seconds{10}, [&](core::Result<amqp::StreamPtr> stream) {
                client = std::make_unique<Client>(run, worker.get(), *host,
                                                  std::move(stream).take_or_throw());
            });
    });
    std::this_thread::sleep_for(std::chrono::minutes{2});
    end(1, "engine_receiver: did not finish\n");
}
