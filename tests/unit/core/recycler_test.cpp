// SPDX-License-Identifier: MIT
#include "core/recycler.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

using namespace sessionq::core;

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("Recycler: the last block given back is taken next, and no more blocks than allowed are "
          "cached") {
    Recycler recycler{64, 2};
    void* const first = recycler.take();
    void* const second = recycler.take();
    void* const third = recycler.take();
    for (void* memory : {first, second, third}) {
        std::memset(memory, 0xff, 64);
    }
    recycler.give_back(first);
    recycler.give_back(second);
    recycler.give_back(third);
    CHECK(recycler.cached() == 2);
    CHECK(recycler.take() == second);
    CHECK(recycler.take() == first);
    CHECK(recycler.cached() == 0);
    recycler.give_back(first);
    recycler.give_back(second);
}
#endif

TEST_CASE("Recycler: blocks for very small objects are large enough and aligned for any type") {
    Recycler recycler{1, 8};
    void* const small = recycler.take();
    CHECK(reinterpret_cast<std::uintptr_t>(small) % __STDCPP_DEFAULT_NEW_ALIGNMENT__ == 0);
    recycler.give_back(small);
}
