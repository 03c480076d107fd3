// SPDX-License-Identifier: MIT
#include "tools/sessionq/json_text.hpp"

#include "amqp/base64.hpp"
#include "core/peer_words.hpp"
#include "core/utf8.hpp"

namespace sessionq::cli {

void put_text(Json& object, const std::string& name, std::string_view text) {
    if (core::is_utf8(text)) {
        object[name] = text;
    } else {
        object[name + "_base64"] = amqp::base64(text);
    }
}

std::string line_of(const Json& object) {
    std::string line =
        core::escape_peer_words(object.dump(-1, ' ', false, Json::error_handler_t::replace));
    line += '\n';
    return line;
}

} // namespace sessionq::cli
