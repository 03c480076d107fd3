#include "core/recycler.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

using namespace sessionq::core;

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("Recycler: what is given back is what is taken next, the last first, and no more is kept "
          "than was said") {
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
    CHECK(recycler.kept() == 2);
    CHECK(recycler.take() == second);
    CHECK(recycler.take() == first);
    CHECK(recycler.kept() == 0);
    recycler.give_back(first);
    recycler.give_back(second);
}
#endif

TEST_CASE(
    "Recycler: objects smaller than what it keeps account with have room, aligned for anything") {
    Recycler recycler{1, 8};
    void* const small = recycler.take();
    CHECK(reinterpret_cast<std::uintptr_t>(small) % __STDCPP_DEFAULT_NEW_ALIGNMENT__ == 0);
    recycler.give_back(small);
}
