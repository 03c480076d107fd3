// SPDX-License-Identifier: MIT
#include "broker/session_order.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <random>

#include "broker/session.hpp"

using namespace sessionq::broker;

namespace {

/// Sessions beside a plain list of the ids that must be shown.
struct Sessions {
    struct One {
        std::string id;
        Session session{};
        bool is_in{true};
    };

    One& add() {
        One& one = all.emplace_back(std::to_string(all.size()));
        one.session.id = &one.id;
        order.append(one.session);
        return one;
    }
    void remove(One& one) {
        order.remove(one.session);
        one.is_in = false;
    }

    [[nodiscard]] std::vector<std::string> expected(std::size_t skip, std::size_t top) const {
        std::vector<std::string> ids;
        for (const One& one : all) {
            if (one.is_in && one.session.position.is_shown) {
                if (skip > 0) {
                    --skip;
                } else if (ids.size() < top) {
                    ids.push_back(one.id);
                }
            }
        }
        return ids;
    }
    void check_walk() const {
        const Session* at = order.oldest();
        for (const One& one : all) {
            if (one.is_in) {
                REQUIRE(at == &one.session);
                at = order.after(*at);
            }
        }
        REQUIRE(at == nullptr);
    }

    std::deque<One> all{};
    SessionOrder order{&Session::position};
};

} // namespace

TEST_CASE("session order: lists what is shown, at the edges of a block too") {
    Sessions sessions;
    CHECK(sessions.order.list(0, 10).empty());
    CHECK(sessions.order.oldest() == nullptr);
    for (int i = 0; i < 130; ++i) {
        sessions.order.show(sessions.add().session, i != 64);
    }
    CHECK(sessions.order.list(0, 0).empty());
    CHECK(sessions.order.list(63, 2) == std::vector<std::string>{"63", "65"});
    CHECK(sessions.order.list(64, 1) == std::vector<std::string>{"65"});
    CHECK(sessions.order.list(128, 10) == std::vector<std::string>{"129"});
    CHECK(sessions.order.list(129, 10).empty());
    CHECK(sessions.order.list(1'000'000, 10).empty());
    CHECK(sessions.order.list(0, 1'000).size() == 129);
    sessions.check_walk();
}

TEST_CASE("session order: the end moves when the last block is emptied") {
    Sessions sessions;
    for (int round = 0; round < 3; ++round) {
        std::vector<Sessions::One*> added;
        for (int i = 0; i < 65; ++i) {
            added.push_back(&sessions.add());
            sessions.order.show(added.back()->session, true);
        }
        for (auto one = added.rbegin(); one != added.rend() - round; ++one) {
            sessions.remove(**one);
        }
        sessions.check_walk();
        CHECK(sessions.order.list(0, 200) == sessions.expected(0, 200));
    }
}

TEST_CASE("session order: any order of changes gives the lists of a plain walk") {
    Sessions sessions;
    std::mt19937 random{3};
    for (int round = 0; round < 20'000; ++round) {
        if (sessions.all.empty() || random() % 3 == 0) {
            sessions.add();
        }
        Sessions::One& one = sessions.all[random() % sessions.all.size()];
        if (one.is_in) {
            if (random() % 3 == 0) {
                sessions.remove(one);
            } else {
                sessions.order.show(one.session, random() % 2 == 0);
            }
        }
        if (round % 97 == 0) {
            const std::size_t skip = random() % 3'000;
            const std::size_t top = random() % 200;
            REQUIRE(sessions.order.list(skip, top) == sessions.expected(skip, top));
            sessions.check_walk();
        }
    }
}

TEST_CASE("session order: lists skip to anywhere among thousands of sessions that come and go") {
    Sessions sessions;
    for (int round = 0; round < 3; ++round) {
        const std::size_t first = sessions.all.size();
        for (int i = 0; i < 2'048; ++i) {
            sessions.order.show(sessions.add().session, i % 3 != 0);
        }
        if (round != 1) { // all of these go, also the last of a full group
            for (std::size_t i = first; i < sessions.all.size(); ++i) {
                sessions.remove(sessions.all[i]);
            }
        }
        sessions.check_walk();
        for (const std::size_t skip : {0U, 1U, 1'300U, 1'364U, 1'365U, 1'366U}) {
            CHECK(sessions.order.list(skip, 20) == sessions.expected(skip, 20));
        }
    }
    sessions.order.show(sessions.add().session, true);
    CHECK(sessions.order.list(1'364, 20) == sessions.expected(1'364, 20));
    sessions.check_walk();
}

TEST_CASE("session order: a list may begin behind those that are before it") {
    Sessions sessions;
    for (int i = 0; i < 5'000; ++i) { // three groups
        Sessions::One& one = sessions.add();
        one.session.state_set_at = sessionq::WallTime{std::chrono::seconds{i / 3}};
        sessions.order.show(one.session, i % 5 != 0);
    }
    for (std::size_t i = 1'000; i < 3'500; ++i) {
        sessions.remove(sessions.all[i]);
    }
    for (const int since : {-1, 0, 332, 333, 700, 1'166, 1'200, 1'665, 1'666, 9'999}) {
        CAPTURE(since);
        const auto before = [&](const Session& session) {
            return session.state_set_at <= sessionq::WallTime{std::chrono::seconds{since}};
        };
        std::vector<std::string> expected;
        for (const auto& one : sessions.all) {
            if (one.is_in && one.session.position.is_shown && !before(one.session)) {
                expected.push_back(one.id);
            }
        }
        CHECK(sessions.order.list_from(before, 0, 10'000) == expected);
        const std::size_t skip = std::min<std::size_t>(expected.size(), 700);
        const std::size_t end = std::min<std::size_t>(expected.size(), skip + 50);
        CHECK(sessions.order.list_from(before, skip, 50) ==
              std::vector<std::string>(expected.begin() + static_cast<std::ptrdiff_t>(skip),
                                       expected.begin() + static_cast<std::ptrdiff_t>(end)));
    }
}
