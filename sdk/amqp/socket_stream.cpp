// SPDX-License-Identifier: MIT
#include "amqp/socket_stream.hpp"

#include <array>
#include <utility>

#include <asio/buffer.hpp>
#include <asio/ssl/error.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/write.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "amqp/http_answer.hpp"
#include "amqp/input_buffer.hpp"
#include "amqp/tls_context.hpp"

namespace sessionq::amqp {
namespace {

using asio::ip::tcp;
using TlsSocket = asio::ssl::stream<tcp::socket>;

/// The memory that OpenSSL and Asio keep for a TLS stream: four buffers of a record each.
constexpr std::size_t tls_memory = std::size_t{72} << 10U;

std::string name_of(const tcp::socket& socket) {
    asio::error_code error;
    const auto endpoint = socket.remote_endpoint(error);
    return error ? "a disconnected peer"
                 : endpoint.address().to_string() + ":" + std::to_string(endpoint.port());
}

tcp::socket& lowest(tcp::socket& socket) noexcept { return socket; }
tcp::socket& lowest(TlsSocket& socket) noexcept { return socket.next_layer(); }

/// Accepts a TLS stream that ends without close_notify, because AMQP has a close of its own.
bool is_end(const asio::error_code& error) noexcept {
    return error == asio::error::eof || error == asio::ssl::error::stream_truncated;
}

template <typename Socket>
class SocketStream final : public Stream {
public:
    explicit SocketStream(Socket socket)
        : socket_{std::move(socket)}, peer_{name_of(lowest(socket_))} {
        asio::error_code ignored; // a broken socket reports its error at the next read
        lowest(socket_).set_option(tcp::no_delay{true}, ignored);
    }

    void read() override {
        input_.prepare(last_read_);
        socket_.async_read_some(
            asio::buffer(input_.data(), input_.size()),
            [self = self()](const asio::error_code& error, std::size_t size) {
                self->last_read_ = size;
                if (self->listener_ == nullptr) {
                    return;
                }
                if (error && !is_end(error)) {
                    self->fail(error);
                } else {
                    self->listener_->on_read({self->input_.data(), error ? 0 : size});
                }
            });
    }

    void write(std::string& bytes) override {
        output_.clear();
        output_.swap(bytes);
        is_writing_ = true;
        asio::async_write(socket_, asio::buffer(output_),
                          [self = self()](const asio::error_code& error, std::size_t) {
                              self->is_writing_ = false;
                              if (self->listener_ == nullptr) {
                                  return;
                              }
                              if (error) {
                                  self->fail(error);
                              } else {
                                  self->listener_->on_written();
                              }
                          });
    }

    void shut() override {
        if constexpr (std::is_same_v<Socket, TlsSocket>) {
            // the peer's answer does not matter
            socket_.async_shutdown([self = self()](const asio::error_code&) {});
        } else {
            asio::error_code ignored;
            socket_.shutdown(tcp::socket::shutdown_send, ignored);
        }
    }

    void close() noexcept override {
        listener_ = nullptr;
        asio::error_code ignored;
        lowest(socket_).close(ignored);
    }

    [[nodiscard]] std::string peer() const override { return peer_; }

    [[nodiscard]] std::size_t held() const noexcept override {
        return input_.size() + output_.capacity() +
               (std::is_same_v<Socket, TlsSocket> ? tls_memory : 0);
    }

    void trim() noexcept override {
        if (!is_writing_) {
            std::string{}.swap(output_);
        }
    }

private:
    std::shared_ptr<SocketStream> self() {
        return std::static_pointer_cast<SocketStream>(shared_from_this());
    }

    void fail(const asio::error_code& error) {
        listener_->on_failed(
            {.code = Errc::connection_lost, .detail = peer_ + ": " + error.message()});
    }

    Socket socket_;
    const std::string peer_;
    InputBuffer input_{};
    std::size_t last_read_{0};
    std::string output_{};
    bool is_writing_{false};
};

Failure refusal(TlsSocket& socket, const asio::error_code& error, const std::string& whom) {
    if (is_no_tls(error)) {
        return {.code = Errc::connection_refused, .detail = whom + " does not speak TLS"};
    }
    if (is_end(error)) {
        return {.code = Errc::connection_refused,
                .detail = whom + " closed the connection in the TLS handshake; it may not speak "
                                 "TLS"};
    }
    const long verdict = SSL_get_verify_result(socket.native_handle());
    if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH) {
        return {.code = Errc::peer_untrusted,
                .detail = "TLS: the certificate is not for " + whom +
                          "; its subjectAltName does not name it"};
    }
    if (verdict != X509_V_OK) {
        return {.code = Errc::peer_untrusted,
                .detail = "TLS: the certificate of " + whom +
                          " is not trusted: " + X509_verify_cert_error_string(verdict)};
    }
    return {.code = Errc::connection_refused,
            .detail = "TLS with " + whom + " failed: " + error.message()};
}

class TlsHandshake final : public Handshake {
public:
    using Role = asio::ssl::stream_base::handshake_type;

    TlsHandshake(tcp::socket socket, TlsContextPtr tls, std::string whom, Role role, Done done)
        : tls_{std::move(tls)},
          socket_{std::move(socket), tls_->ssl},
          whom_{std::move(whom)},
          role_{role},
          done_{std::move(done)} {}

    void start() {
        socket_.async_handshake(role_,
                                [self = std::static_pointer_cast<TlsHandshake>(shared_from_this())](
                                    const asio::error_code& error) { self->finish(error); });
    }

    void ask_for(const std::string& host) {
        SSL* ssl = socket_.native_handle();
        asio::error_code is_name;
        asio::ip::make_address(host, is_name);
        if (is_name) {
            SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                     const_cast<char*>(host.c_str())); // OpenSSL's macro casts away const
        }
        if (tls_->verify) {
            // a common name is no host name (RFC 6125, section 6.4.4)
            SSL_set_hostflags(ssl, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
            is_name ? SSL_set1_host(ssl, host.c_str())
                    : X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str());
        }
    }

    void cancel() noexcept override {
        done_ = nullptr;
        asio::error_code ignored;
        socket_.next_layer().close(ignored);
    }

private:
    void finish(const asio::error_code& error) {
        if (!done_) {
            return;
        }
        const Done done = std::exchange(done_, nullptr);
        if (error) {
            if (role_ == asio::ssl::stream_base::server && is_no_tls(error)) {
                say_tls();
            }
            Failure failure = refusal(socket_, error, whom_);
            if (role_ == asio::ssl::stream_base::server && is_end(error)) {
                failure.code = Errc::connection_lost; // it asked for nothing
            }
            done(nullptr, failure);
        } else {
            done(std::make_shared<SocketStream<TlsSocket>>(std::move(socket_)), {});
        }
    }

    /// OpenSSL closes without a word. An alert tells the client which protocol is spoken here.
    void say_tls() noexcept {
        constexpr std::array<unsigned char, 7> protocol_version_alert{0x15, 3, 1, 0, 2, 2, 70};
        asio::error_code ignored;
        socket_.next_layer().non_blocking(true, ignored);
        socket_.next_layer().write_some(asio::buffer(protocol_version_alert), ignored);
    }

    const TlsContextPtr tls_;
    TlsSocket socket_;
    const std::string whom_;
    const Role role_;
    Done done_;
};

/// The server's side. A peer that says nothing costs a socket, and nothing of OpenSSL.
class TlsServerHandshake final : public Handshake {
public:
    TlsServerHandshake(tcp::socket socket, TlsContextPtr tls, Done done)
        : socket_{std::move(socket)}, tls_{std::move(tls)}, done_{std::move(done)} {}

    void start() {
        socket_.async_wait(
            tcp::socket::wait_read,
            [self = std::static_pointer_cast<TlsServerHandshake>(shared_from_this())](
                const asio::error_code&) { self->on_first_byte(); });
    }

    void cancel() noexcept override {
        if (handshake_ != nullptr) {
            handshake_->cancel();
            return;
        }
        done_ = nullptr;
        asio::error_code ignored;
        socket_.close(ignored);
    }

private:
    // Also at the end of the stream, which the handshake reports.
    void on_first_byte() {
        if (!done_) {
            return;
        }
        std::string whom = name_of(socket_);
        if (const std::string answer = answer_to(peek()); !answer.empty()) {
            refuse(answer, whom);
            return;
        }
        handshake_ = std::make_shared<TlsHandshake>(std::move(socket_), std::move(tls_),
                                                    std::move(whom), asio::ssl::stream_base::server,
                                                    std::exchange(done_, nullptr));
        handshake_->start();
    }

    /// Returns the first bytes that have come, without taking them.
    std::string peek() {
        std::string first(longest_beginning, '\0');
        asio::error_code failed;
        socket_.non_blocking(true, failed);
        first.resize(socket_.receive(asio::buffer(first), tcp::socket::message_peek, failed));
        return first;
    }

    /// The answer to a peer that does not begin with TLS, in the words of its protocol. Empty for
    /// TLS, and for others.
    [[nodiscard]] static std::string answer_to(std::string_view first) {
        if (first.starts_with("AMQP")) {
            return {"AMQP\2\1\0\0", 8}; // the standard calls TLS protocol 2
        }
        return is_http_request(first)
                   ? http_refusal("400 Bad Request",
                                  "This port speaks TLS, and AMQP 1.0 in it; there is no HTTP.")
                   : std::string{};
    }

    void refuse(const std::string& answer, const std::string& whom) {
        std::string taken(longest_request, '\0');
        asio::error_code ignored;
        // Bytes that stay unread make the system drop the answer. A peer that sends more gets none.
        socket_.receive(asio::buffer(taken), 0, ignored);
        socket_.write_some(asio::buffer(answer), ignored);
        socket_.shutdown(tcp::socket::shutdown_send, ignored);
        socket_.close(ignored);
        std::exchange(done_, nullptr)(
            nullptr, {.code = Errc::connection_refused, .detail = whom + " does not speak TLS"});
    }

    static constexpr std::size_t longest_beginning = 16;
    static constexpr std::size_t longest_request = std::size_t{64} << 10U;

    tcp::socket socket_;
    TlsContextPtr tls_;
    Done done_;
    std::shared_ptr<TlsHandshake> handshake_{}; // once the first byte is there
};

} // namespace

bool is_no_tls(const asio::error_code& error) noexcept {
    if (error.category() != asio::error::get_ssl_category()) {
        return false;
    }
    switch (ERR_GET_REASON(static_cast<unsigned long>(error.value()))) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_RECORD_LENGTH_MISMATCH: return true;
    default: return false;
    }
}

StreamPtr make_tcp_stream(tcp::socket socket) {
    return std::make_shared<SocketStream<tcp::socket>>(std::move(socket));
}

HandshakePtr start_tls_client(tcp::socket socket, TlsContextPtr tls, const std::string& host,
                              Handshake::Done done) {
    const std::string name = tls->server_name.empty() ? host : tls->server_name;
    asio::error_code gone;
    const std::string port = ":" + std::to_string(socket.remote_endpoint(gone).port());
    auto handshake =
        std::make_shared<TlsHandshake>(std::move(socket), std::move(tls), name + port,
                                       asio::ssl::stream_base::client, std::move(done));
    handshake->ask_for(name);
    handshake->start();
    return handshake;
}

HandshakePtr start_tls_server(tcp::socket socket, TlsContextPtr tls, Handshake::Done done) {
    auto handshake =
        std::make_shared<TlsServerHandshake>(std::move(socket), std::move(tls), std::move(done));
    handshake->start();
    return handshake;
}

} // namespace sessionq::amqp
