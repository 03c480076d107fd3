// SPDX-License-Identifier: MIT
#include "core/inbox.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace sessionq::core;

namespace {

struct Recorder final : Inbox {
    explicit Recorder(int name, std::vector<int>& order) : name_{name}, order_{order} {}
    void drain() noexcept override {
        order_.push_back(name_);
        if (then) {
            then();
        }
    }
    std::function<void()> then{};

private:
    int name_;
    std::vector<int>& order_;
};

} // namespace

TEST_CASE("inbox: a round drains each attached inbox once") {
    std::vector<int> order;
    Recorder a{1, order};
    Recorder b{2, order};
    InboxSet set;
    set.attach(a);
    set.attach(b);
    set.attach(a);
    set.drain_all();
    CHECK(order.size() == 2);
    InboxSet::detach(a);
    InboxSet::detach(a);
    order.clear();
    set.drain_all();
    CHECK(order == std::vector{2});
}

TEST_CASE("inbox: a drain may detach itself and others and attach new inboxes") {
    std::vector<int> order;
    Recorder late{3, order};
    Recorder b{2, order};
    Recorder a{1, order};
    InboxSet set;
    set.attach(a);
    set.attach(b);
    a.then = [&] {
        InboxSet::detach(a);
        InboxSet::detach(b);
        set.attach(late);
    };
    set.drain_all();
    CHECK(order == std::vector{1});
    set.drain_all();
    CHECK(order == std::vector{1, 3});
}

TEST_CASE("inbox: destroying an inbox detaches it") {
    std::vector<int> order;
    InboxSet set;
    {
        Recorder gone{1, order};
        set.attach(gone);
    }
    set.drain_all();
    CHECK(order.empty());
}
