#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/random.hpp"

struct wslay_event_context;

namespace sessionq::amqp {

/// The subprotocol of AMQP 1.0 over WebSocket as Azure Service Bus names it.
inline constexpr std::string_view web_socket_protocol = "AMQPWSB10";

/// The path at which Azure Service Bus has it.
inline constexpr std::string_view service_bus_web_socket_path = "/$servicebus/websocket";

/// The HTTP request that turns a stream into a WebSocket, and its answer (RFC 6455, section 4).
/// Pure.
class WebSocketUpgrade {
public:
    enum class State { going_on, done, failed };

    /// The longest head of a request or an answer that is read.
    static constexpr std::size_t longest_head = 8 * 1024;

    /// A client's: `output` is the request, with `key` as the standard wants it, base64 of 16
    /// random bytes.
    [[nodiscard]] static WebSocketUpgrade client(const std::string& host, const std::string& path,
                                                 std::string key);
    /// A server's, for requests for `path`.
    [[nodiscard]] static WebSocketUpgrade server(std::string path);

    /// Takes what it understands from the front of `bytes`; what it has left once it is done
    /// belongs to the WebSocket.
    State feed(std::string_view& bytes);

    /// What is to be sent; emptied by whoever sends it.
    std::string output{};
    /// After `failed`: what is wrong with the peer.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

private:
    State on_head(std::string_view head);
    State on_request(std::string_view head);
    State on_response(std::string_view head);
    State fail(std::string text);

    bool is_client_{false};
    std::string path_{};
    std::string key_{};
    std::string head_{};
    std::string failure_{};
};

/// A random key for `WebSocketUpgrade::client`.
[[nodiscard]] std::string make_web_socket_key();

/// The frames of a WebSocket (RFC 6455, section 5): binary messages, their bounds of no meaning to
/// AMQP, to and from bytes. Pure.
class WebSocketFrames {
public:
    explicit WebSocketFrames(bool is_client);
    WebSocketFrames(const WebSocketFrames&) = delete;
    WebSocketFrames& operator=(const WebSocketFrames&) = delete;
    ~WebSocketFrames();

    /// Appends to `payload` what the peer sent. Answers of the protocol's own join what is to be
    /// sent. False: the peer broke the protocol.
    bool input(std::string_view bytes, std::string& payload);
    /// Makes a message of `payload`.
    void send(std::string_view payload);
    /// Says that nothing follows.
    void close();
    /// Appends what is to be sent.
    void take(std::string& to);
    /// The peer said that nothing follows.
    [[nodiscard]] bool is_closed() const noexcept { return closed_; }

private:
    struct Callbacks;

    wslay_event_context* context_{nullptr};
    core::Random masks_;
    std::string_view input_{};
    std::string* payload_{nullptr};
    std::string* output_{nullptr};
    bool is_data_{false}; // in the frame being read
    bool closed_{false};
};

} // namespace sessionq::amqp
