// SPDX-License-Identifier: MIT
// Conditions and actions of subscription rules, applied to a message with a property of every type.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "broker/filter/compiled_rule.hpp"

using namespace sessionq;

namespace {

const DecodedContent& sample() {
    static const DecodedContent content{
        {.body = "body",
         .session_id = "s",
         .message_id = "m",
         .subject = "label",
         .properties = {{"b", true},
                        {"d", 2.5},
                        {"i", std::int64_t{-7}},
                        {"n", {}},
                        {"s", std::string{"a%b_c\xc3\xab"}},
                        {"t", WallTime{std::chrono::seconds{5}}},
                        {"u", std::uint64_t{0xffff'ffff'ffff'ffffU}},
                        {"x", std::vector<std::byte>(3)}}}};
    return content;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text{reinterpret_cast<const char*>(data), size};
    const Message outline = *sample().outline();
    broker::filter::Work work{UINT64_MAX};
    if (const auto condition =
            broker::filter::CompiledRule::make({.name = "r", .filter = SqlFilter{text}})) {
        static_cast<void>(condition.value().matches(outline, work));
    }
    if (const auto action = broker::filter::CompiledRule::make({.name = "r", .action = text})) {
        static_cast<void>(action.value().apply(sample(), outline, work));
    }
    return 0;
}
