// SPDX-License-Identifier: MIT
#include "simulation/wire.hpp"

#include <algorithm>

namespace sessionq::simulation {
namespace {

constexpr std::size_t room = std::size_t{128}
                             << 10U; // bytes of one direction that the wire and its ends hold

} // namespace

/// One end, as a stream. It calls its listener from tasks of its loop only.
class Wire::End final : public amqp::Stream {
public:
    End(std::shared_ptr<Wire> wire, Side side, core::EventLoop& loop)
        : wire_{std::move(wire)}, side_{side}, loop_{&loop} {}
    ~End() override { close(); }

    void read() override {
        is_reading_ = true;
        offer();
    }
    void write(std::string& bytes) override {
        is_writing_ = true;
        wire_->carry(side_, std::move(bytes));
        bytes.clear();
        look_for_room();
    }
    void shut() override { wire_->carry_end(side_); }
    void close() noexcept override {
        if (!std::exchange(is_closed_, true)) {
            wire_->closed(side_);
        }
    }
    [[nodiscard]] std::string peer() const override {
        return "wire" + std::to_string(wire_->number());
    }

    void arrive(std::string_view bytes) {
        arrived_ += bytes;
        offer();
    }
    void arrive_end() {
        is_at_end_ = true;
        offer();
    }
    void fail(const char* why) {
        post([this, why] {
            is_failed_ = true;
            listener_->on_failed(Failure{.code = Errc::connection_lost, .detail = why});
        });
    }
    void look_for_room() {
        if (is_writing_ && wire_->has_room(side_)) {
            is_writing_ = false;
            post([this] { listener_->on_written(); });
        }
    }

private:
    void post(std::function<void()> task) {
        loop_->post([weak = weak_from_this(), this, task = std::move(task)] {
            if (const auto self = weak.lock();
                self && listener_ != nullptr && !is_closed_ && !is_failed_) {
                task();
            }
        });
    }
    void offer() {
        if (is_reading_ && (!arrived_.empty() || is_at_end_)) {
            post([this] { deliver(); });
        }
    }
    void deliver() {
        if (!is_reading_ || (arrived_.empty() && !is_at_end_)) {
            return; // an earlier task delivered it
        }
        is_reading_ = false;
        const std::string bytes = arrived_.substr(0, read_size);
        arrived_.erase(0, bytes.size());
        wire_->taken(side_, bytes.size());
        listener_->on_read(bytes);
    }

    std::shared_ptr<Wire> wire_;
    Side side_;
    core::EventLoop* loop_;
    std::string arrived_{};
    bool is_reading_{false};
    bool is_writing_{false};
    bool is_at_end_{false};
    bool is_closed_{false};
    bool is_failed_{false};
};

Wire::Wire(Environment& environment, const NetworkFaults& faults, std::uint32_t number,
           std::size_t endpoint, Watcher watcher)
    : environment_{&environment},
      faults_{&faults},
      number_{number},
      endpoint_{endpoint},
      watcher_{std::move(watcher)} {
    for (const Side writer : {Side::client, Side::server}) {
        channels_[index(writer)] = std::make_unique<Channel>(
            environment.scheduler, "wire" + std::to_string(number) + arrow(writer));
    }
}

amqp::StreamPtr Wire::open(Side side, core::EventLoop& loop) {
    auto end = std::make_shared<End>(shared_from_this(), side, loop);
    ends_[index(side)] = end;
    return end;
}

bool Wire::has_room(Side writer) const noexcept { return unread_[index(writer)] <= room; }

void Wire::carry(Side writer, std::string bytes) {
    if (bytes.empty() || ended_[index(writer)]) {
        return;
    }
    unread_[index(writer)] += bytes.size();
    std::size_t pieces = std::min<std::size_t>(
        1 + environment_->scheduler.random().below(faults_->pieces), bytes.size());
    for (std::size_t at = 0; at < bytes.size(); --pieces) {
        const std::size_t left = bytes.size() - at;
        const std::size_t size =
            pieces <= 1 ? left : 1 + environment_->scheduler.random().below(left - pieces + 1);
        travel(writer, [this, writer, piece = bytes.substr(at, size)] {
            environment_->scheduler.trace("wire", number_, arrow(writer), piece.size());
            if (environment_->scheduler.random().below(1000) < faults_->cut_per_mille) {
                cut({}, {});
                return;
            }
            if (const auto end = ends_[index(other(writer))].lock();
                end && !closed_[index(other(writer))]) {
                end->arrive(piece);
            } else {
                fail_later(writer, environment_->latency(), "reset by the peer");
            }
        });
        at += size;
    }
}

void Wire::carry_end(Side writer) {
    if (!std::exchange(ended_[index(writer)], true)) {
        travel(writer, [this, writer] {
            if (const auto end = ends_[index(other(writer))].lock()) {
                end->arrive_end();
            }
        });
    }
}

void Wire::travel(Side writer, std::function<void()> arrival) {
    if (cut_) {
        return;
    }
    const TimePoint now = environment_->scheduler.now();
    const Duration stalled =
        std::max<Duration>(stalled_until_[index(writer)] - now, Duration::zero());
    channels_[index(writer)]->send(
        stalled + environment_->latency(),
        [self = shared_from_this(), arrival = std::move(arrival)] { arrival(); });
}

void Wire::taken(Side reader, std::size_t count) {
    const Side writer = other(reader);
    unread_[index(writer)] -= count;
    if (const auto end = ends_[index(writer)].lock()) {
        end->look_for_room();
    }
    if (reader == Side::client) {
        watcher_.client_reads();
    }
}

void Wire::closed(Side side) {
    closed_[index(side)] = true;
    carry_end(side);
    if (side == Side::server && watcher_.server_over) {
        environment_->scheduler.trace("wire", number_, " is closed by the broker");
        std::exchange(watcher_.server_over, nullptr)();
    }
}

void Wire::cut(Duration client_learns, Duration server_learns) {
    if (std::exchange(cut_, true)) {
        return;
    }
    environment_->scheduler.trace("wire", number_, " is cut");
    for (const auto& channel : channels_) {
        channel->cut();
    }
    fail_later(Side::client, client_learns, "the connection was cut");
    fail_later(Side::server, server_learns, "the connection was cut");
}

void Wire::fail_later(Side side, Duration after, const char* why) {
    if (after == Duration::max()) {
        return;
    }
    environment_->scheduler.after(after, [weak = std::weak_ptr{ends_[index(side)]}, why] {
        if (const auto end = weak.lock()) {
            end->fail(why);
        }
    });
}

} // namespace sessionq::simulation
