// What an engine says.
#include <utility>

#include "amqp/engine/composite_writer.hpp"
#include "amqp/engine/engine.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {
namespace {

/// What a frame holds beside a condition.
constexpr std::size_t frame_overhead = 96;

} // namespace

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
    std::string& to = out();
    const std::size_t begun = begin_frame(to, 0);
    local_.write(to);
    end_frame(to, begun);
    touch();
}

void Engine::close(const Condition& condition) {
    if (closed_ || close_sent_) {
        return;
    }
    open();
    flush();
    std::string& to = out();
    const std::size_t begun = begin_frame(to, 0);
    CompositeWriter writer{to, Performative::close};
    writer.raw(0, encode(condition));
    writer.finish();
    end_frame(to, begun);
    close_sent_ = true;
    open_ = false;
    touch();
}

SessionPtr Engine::begin_session() {
    if (closed_ || close_sent_ || sessions_left() == 0) {
        return nullptr;
    }
    const std::uint16_t local = channels_.take();
    auto session = std::make_unique<Session>(*this, local);
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
    const std::size_t begun = begin_frame(to, channel);
    CompositeWriter writer{to, Performative::end};
    writer.raw(0, encode(condition));
    writer.finish();
    end_frame(to, begun);
    touch();
}

// The text is cut between characters, and what the condition adds to it goes first.
void Engine::make_fit(Condition& condition) const {
    const std::size_t most = remote_max_frame_size_ - frame_overhead;
    if (condition.name.size() + condition.text.size() + condition.info.size() <= most) {
        return;
    }
    condition.info.clear();
    std::size_t kept = most - std::min(most, condition.name.size());
    if (kept < condition.text.size()) {
        while (kept != 0 && (static_cast<unsigned char>(condition.text[kept]) & 0xc0U) == 0x80U) {
            --kept;
        }
        condition.text.resize(kept);
    }
}

std::string Engine::encode(const Condition& condition) const {
    std::string encoded;
    if (!condition.empty()) {
        Condition fitting = condition;
        make_fit(fitting);
        write_condition(encoded, fitting);
    }
    return encoded;
}

void Engine::flush() {
    for (std::size_t i = 0; i < due_.size(); ++i) {
        due_[i]->flush();
    }
    due_.clear();
}

void Engine::take(std::string& to) {
    flush();
    to.clear();
    to.swap(output_);
    release_memory_of_rush(to.size());
    touched_ = false;
}

// A server keeps the output's memory after a rush for as long as it uses it now and then, so that
// it does not grow from nothing each time. A client's rush is its attaches. It ends with them.
void Engine::release_memory_of_rush(std::size_t used) {
    constexpr std::size_t usual = std::size_t{64} << 10U;
    const unsigned patience = is_server_ ? 32 : 1;
    const bool is_rush_over = output_.capacity() > usual && used < output_.capacity() / 8;
    idle_takes_ = is_rush_over ? idle_takes_ + 1 : 0;
    if (idle_takes_ == patience) {
        idle_takes_ = 0;
        std::string{}.swap(output_);
    }
}

void Engine::heartbeat() {
    if (sasl_ != nullptr || broken_ || closed_ || !header_sent_) {
        return;
    }
    flush();
    if (output_.empty()) {
        output_.append(empty_frame);
    }
    touch();
}

} // namespace sessionq::amqp
