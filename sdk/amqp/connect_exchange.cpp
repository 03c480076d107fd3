// SPDX-License-Identifier: MIT
#include "amqp/connect_exchange.hpp"

#include <charconv>

#include "amqp/base64.hpp"
#include "core/peer_words.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::string_view end_of_answer = "\r\n\r\n";
constexpr std::string_view version = "HTTP/1."; // one digit and a space follow
constexpr int proxy_authentication_required = 407;
constexpr int unauthorized = 401; // tinyproxy's answer to a wrong password

/// Returns the status of "HTTP/1.x NNN[ reason]", or 0 if the line is something else.
int status_of(std::string_view line) noexcept {
    int status = 0;
    if (!line.starts_with(version) || line.size() < version.size() + 5) {
        return 0;
    }
    line.remove_prefix(version.size() + 2);
    if (line.size() > 3 && line[3] != ' ') {
        return 0;
    }
    const auto read = std::from_chars(line.data(), line.data() + 3, status);
    return read.ec == std::errc{} && read.ptr == line.data() + 3 ? status : 0;
}

} // namespace

ConnectExchange::ConnectExchange(const Proxy& proxy, const core::HostPort& target)
    : proxy_{proxy}, target_{core::to_string(target)} {}

std::string ConnectExchange::request() const {
    std::string made = "CONNECT " + target_ + " HTTP/1.1\r\nHost: " + target_ + "\r\n";
    if (!proxy_.user.empty()) {
        made +=
            "Proxy-Authorization: Basic " + base64(proxy_.user + ":" + proxy_.password) + "\r\n";
    }
    return made + "\r\n";
}

std::optional<core::Result<core::Done>> ConnectExchange::input(std::string_view bytes) {
    answer_ += bytes;
    const std::size_t end = answer_.find(end_of_answer);
    if (end == std::string::npos) {
        if (answer_.size() > longest_answer) {
            return refused("its answer is longer than 16 KiB");
        }
        return std::nullopt;
    }
    const std::string_view line = std::string_view{answer_}.substr(0, answer_.find("\r\n"));
    auto judged = judge(line);
    if (judged.ok() && answer_.size() > end + end_of_answer.size()) {
        // The client speaks first in all that a tunnel is for.
        return refused("it sent something behind its answer");
    }
    return judged;
}

Failure ConnectExchange::ended() const {
    return refused(answer_.empty() ? "it closed the connection without an answer"
                                   : "it closed the connection within its answer");
}

core::Result<core::Done> ConnectExchange::judge(std::string_view status_line) const {
    const int status = status_of(status_line);
    if (status == 0) {
        return refused("it did not answer in HTTP/1.1");
    }
    if (status >= 200 && status < 300) {
        return core::Done{};
    }
    Failure failure =
        refused("it answered '" + core::peer_words(status_line.substr(version.size() + 2)) + "'");
    if (status == proxy_authentication_required || status == unauthorized) {
        failure.code = Errc::unauthorized;
        failure.detail += proxy_.user.empty() ? "; set HttpProxy::user and HttpProxy::password"
                                              : "; check HttpProxy::user and HttpProxy::password";
    }
    return failure;
}

Failure ConnectExchange::refused(const std::string& why) const {
    return {.code = Errc::connection_refused,
            .detail = "the proxy " + core::to_string(proxy_.at) + " opened no tunnel to " +
                      target_ + ": " + why};
}

} // namespace sessionq::amqp
