// SPDX-License-Identifier: MIT
// A program of an application that has nlohmann/json, and messages with JSON: prints a number that
// went through one.
#include <iostream>
#include <memory>

#include <sessionq/json.hpp>

using nlohmann::json;
using namespace sessionq;

int main() {
    const json order{{"part", "bolt"}, {"count", 5}};
    const ReceivedMessage received{std::make_shared<const DecodedContent>(json_message(order)), {}};
    std::cout << json_of(received)["count"] << '\n';
}
