// SPDX-License-Identifier: MIT
#include "amqp/web_socket_stream.hpp"

#include <utility>

#include "amqp/web_socket.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::size_t most_unsent_answers = std::size_t{16} << 10U;

class WebSocketStream final : public Stream, private StreamListener {
public:
    /// `begun` holds bytes that the peer has already sent.
    WebSocketStream(ConnectionHost& host, StreamPtr lower, bool is_client, std::string_view begun)
        : host_{host}, lower_{std::move(lower)}, frames_{is_client}, begun_{begun} {
        lower_->set_listener(this);
    }

    ~WebSocketStream() override { close(); }

    void read() override {
        if (begun_.empty()) {
            read_on();
            return;
        }
        host_.loop().post([self = std::static_pointer_cast<WebSocketStream>(shared_from_this())] {
            self->on_read(std::exchange(self->begun_, {}));
        });
    }

    void write(std::string& bytes) override {
        frames_.send(bytes);
        bytes.clear();
        is_writing_ = true;
        pump();
    }

    void shut() override {
        frames_.close();
        is_shut_ = true;
        pump();
    }

    void close() noexcept override {
        listener_ = nullptr;
        lower_->close();
    }

    [[nodiscard]] std::string peer() const override { return lower_->peer(); }

    [[nodiscard]] std::size_t held() const noexcept override {
        return begun_.capacity() + payload_.capacity() + output_.capacity() + lower_->held();
    }

    void trim() noexcept override {
        if (output_.empty()) {
            std::string{}.swap(output_);
        }
        lower_->trim();
    }

private:
    void on_read(std::string_view bytes) override {
        const StreamPtr self = shared_from_this();
        if (listener_ == nullptr) {
            return;
        }
        payload_.clear();
        const bool is_end = bytes.empty();
        const std::size_t before = output_.size();
        const bool is_well = is_end || frames_.input(bytes, payload_, output_);
        unsent_answers_ += output_.size() - before;
        if (!is_well) {
            listener_->on_failed({.code = Errc::protocol_error,
                                  .detail = peer() +
                                            ": the peer sent invalid WebSocket frames, or too many "
                                            "control frames"});
            return;
        }
        pump();
        if (!payload_.empty()) {
            listener_->on_read(payload_);
        } else if (is_end || frames_.is_closed()) {
            listener_->on_read({});
        } else {
            read_on();
        }
    }

    void on_written() override {
        const StreamPtr self = shared_from_this();
        is_lower_writing_ = false;
        pump();
        if (listener_ == nullptr) {
            return;
        }
        if (std::exchange(is_read_put_off_, false)) {
            read_on();
        }
        if (is_lower_writing_) {
            return;
        }
        if (is_shut_) {
            lower_->shut();
        } else if (std::exchange(is_writing_, false)) {
            listener_->on_written();
        }
    }

    void on_failed(const Failure& failure) override {
        const StreamPtr self = shared_from_this();
        if (listener_ != nullptr) {
            listener_->on_failed(failure);
        }
    }

    /// A peer that does not read its pongs is not read, or they would pile up.
    void read_on() {
        if (unsent_answers_ > most_unsent_answers) {
            is_read_put_off_ = true;
        } else {
            lower_->read();
        }
    }

    void pump() {
        if (!is_lower_writing_) {
            frames_.take(output_);
            unsent_answers_ = 0;
            if (!output_.empty()) {
                is_lower_writing_ = true;
                lower_->write(output_);
            }
        }
    }

    ConnectionHost& host_;
    const StreamPtr lower_;
    WebSocketFrames frames_;
    std::string begun_;
    std::string payload_{};
    std::string output_{};
    bool is_writing_{false}; // the user's write is pending
    bool is_lower_writing_{false};
    bool is_shut_{false};
    bool is_read_put_off_{false};
    std::size_t unsent_answers_{0}; // bytes of answers to pings, while the lower stream writes
};

class UpgradeHandshake final : public Handshake, private StreamListener {
public:
    UpgradeHandshake(ConnectionHost& host, StreamPtr lower, bool is_client,
                     WebSocketUpgrade upgrade, Done done)
        : host_{host},
          lower_{std::move(lower)},
          is_client_{is_client},
          upgrade_{std::move(upgrade)},
          done_{std::move(done)} {}

    void start() {
        self_ = shared_from_this();
        lower_->set_listener(this);
        send();
        lower_->read();
    }

    void cancel() noexcept override {
        const HandshakePtr self = std::move(self_);
        done_ = nullptr;
        if (lower_) {
            lower_->close();
        }
    }

private:
    void on_read(std::string_view bytes) override {
        const HandshakePtr self = shared_from_this();
        if (bytes.empty()) {
            fail(is_client_ ? Errc::connection_refused : Errc::connection_lost,
                 "the peer closed the stream during the WebSocket handshake");
            return;
        }
        std::string_view rest = bytes;
        switch (upgrade_.feed(rest)) {
        case WebSocketUpgrade::State::going_on: lower_->read(); return;
        case WebSocketUpgrade::State::failed:
            send();
            fail(Errc::connection_refused, upgrade_.failure());
            return;
        case WebSocketUpgrade::State::done: break;
        }
        left_ = rest;
        is_done_ = true;
        if (!send() && !is_sending_) {
            finish();
        }
    }

    void on_written() override {
        const HandshakePtr self = shared_from_this();
        is_sending_ = false;
        if (is_done_) {
            finish();
        }
    }

    void on_failed(const Failure& failure) override {
        const HandshakePtr self = shared_from_this();
        fail(failure.code, failure.detail);
    }

    bool send() {
        if (upgrade_.output.empty()) {
            return false;
        }
        is_sending_ = true;
        lower_->write(upgrade_.output);
        return true;
    }

    void finish() {
        self_.reset();
        std::exchange(done_, nullptr)(
            std::make_shared<WebSocketStream>(host_, std::move(lower_), is_client_, left_), {});
    }

    void fail(Errc code, const std::string& text) {
        self_.reset();
        const StreamPtr lower = std::move(lower_);
        lower->set_listener(nullptr);
        lower->shut();
        lower->close();
        std::exchange(done_, nullptr)(
            nullptr,
            {.code = code, .detail = "WebSocket with " + lower->peer() + " failed: " + text});
    }

    ConnectionHost& host_;
    StreamPtr lower_;
    const bool is_client_;
    WebSocketUpgrade upgrade_;
    Done done_;
    HandshakePtr self_{}; // keeps this alive until the handshake has ended
    std::string left_{};
    bool is_sending_{false};
    bool is_done_{false};
};

HandshakePtr start(ConnectionHost& host, StreamPtr lower, bool is_client, WebSocketUpgrade upgrade,
                   Handshake::Done done) {
    auto handshake = std::make_shared<UpgradeHandshake>(host, std::move(lower), is_client,
                                                        std::move(upgrade), std::move(done));
    handshake->start();
    return handshake;
}

} // namespace

HandshakePtr start_web_socket_client(ConnectionHost& host, StreamPtr lower,
                                     const std::string& host_name, const std::string& path,
                                     Handshake::Done done) {
    return start(host, std::move(lower), true,
                 WebSocketUpgrade::client(host_name, path, make_web_socket_key()), std::move(done));
}

HandshakePtr start_web_socket_server(ConnectionHost& host, StreamPtr lower, const std::string& path,
                                     const std::vector<std::string>& origins, bool is_over_tls,
                                     Handshake::Done done) {
    return start(host, std::move(lower), false,
                 WebSocketUpgrade::server(path, origins, is_over_tls), std::move(done));
}

} // namespace sessionq::amqp
