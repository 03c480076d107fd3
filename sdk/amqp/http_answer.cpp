// SPDX-License-Identifier: MIT
#include "amqp/http_answer.hpp"

#include <algorithm>
#include <array>

namespace sessionq::amqp {
namespace {

constexpr std::array<std::string_view, 9> beginnings{
    "GET ", "PUT ", "POST ", "HEAD ", "PATCH ", "DELETE ", "OPTIONS ", "CONNECT ", "TRACE "};

} // namespace

bool is_http_request(std::string_view first) noexcept {
    return std::ranges::any_of(beginnings,
                               [first](std::string_view one) { return first.starts_with(one); });
}

bool may_become_http_request(std::string_view first) noexcept {
    return is_http_request(first) || std::ranges::any_of(beginnings, [first](std::string_view one) {
               return one.starts_with(first);
           });
}

std::string http_refusal(std::string_view status, std::string_view sentence,
                         std::string_view field) {
    return "HTTP/1.1 " + std::string{status} + (field.empty() ? "" : "\r\n") + std::string{field} +
           "\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " +
           std::to_string(sentence.size() + 1) + "\r\n\r\n" + std::string{sentence} + "\n";
}

} // namespace sessionq::amqp
