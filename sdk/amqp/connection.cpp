// SPDX-License-Identifier: MIT
#include "amqp/connection.hpp"

#include <algorithm>
#include <utility>

#include "timing/timer_service.hpp"

namespace sessionq::amqp {
namespace {

using std::chrono::milliseconds;

/// A read that returned as much probably left more. A WebSocket's frames take a few bytes of it.
constexpr std::size_t full_read = Stream::read_size - 64;

} // namespace

void ConnectionOwner::on_session(SessionPtr session) {
    session->end({.name = "amqp:not-allowed", .text = "only the client may begin sessions here"});
}

void ConnectionOwner::on_idle(timing::IdleKind /*kind*/, Duration /*idle*/) {}

Connection::Connection(ConnectionHost& host, StreamPtr stream, ConnectionOptions options,
                       ConnectionOwner& owner)
    : host_{host},
      stream_{std::move(stream)},
      owner_{owner},
      counts_{std::move(options.counts)},
      close_time_out_{options.close_time_out},
      linger_time_out_{std::min(options.linger_time_out, options.close_time_out)},
      read_idle_{milliseconds{options.engine.open.idle_time_out} * 2},
      write_idle_{options.write_idle},
      most_unsent_{options.most_unsent},
      most_unsent_while_reading_{options.most_unsent_while_reading},
      most_arriving_{options.most_arriving},
      engine_{std::move(options.engine), *this},
      idleness_{host.loop().now()},
      alive_{std::make_shared<Alive>(Alive{this})},
      pause_timer_{timing::Timer::calling<&Connection::end_pause>(this)},
      timer_{timing::Timer::calling<&Connection::on_time_out>(this)} {
    engine_.set_driver(this);
    stream_->set_listener(this);
    host_.watch(*this);
    host_.set_idle(*this, timing::IdleKind::read, read_idle_);
    end_in(options.open_time_out);
    read_on();
    on_output();
}

Connection::~Connection() {
    alive_->connection = nullptr;
    host_.forget(*this);
    stream_->set_listener(nullptr);
    stream_->close();
}

void Connection::close(const Condition& condition) {
    if (phase_ == Phase::opening || phase_ == Phase::open) {
        phase_ = Phase::closing;
        end_in(close_time_out_);
        engine_.close(condition);
    }
}

void Connection::abort(const Condition& condition) {
    if (phase_ != Phase::over) {
        host_.loop().post([alive = alive_, condition] {
            if (alive->connection != nullptr) {
                alive->connection->lose(condition);
            }
        });
    }
}

void Connection::pause(Duration time) {
    if (!pause_timer_.is_armed()) {
        engine_.hold(); // input that has come waits, too
        host_.loop().timers().arm(pause_timer_, host_.loop().now() + time);
    }
}

void Connection::end_pause() {
    engine_.let_go();
    turn();
}

bool Connection::is_congested() noexcept {
    const bool is_so = engine_.unsent() + in_flight_ > most_unsent_;
    is_owner_waiting_ = is_owner_waiting_ || is_so;
    return is_so;
}

void Connection::trim() noexcept {
    if (in_flight_ == 0) {
        std::string{}.swap(output_);
    }
    engine_.trim();
    stream_->trim();
}

void Connection::on_read(std::string_view bytes) {
    reading_ = false;
    if (bytes.empty()) {
        input_over_ = true;
        engine_.input_closed({.name = "amqp:connection:forced",
                              .text = "the peer closed the stream",
                              .found = Errc::connection_lost});
    } else {
        host_.on_read(*this);
        idleness_.received(host_.loop().now());
        received_ += bytes.size();
        has_more_ = bytes.size() >= full_read;
        if (counts_ != nullptr) {
            counts_->received.add(bytes.size());
        }
        engine_.input(bytes);
        look_at_arriving();
    }
    engine_.process();
    turn();
}

void Connection::look_at_arriving() {
    if (engine_.arriving() > most_arriving_) {
        const Condition why{.name = "amqp:resource-limit-exceeded",
                            .text = "the peer has sent too much of messages that it does not end",
                            .found = Errc::protocol_error};
        close(why);
        engine_.input_closed(why);
    }
}

void Connection::on_written() {
    in_flight_ = 0;
    turn();
}

void Connection::on_failed(const Failure& failure) {
    lose({.name = "amqp:connection:forced", .text = failure.to_string(), .found = failure.code});
}

void Connection::on_open(const Open& peer) {
    if (phase_ != Phase::opening) {
        return;
    }
    phase_ = Phase::open;
    host_.loop().timers().cancel(timer_);
    const HeartbeatPlan heartbeats =
        HeartbeatPlan::make(write_idle_, milliseconds{peer.idle_time_out});
    host_.set_idle(*this, timing::IdleKind::write, heartbeats.watched);
    heartbeat_every_ = heartbeats.timed;
    if (heartbeat_every_ > Duration::zero()) {
        end_in(heartbeat_every_);
    }
    owner_.on_open(peer);
}

void Connection::on_session(SessionPtr session) { owner_.on_session(std::move(session)); }

// The engine's last event. Its close frame may still be unsent.
void Connection::on_closed(const Condition& condition) {
    why_ = condition;
    if (condition.found || phase_ != Phase::closing) {
        end_in(condition.found ? linger_time_out_ : close_time_out_);
    }
    phase_ = Phase::lingering;
}

void Connection::on_output() {
    if (!turn_posted_ && phase_ != Phase::over) {
        turn_posted_ = true;
        host_.loop().post([alive = alive_] {
            if (alive->connection != nullptr) {
                alive->connection->turn_posted_ = false;
                alive->connection->turn();
            }
        });
    }
}

void Connection::tell_write_idle() {
    if (phase_ == Phase::open) {
        owner_.on_idle(timing::IdleKind::write,
                       idleness_.of(timing::IdleKind::write, host_.loop().now()));
    }
}

void Connection::on_idle(timing::IdleKind kind) {
    if (kind == timing::IdleKind::write) {
        tell_write_idle();
        host_.on_write(*this);
        engine_.heartbeat();
        return;
    }
    if (phase_ == Phase::lingering) {
        return;
    }
    const bool was_open = phase_ == Phase::open;
    const Condition silent{.name = "amqp:resource-limit-exceeded",
                           .text = "the peer sent nothing within the idle timeout",
                           .found = Errc::connection_lost};
    if (in_flight_ != 0) { // the peer does not read, so a close would not reach it
        engine_.input_closed(silent);
        abort(silent);
    } else {
        close(silent);
        engine_.input_closed(silent);
        input_over_ = true;
        on_output();
    }
    if (was_open) { // last, so that requests of the owner are not begun here
        owner_.on_idle(kind, idleness_.of(kind, host_.loop().now()));
    }
}

void Connection::on_time_out() {
    if (phase_ == Phase::open) {
        if (idleness_.of(timing::IdleKind::write, host_.loop().now()) >= heartbeat_every_) {
            tell_write_idle();
        }
        end_in(heartbeat_every_);
        engine_.heartbeat();
        return;
    }
    if (phase_ == Phase::opening) {
        lose({.name = "amqp:resource-limit-exceeded",
              .text = engine_.refusal().empty() ? "the peer did not open the connection in time"
                                                : std::string{engine_.refusal()} +
                                                      ", but did not close the connection in time",
              .found = Errc::timeout});
    } else {
        lose({.name = "amqp:connection:forced",
              .text = "the peer did not close the connection in time",
              .found = Errc::timeout});
    }
}

// Ends a connection whose stream is unusable.
void Connection::lose(const Condition& why) {
    is_lost_ = true;
    if (phase_ != Phase::lingering) {
        engine_.input_closed(why);
    }
    turn();
}

void Connection::read_on() {
    if (!reading_ && !input_over_ && phase_ != Phase::over) {
        reading_ = true;
        has_more_ = false;
        stream_->read();
    }
}

void Connection::flush() {
    if (in_flight_ != 0 || is_lost_ || phase_ == Phase::over) {
        return;
    }
    engine_.take(output_);
    in_flight_ = output_.size();
    if (in_flight_ != 0) {
        host_.on_write(*this);
        idleness_.sent(output_, host_.loop().now());
        if (counts_ != nullptr) {
            counts_->sent.add(in_flight_);
        }
        stream_->write(output_);
    }
}

// One connection at a time: the long work of several would add up, and so would the bytes that
// several send without a pause.
void Connection::go_on_in_turn() {
    if (!std::exchange(is_in_line_, true)) {
        host_.turns().add([alive = alive_] {
            if (alive->connection != nullptr) {
                alive->connection->go_on();
            }
        });
    }
}

void Connection::go_on() {
    is_in_line_ = false;
    if (std::exchange(has_more_, false)) {
        host_.on_turn(*this);
    }
    engine_.go_on();
    turn();
}

// Follows every event. Callers must return at once, because the owner may destroy the connection.
void Connection::turn() {
    engine_.process(); // handles an end of input that came from outside a read
    const bool is_busy = engine_.is_busy();
    if (is_lost_ && !is_busy) {
        finish();
        return;
    }
    if (pause_timer_.is_armed()) {
        return; // a turn follows
    }
    flush();
    if (is_busy) {
        go_on_in_turn();
    }
    if (phase_ == Phase::lingering && in_flight_ == 0) {
        if (!shut_) {
            shut_ = true;
            stream_->shut();
        }
        // Closing the stream while the peer still sends would discard our close, which says why. So
        // wait for the peer's end.
        if (input_over_ || !why_.found) {
            finish();
            return;
        }
    }
    if (!is_busy && !engine_.is_held() &&
        engine_.unsent() + in_flight_ <= most_unsent_while_reading_) {
        if (!has_more_ || host_.may_read_on(*this)) {
            read_on();
        } else {
            go_on_in_turn();
        }
    }
    if (is_owner_waiting_ && !is_congested()) {
        is_owner_waiting_ = false;
        owner_.on_writable();
    }
    owner_.on_turn();
}

// Callers must return at once.
void Connection::finish() {
    phase_ = Phase::over;
    alive_->connection = nullptr;
    stream_->set_listener(nullptr);
    stream_->close();
    host_.loop().timers().cancel(timer_);
    host_.loop().timers().cancel(pause_timer_);
    host_.forget(*this);
    owner_.on_closed(std::exchange(why_, {}));
}

void Connection::end_in(Duration time) {
    host_.loop().timers().arm(timer_, host_.loop().now() + time);
}

} // namespace sessionq::amqp
