// SPDX-License-Identifier: MIT
#include "faults/proxy.hpp"

#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include "faults/director.hpp"
#include "faults/now.hpp"
#include "faults/proxied_connection.hpp"

namespace sessionq::faults {
namespace {

using asio::ip::tcp;

// below the range for outgoing connections, so the port stays free while nobody listens
constexpr std::uint16_t lowest_port = 20'000;
constexpr std::uint16_t ports = 12'000;
constexpr std::chrono::milliseconds look_again{20};

} // namespace

class Proxy::Core {
public:
    explicit Core(ProxySettings settings)
        : broker_{asio::ip::make_address(settings.host), settings.port},
          round_trip_{settings.round_trip},
          director_{std::move(settings.script), settings.seed},
          random_{settings.seed} {
        choose_port(settings.listen_port);
        accept();
        thread_ = std::thread{[this] { io_.run(); }};
    }
    ~Core() {
        run([this] {
            asio::error_code ignored;
            acceptor_.close(ignored);
            clock_.cancel();
            door_.cancel();
            guard_.reset();
            for (const auto& [id, connection] : std::exchange(connections_, {})) {
                connection->reset();
            }
        });
        thread_.join();
    }
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    /// Runs work on the reactor's thread and waits for it.
    void run(const std::function<void()>& task) {
        std::promise<void> done;
        asio::post(io_, [&] {
            task();
            done.set_value();
        });
        done.get_future().get();
    }

    void start() {
        director_.start(now());
        run_script();
    }
    void heal() {
        director_.stop();
        clock_.cancel();
        const auto living = connections_;
        for (const auto& [id, connection] : living) {
            connection->heal();
        }
        open_door();
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return endpoint_.port(); }
    [[nodiscard]] const Director& director() const noexcept { return director_; }
    [[nodiscard]] std::size_t connections() const noexcept { return connections_.size(); }
    [[nodiscard]] std::vector<TimePoint> attempts() const { return attempts_; }

private:
    void choose_port(std::uint16_t wanted) {
        core::Random any{static_cast<std::uint64_t>(now().time_since_epoch().count())};
        for (int tries = 0; tries < 200; ++tries) {
            const auto port =
                wanted != 0 ? wanted : static_cast<std::uint16_t>(lowest_port + any.below(ports));
            endpoint_ = {asio::ip::address_v4::loopback(), port};
            if (listen()) {
                return;
            }
        }
        throw std::runtime_error{"the proxy finds no free port"};
    }

    bool listen() {
        asio::error_code error;
        acceptor_.open(endpoint_.protocol(), error);
        acceptor_.set_option(tcp::acceptor::reuse_address{true}, error);
        acceptor_.bind(endpoint_, error);
        if (!error) {
            acceptor_.listen(asio::socket_base::max_listen_connections, error);
        }
        if (error) {
            asio::error_code ignored;
            acceptor_.close(ignored);
        }
        return !error;
    }

    void run_script() {
        std::vector<std::uint64_t> living;
        for (const auto& [id, connection] : connections_) {
            living.push_back(id);
        }
        const TimePoint at = now();
        for (const AppliedFault& applied : director_.due(at, living)) {
            if (const auto found = connections_.find(applied.connection);
                found != connections_.end()) {
                const auto victim = found->second; // a copy, because the fault may end it
                victim->apply(applied);
            }
        }
        if (director_.door(at) == Director::Door::shut && acceptor_.is_open()) {
            asio::error_code ignored;
            acceptor_.close(ignored);
            wait_for_door();
        }
        if (!director_.is_over()) {
            clock_.expires_at(director_.next_due());
            clock_.async_wait([this](const asio::error_code& error) {
                if (!error) {
                    run_script();
                }
            });
        }
    }

    void wait_for_door() {
        door_.expires_after(look_again);
        door_.async_wait([this](const asio::error_code& error) {
            if (!error) {
                open_door();
            }
        });
    }

    void open_door() {
        if (acceptor_.is_open()) {
            return;
        }
        if (director_.door(now()) == Director::Door::shut || !listen()) {
            wait_for_door();
            return;
        }
        accept();
    }

    void accept() {
        acceptor_.async_accept([this](const asio::error_code& error, tcp::socket socket) {
            if (!acceptor_.is_open()) {
                return;
            }
            if (!error) {
                take(std::move(socket));
            }
            accept();
        });
    }

    void take(tcp::socket socket) {
        attempts_.push_back(now());
        const Director::Door door = director_.door(now());
        asio::error_code ignored;
        if (door == Director::Door::rejects || door == Director::Door::shut) {
            socket.set_option(asio::socket_base::linger{true, 0}, ignored);
            socket.close(ignored);
            return;
        }
        const std::uint64_t id = ++last_id_;
        const auto made = std::make_shared<ProxiedConnection>(
            std::move(socket), random_.next(), [this, id] { connections_.erase(id); });
        connections_.emplace(id, made);
        if (round_trip_ > Duration::zero()) {
            made->apply({.connection = id,
                         .fault = {.kind = FaultKind::delay, .delay = round_trip_ / 2},
                         .until = TimePoint::max()});
        }
        if (door == Director::Door::swallows) {
            made->be_black_hole();
        } else {
            made->connect(broker_);
        }
    }

    tcp::endpoint broker_;
    const Duration round_trip_;
    Director director_;
    core::Random random_;
    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard_{io_.get_executor()};
    tcp::endpoint endpoint_{};
    tcp::acceptor acceptor_{io_};
    asio::steady_timer clock_{io_};
    asio::steady_timer door_{io_};
    std::map<std::uint64_t, std::shared_ptr<ProxiedConnection>> connections_{};
    std::uint64_t last_id_{0};
    std::vector<TimePoint> attempts_{};
    std::thread thread_{};
};

Proxy::Proxy(ProxySettings settings)
    : core_{std::make_unique<Core>(std::move(settings))}, port_{core_->port()} {}
Proxy::~Proxy() = default;

void Proxy::start() {
    core_->run([this] { core_->start(); });
}
void Proxy::heal() {
    core_->run([this] { core_->heal(); });
}
std::map<FaultKind, std::uint64_t> Proxy::counts() const {
    std::map<FaultKind, std::uint64_t> all;
    core_->run([&] { all = core_->director().counts(); });
    return all;
}
std::vector<TimePoint> Proxy::attempts() const {
    std::vector<TimePoint> all;
    core_->run([&] { all = core_->attempts(); });
    return all;
}
std::size_t Proxy::connections() const {
    std::size_t count = 0;
    core_->run([&] { count = core_->connections(); });
    return count;
}

} // namespace sessionq::faults
