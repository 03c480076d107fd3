// SPDX-License-Identifier: MIT
#include "core/intrusive_list.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace sessionq::core;

namespace {

struct Other;
struct Item : ListHook<>, ListHook<Other> {
    explicit Item(char which) : name{which} {}
    char name;
};
using List = IntrusiveList<Item>;

std::string names(const List& list) {
    std::string text;
    for (const Item* each = list.front(); each != nullptr; each = list.next(*each)) {
        text += each->name;
    }
    return text;
}

} // namespace

TEST_CASE("intrusive list: items join and leave at both ends and in the middle, and leave when "
          "destroyed") {
    List list;
    CHECK(list.empty());
    CHECK(list.pop_front() == nullptr);
    CHECK(list.pop_back() == nullptr);
    Item a{'a'};
    Item b{'b'};
    {
        Item c{'c'};
        list.push_back(b);
        list.push_back(c);
        list.push_front(a);
        CHECK(names(list) == "abc");
        CHECK(list.front() == &a);
        CHECK(list.back() == &c);
        List::remove(b);
        CHECK(names(list) == "ac");
        List::remove(b); // not in the list: no effect
    }
    CHECK(names(list) == "a");
    CHECK(list.pop_back() == &a);
    CHECK(list.empty());
}

TEST_CASE("intrusive list: one object can be in two lists through two hooks") {
    List list;
    IntrusiveList<Item, Other> other;
    Item a{'a'};
    list.push_back(a);
    other.push_back(a);
    CHECK(list.pop_front() == &a);
    CHECK(other.front() == &a);
}

TEST_CASE("intrusive list: splicing appends all items of the other list") {
    List list;
    List more;
    Item a{'a'};
    Item b{'b'};
    Item c{'c'};
    list.push_back(a);
    more.push_back(b);
    more.push_back(c);
    list.splice_back(more);
    CHECK(names(list) == "abc");
    CHECK(more.empty());
    list.splice_back(more);
    CHECK(names(list) == "abc");
}
