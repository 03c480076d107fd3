// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.hpp"

struct wslay_event_context;

namespace sessionq::amqp {

/// The names of the subprotocol AMQP 1.0 over WebSocket: that of the standard, registered with
/// IANA, which .NET and Go offer, and that of its draft, which Java, JavaScript and Python offer.
inline constexpr std::array<std::string_view, 2> web_socket_protocols{"amqp", "AMQPWSB10"};

/// The WebSocket path of Azure Service Bus.
inline constexpr std::string_view service_bus_web_socket_path = "/$servicebus/websocket";

/// The HTTP request that turns a stream into a WebSocket, and its response (RFC 6455, section 4).
/// Pure.
class WebSocketUpgrade {
public:
    enum class State { going_on, done, failed };

    /// The limit for the header of a request or response.
    static constexpr std::size_t longest_head = 8 * 1024;

    /// Makes a client's side. `output` is the request. `key` is base64 of 16 random bytes.
    [[nodiscard]] static WebSocketUpgrade client(const std::string& host, const std::string& path,
                                                 std::string key);
    /// Makes a server's side, for requests for `path`. A browser tells by `Origin` which page asks.
    /// Such a request is refused unless its origin is one of `origins`, or one of them is "*", or
    /// it is the server's own: no page comes from there, but Python's client names it. A name is
    /// the server's own over TLS only: without TLS a page's name may lead to any address.
    [[nodiscard]] static WebSocketUpgrade server(std::string path,
                                                 std::vector<std::string> origins = {},
                                                 bool is_over_tls = false);

    /// Consumes the header from the front of `bytes`. The bytes left after `done` belong to the
    /// WebSocket.
    State feed(std::string_view& bytes);

    /// Bytes to send. The caller empties it after sending.
    std::string output{};
    /// After `failed`: the peer's error, in words.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

private:
    State on_head(std::string_view head);
    State on_request(std::string_view head);
    State on_response(std::string_view head);
    [[nodiscard]] bool allows_origins_of(std::string_view head, std::string_view host) const;
    State refuse_other_protocol();
    State fail(std::string text);

    bool is_client_{false};
    std::string path_{};
    std::vector<std::string> origins_{};
    bool is_over_tls_{false};
    std::string key_{};
    std::string head_{};
    std::string failure_{};
};

/// Returns a random key for `WebSocketUpgrade::client`.
[[nodiscard]] std::string make_web_socket_key();

/// Converts between bytes and the frames of a WebSocket (RFC 6455, section 5). It sends binary
/// messages; AMQP ignores message bounds. Pure.
class WebSocketFrames {
public:
    explicit WebSocketFrames(bool is_client);
    WebSocketFrames(const WebSocketFrames&) = delete;
    WebSocketFrames& operator=(const WebSocketFrames&) = delete;
    ~WebSocketFrames();

    /// So many control frames in a row, without data between them, end the stream.
    static constexpr unsigned most_control_frames = 256;

    /// Appends received data to `payload`, and the answers to control frames to `answers`. Returns
    /// false if the peer broke the protocol, or sent too many control frames.
    bool input(std::string_view bytes, std::string& payload, std::string& answers);
    /// Queues a message with `payload`.
    void send(std::string_view payload);
    /// Queues a close frame.
    void close();
    /// Appends the bytes to send.
    void take(std::string& to);
    /// Returns true if the peer sent a close frame.
    [[nodiscard]] bool is_closed() const noexcept { return closed_; }

private:
    struct Callbacks;

    wslay_event_context* context_{nullptr};
    core::Random masks_;
    std::string_view input_{};
    std::string* payload_{nullptr};
    std::string* output_{nullptr};
    unsigned control_frames_{0}; // since the last data
    bool is_data_{false};        // true while a data frame is being read
    bool closed_{false};
};

} // namespace sessionq::amqp
