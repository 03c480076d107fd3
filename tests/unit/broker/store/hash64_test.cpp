// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include "broker/store/hash64.hpp"

using namespace sessionq::broker;

TEST_CASE("hash64: gives the known answers of XXH64, around each length where it changes its way") {
    std::string bytes;
    for (int i = 0; i < 300; ++i) {
        bytes.push_back(static_cast<char>(i * 7 + 3));
    }
    constexpr std::uint64_t seed = 0x9e3779b97f4a7c15U;
    struct Answer {
        std::size_t length;
        std::uint64_t without_seed;
        std::uint64_t with_seed;
    };
    for (const Answer& answer : {
             Answer{0, 0xef46db3751d8e999U, 0xc4349fc93c010000U},
             {1, 0x1f25c8d0bc1f4bb6U, 0x79826bcd749d267aU},
             {3, 0x31d2363f52e564c9U, 0x78efd77575e26575U},
             {4, 0x9bb64b7d66ee9fdaU, 0x6f0a6c97d68bf353U},
             {7, 0x9a7b149959ce60d8U, 0xd97ede93c9d66a0dU},
             {8, 0xdab99d95c6f90092U, 0xa2f1e28437a78a1bU},
             {12, 0xd52e407833af5133U, 0xbcc9f0d616ff9a7bU},
             {31, 0xa2aa5f33cc4a6119U, 0x755437271d1d0a84U},
             {32, 0x23c3c17ef790fd97U, 0xbf624b932c090428U},
             {33, 0x50a7cfc7ba588784U, 0x7aceaf1e9d34ea35U},
             {63, 0x5e3e54b431c7493cU, 0x2c8ddce5c85d0d9dU},
             {64, 0x0eb64b3ef6eeb01fU, 0x4af341f14e3a6fc9U},
             {100, 0xa61f8d4c170fe531U, 0xf6d8f65c625abb4fU},
             {300, 0x240004dbee0ba6dcU, 0x4724ccb36f2aee62U},
         }) {
        CAPTURE(answer.length);
        CHECK(hash64(bytes.substr(0, answer.length), 0) == answer.without_seed);
        CHECK(hash64(bytes.substr(0, answer.length), seed) == answer.with_seed);
    }
    CHECK(hash64("abc", 0) == 0x44bc2cf5ad770999U);
}
