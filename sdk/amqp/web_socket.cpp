// SPDX-License-Identifier: MIT
#include "amqp/web_socket.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include <openssl/evp.h>
#include <wslay/wslay.h>

#include "amqp/base64.hpp"
#include "amqp/engine/frame.hpp"
#include "amqp/http_answer.hpp"
#include "core/peer_words.hpp"
#include "core/uuid.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::string_view end_of_head = "\r\n\r\n";

/// Returns the answer that proves to a client that the server understood its request.
std::string accept_of(const std::string& key) {
    const std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; // the GUID of RFC 6455
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
    return base64({reinterpret_cast<const char*>(digest.data()), size});
}

bool are_alike(std::string_view one, std::string_view other) noexcept {
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
}

std::string_view trimmed(std::string_view text) noexcept {
    const std::size_t begin = text.find_first_not_of(" \t");
    return begin == std::string_view::npos
               ? std::string_view{}
               : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Gives the value of each header field of this name to `take`, until that returns true.
template <typename Take>
void find_field(std::string_view head, std::string_view name, Take take) {
    for (std::size_t at = head.find("\r\n"); at != std::string_view::npos;) {
        const std::size_t begin = at + 2;
        at = head.find("\r\n", begin);
        const std::string_view line =
            head.substr(begin, at == std::string_view::npos ? at : at - begin);
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos && are_alike(line.substr(0, colon), name) &&
            take(trimmed(line.substr(colon + 1)))) {
            return;
        }
    }
}

/// Returns the value of a header field, or an empty view.
std::string_view field(std::string_view head, std::string_view name) noexcept {
    std::string_view found;
    find_field(head, name, [&found](std::string_view value) {
        found = value;
        return true;
    });
    return found;
}

/// Returns the first item of a comma-separated list for which `is_it` is true, or an empty view.
template <typename Is>
std::string_view find_item(std::string_view list, Is is_it) {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view item = trimmed(list.substr(0, comma));
        if (is_it(item)) {
            return item;
        }
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return {};
}

/// Returns true if a comma-separated list contains `item`.
bool names(std::string_view list, std::string_view item) noexcept {
    return !find_item(list, [item](std::string_view each) {
                return are_alike(each, item);
            }).empty();
}

/// Returns the subprotocol of AMQP that a request or response names, as the peer spells it. Empty:
/// it names none.
std::string_view protocol_in(std::string_view head) {
    std::string_view found;
    find_field(head, "Sec-WebSocket-Protocol", [&found](std::string_view list) {
        found = find_item(list, [](std::string_view item) {
            return std::ranges::any_of(web_socket_protocols, [item](std::string_view each) {
                return are_alike(item, each);
            });
        });
        return !found.empty();
    });
    return found;
}

std::string all_protocols() {
    std::string list;
    for (const std::string_view each : web_socket_protocols) {
        list.append(list.empty() ? "" : ", ").append(each);
    }
    return list;
}

/// Base64 of 16 bytes.
bool is_key(std::string_view key) noexcept {
    const auto is_digit = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '/';
    };
    return key.size() == 24 && key.ends_with("==") &&
           std::ranges::all_of(key.substr(0, 22), is_digit);
}

std::string_view first_line(std::string_view head) noexcept {
    return head.substr(0, head.find("\r\n"));
}

constexpr std::string_view behind_scheme = "://";

/// The target of a request (RFC 9112, section 3.2). Java's client names the host there, too.
struct Target {
    std::string_view host{}; // in the place of the field Host; empty: not named
    std::string_view path{};
};

Target target_of(std::string_view line) noexcept {
    const std::size_t begin = line.find(' ') + 1;
    const std::string_view path = line.substr(begin, line.find_first_of(" ?", begin) - begin);
    for (const std::string_view scheme : {"http", "https", "ws", "wss"}) {
        const std::string_view rest = path.substr(std::min(scheme.size(), path.size()));
        if (are_alike(path.substr(0, scheme.size()), scheme) && rest.starts_with(behind_scheme)) {
            const std::string_view place = rest.substr(behind_scheme.size());
            const std::size_t slash = std::min(place.find('/'), place.size());
            return {.host = place.substr(0, slash), .path = place.substr(slash)};
        }
    }
    return {.path = path};
}

/// Whether no name service says where the host is: "localhost", or an address.
bool is_fixed(std::string_view host) noexcept {
    const bool is_v6 = host.starts_with('[');
    const std::string_view name = is_v6 ? host : host.substr(0, host.find(':'));
    return is_v6 || are_alike(name, "localhost") ||
           name.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::string_view without_slash(std::string_view path) noexcept {
    return path.size() > 1 && path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
}

core::Random seeded() {
    std::uint64_t seed = 0;
    const core::Uuid entropy = core::Uuid::make();
    std::memcpy(&seed, entropy.bytes.data(), sizeof seed);
    return core::Random{seed};
}

} // namespace

std::string make_web_socket_key() {
    const core::Uuid random = core::Uuid::make();
    return base64({reinterpret_cast<const char*>(random.bytes.data()), random.bytes.size()});
}

WebSocketUpgrade WebSocketUpgrade::client(const std::string& host, const std::string& path,
                                          std::string key) {
    WebSocketUpgrade made;
    made.is_client_ = true;
    made.output = "GET " + path + " HTTP/1.1\r\nHost: " + host +
                  "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: " + key +
                  "\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: " + all_protocols() +
                  std::string{end_of_head};
    made.key_ = std::move(key);
    return made;
}

WebSocketUpgrade WebSocketUpgrade::server(std::string path, std::vector<std::string> origins,
                                          bool is_over_tls) {
    WebSocketUpgrade made;
    made.path_ = std::move(path);
    made.origins_ = std::move(origins);
    made.is_over_tls_ = is_over_tls;
    return made;
}

WebSocketUpgrade::State WebSocketUpgrade::feed(std::string_view& bytes) {
    const std::size_t known = head_.size();
    head_.append(bytes.substr(0, longest_head));
    if (!is_client_ && !may_become_http_request(head_)) {
        return refuse_other_protocol();
    }
    constexpr std::string_view http = "HTTP/";
    if (is_client_ &&
        std::string_view{head_}.substr(0, http.size()) != http.substr(0, head_.size())) {
        return fail("the peer does not speak HTTP"); // the rest of its bytes may never end
    }
    const std::size_t end =
        head_.find(end_of_head, known < end_of_head.size() ? 0 : known - end_of_head.size());
    if (end == std::string::npos) {
        bytes = {};
        return head_.size() > longest_head ? fail("the peer's HTTP header is too long")
                                           : State::going_on;
    }
    bytes.remove_prefix(end + end_of_head.size() - known);
    return on_head(std::string_view{head_}.substr(0, end));
}

WebSocketUpgrade::State WebSocketUpgrade::on_head(std::string_view head) {
    return is_client_ ? on_response(head) : on_request(head);
}

WebSocketUpgrade::State WebSocketUpgrade::on_request(std::string_view head) {
    const std::string_view line = first_line(head);
    const Target target = target_of(line);
    const std::string_view named = field(head, "Host");
    const std::string_view host = target.host.empty() ? named : target.host;
    const std::string key{field(head, "Sec-WebSocket-Key")};
    const bool is_upgrade = names(field(head, "Upgrade"), "websocket") &&
                            names(field(head, "Connection"), "upgrade") && !key.empty();
    const auto refuse = [&](std::string_view status, std::string_view sentence, std::string text,
                            std::string_view more = {}) {
        output = http_refusal(status, sentence, more);
        return fail(std::move(text));
    };
    if (!line.starts_with("GET ") || !line.ends_with("HTTP/1.1") || !is_upgrade) {
        return refuse("400 Bad Request",
                      "This port speaks AMQP 1.0 over WebSockets only. There is no administration "
                      "over HTTP.",
                      "the peer did not request a WebSocket");
    }
    if (without_slash(target.path) != without_slash(path_)) {
        return refuse("404 Not Found", "The WebSocket is at the path " + path_ + ".",
                      "the peer requested an unknown path");
    }
    if (!allows_origins_of(head, host)) {
        return refuse("403 Forbidden", "Web pages of this origin may not use this broker.",
                      "a web page of '" + core::peer_words(field(head, "Origin")) +
                          "' asks, whose origin is not allowed");
    }
    if (field(head, "Sec-WebSocket-Version") != "13") {
        return refuse("426 Upgrade Required", "The version of WebSocket is 13.",
                      "the peer speaks another version of WebSocket", "Sec-WebSocket-Version: 13");
    }
    if (named.empty() || !is_key(key)) {
        return refuse("400 Bad Request", "Host, or a Sec-WebSocket-Key of 16 bytes, is missing.",
                      "the peer's request breaks the rules of WebSocket");
    }
    const std::string_view protocol = protocol_in(head);
    if (protocol.empty()) {
        return refuse("400 Bad Request", "The subprotocols are " + all_protocols() + ".",
                      "the peer offers none of the subprotocols " + all_protocols());
    }
    output = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "
             "Upgrade\r\nSec-WebSocket-Accept: " +
             accept_of(key) + "\r\nSec-WebSocket-Protocol: " + std::string{protocol} +
             std::string{end_of_head};
    return State::done;
}

// A page in a browser can reach servers that only this machine reaches, and its user knows nothing
// of it.
bool WebSocketUpgrade::allows_origins_of(std::string_view head, std::string_view host) const {
    const auto is_own = [&](std::string_view origin) {
        const std::size_t scheme = origin.find(behind_scheme);
        return scheme != std::string_view::npos && !host.empty() &&
               are_alike(origin.substr(scheme + behind_scheme.size()), host) &&
               (is_over_tls_ || is_fixed(host));
    };
    bool is_allowed = true;
    find_field(head, "Origin", [&](std::string_view origin) {
        is_allowed = is_allowed &&
                     (is_own(origin) || std::ranges::any_of(origins_, [origin](const auto& one) {
                          return one == "*" || are_alike(one, origin);
                      }));
        return false; // all of them
    });
    return is_allowed;
}

WebSocketUpgrade::State WebSocketUpgrade::on_response(std::string_view head) {
    const std::string_view line = first_line(head);
    if (!line.starts_with("HTTP/1.1 101")) {
        return fail(line.starts_with("HTTP/") ? "the peer answered '" + core::peer_words(line) + "'"
                                              : "the peer does not speak HTTP");
    }
    if (field(head, "Sec-WebSocket-Accept") != accept_of(key_)) {
        return fail("the peer sent a wrong Sec-WebSocket-Accept");
    }
    if (protocol_in(head).empty()) {
        return fail("the peer accepts none of the subprotocols " + all_protocols());
    }
    return State::done;
}

/// In the words of AMQP, or in those that any other client takes for not its own.
WebSocketUpgrade::State WebSocketUpgrade::refuse_other_protocol() {
    const bool is_amqp = head_.starts_with("AMQP");
    output = is_amqp ? std::string{protocol_header}
                     : http_refusal("400 Bad Request",
                                    "This port speaks AMQP 1.0 over WebSockets only.");
    return fail(is_amqp ? "the peer speaks AMQP without a WebSocket"
                        : "the peer does not speak HTTP");
}

WebSocketUpgrade::State WebSocketUpgrade::fail(std::string text) {
    failure_ = std::move(text);
    return State::failed;
}

struct WebSocketFrames::Callbacks {
    static WebSocketFrames& of(void* self) { return *static_cast<WebSocketFrames*>(self); }

    static ssize_t receive(wslay_event_context_ptr context, std::uint8_t* to, std::size_t size, int,
                           void* self) {
        std::string_view& input = of(self).input_;
        if (input.empty()) {
            wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK);
            return -1;
        }
        const std::size_t count = std::min(size, input.size());
        std::memcpy(to, input.data(), count);
        input.remove_prefix(count);
        return static_cast<ssize_t>(count);
    }

    static ssize_t send(wslay_event_context_ptr, const std::uint8_t* data, std::size_t size, int,
                        void* self) {
        of(self).output_->append(reinterpret_cast<const char*>(data), size);
        return static_cast<ssize_t>(size);
    }

    static int mask(wslay_event_context_ptr, std::uint8_t* to, std::size_t size, void* self) {
        for (std::size_t i = 0; i < size; ++i) {
            to[i] = static_cast<std::uint8_t>(of(self).masks_.next());
        }
        return 0;
    }

    static void on_frame(wslay_event_context_ptr, const wslay_event_on_frame_recv_start_arg* frame,
                         void* self) {
        WebSocketFrames& frames = of(self);
        frames.is_data_ = !wslay_is_ctrl_frame(frame->opcode);
        frames.control_frames_ = frames.is_data_ ? 0 : frames.control_frames_ + 1;
    }

    static void on_chunk(wslay_event_context_ptr, const wslay_event_on_frame_recv_chunk_arg* chunk,
                         void* self) {
        if (of(self).is_data_) {
            of(self).payload_->append(reinterpret_cast<const char*>(chunk->data),
                                      chunk->data_length);
        }
    }

    static void on_message(wslay_event_context_ptr, const wslay_event_on_msg_recv_arg* message,
                           void* self) {
        of(self).closed_ = of(self).closed_ || message->opcode == WSLAY_CONNECTION_CLOSE;
    }
};

WebSocketFrames::WebSocketFrames(bool is_client) : masks_{seeded()} {
    static constexpr wslay_event_callbacks callbacks{
        Callbacks::receive,  Callbacks::send, Callbacks::mask,      Callbacks::on_frame,
        Callbacks::on_chunk, nullptr,         Callbacks::on_message};
    const int failed = is_client ? wslay_event_context_client_init(&context_, &callbacks, this)
                                 : wslay_event_context_server_init(&context_, &callbacks, this);
    if (failed != 0) {
        throw std::bad_alloc{};
    }
    wslay_event_config_set_no_buffering(context_, 1);
}

WebSocketFrames::~WebSocketFrames() { wslay_event_context_free(context_); }

// The engine queues an answer for each ping, at a multiple of its size. So it gets the bytes in
// slices, and each slice's answers are taken at once.
bool WebSocketFrames::input(std::string_view bytes, std::string& payload, std::string& answers) {
    constexpr std::size_t slice = 2048;
    bool is_well = true;
    payload_ = &payload;
    while (is_well && !bytes.empty()) {
        input_ = bytes.substr(0, slice);
        bytes.remove_prefix(input_.size());
        is_well = wslay_event_recv(context_) == 0 && wslay_event_get_read_enabled(context_) != 0 &&
                  control_frames_ <= most_control_frames;
        take(answers);
    }
    payload_ = nullptr;
    return is_well || closed_;
}

void WebSocketFrames::send(std::string_view payload) {
    const wslay_event_msg message{
        WSLAY_BINARY_FRAME, reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size()};
    wslay_event_queue_msg(context_, &message);
}

void WebSocketFrames::close() {
    wslay_event_queue_close(context_, WSLAY_CODE_NORMAL_CLOSURE, nullptr, 0);
}

void WebSocketFrames::take(std::string& to) {
    output_ = &to;
    wslay_event_send(context_);
    output_ = nullptr;
}

} // namespace sessionq::amqp
