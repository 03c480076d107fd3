// SPDX-License-Identifier: MIT
// The frames that an engine writes.
#include <utility>

#include "amqp/engine/composite_writer.hpp"
#include "amqp/engine/engine.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {

void Engine::write_header() {
    if (!std::exchange(header_sent_, true)) {
        out().append(protocol_header);
        touch();
    }
}

void Engine::open() {
    if (std::exchange(open_sent_, true)) {
        return;
    }
    write_header();
    if (!local_.write(out(), remote_max_frame_size_)) {
        input_closed({.name = "amqp:not-allowed",
                      .text = "the hostname is too long: the open does not fit into a frame",
                      .found = Errc::invalid_option});
    }
    touch();
}

void Engine::close(const Condition& condition) {
    if (closed_ || close_sent_) {
        return;
    }
    open();
    flush();
    std::string& to = out();
    write_frame(to, 0, remote_max_frame_size_, [&] {
        CompositeWriter writer{to, Performative::close};
        writer.raw(0, encode_condition(condition, most_of_condition()));
        writer.finish();
    });
    output_.close();
    close_sent_ = true;
    open_ = false;
    touch();
}

SessionPtr Engine::begin_session(core::ReceiveRoomPtr room) {
    if (closed_ || close_sent_ || sessions_left() == 0) {
        return nullptr;
    }
    const std::uint16_t local = channels_.take();
    auto session = std::make_unique<Session>(*this, local, std::move(room));
    channels_.at(local).session = session.get();
    session->write_begin(nullptr);
    return session;
}

std::size_t Engine::sessions_left() const noexcept {
    const std::size_t most = std::size_t{std::min(local_.channel_max, remote_channel_max_)} + 1;
    return most > channels_.used() ? most - channels_.used() : 0;
}

// A session that the peer has not begun yet cannot end.
void Engine::end_session(std::uint16_t channel, const Condition& condition) {
    channels_.at(channel).end_awaited = true;
    if (channels_.at(channel).is_begun) {
        write_end(channel, condition);
    }
}

void Engine::write_end(std::uint16_t channel, const Condition& condition) {
    std::string& to = out();
    write_frame(to, channel, remote_max_frame_size_, [&] {
        CompositeWriter writer{to, Performative::end};
        writer.raw(0, encode_condition(condition, most_of_condition()));
        writer.finish();
    });
    touch();
}

void Engine::flush() {
    for (std::size_t i = 0; i < due_.size(); ++i) {
        due_[i]->flush();
    }
    due_.clear();
}

void Engine::take(std::string& to) {
    flush();
    output_.take(to);
    touched_ = false;
}

void Engine::heartbeat() {
    if (!sasl_.is_over() || closed_ || !header_sent_) {
        return;
    }
    flush();
    if (output_.size() == 0) {
        out().append(empty_frame);
    }
    touch();
}

} // namespace sessionq::amqp
