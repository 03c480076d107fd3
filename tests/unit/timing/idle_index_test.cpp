// SPDX-License-Identifier: MIT
#include "timing/idle_index.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <vector>

using namespace sessionq;
using namespace sessionq::timing;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint start{1h};

using Report = std::vector<std::pair<const IdleEntry*, IdleKind>>;

Report advance(IdleIndex& index, TimePoint now) {
    Report report;
    index.advance(now, [&](IdleEntry& entry, IdleKind kind) { report.emplace_back(&entry, kind); });
    return report;
}

constexpr auto reading = IdleKind::read;
constexpr auto writing = IdleKind::write;

} // namespace

TEST_CASE("idle index: an empty index has no wake-up") {
    IdleIndex index{start};
    CHECK_FALSE(index.next_wakeup());
    CHECK(advance(index, start + 24h).empty());
}

TEST_CASE("idle index: reading and writing turn idle separately, once each") {
    IdleIndex index{start};
    IdleEntry entry{30s, 10s};
    index.add(entry, start);
    CHECK(index.next_wakeup() == start + 10s);
    CHECK(advance(index, start + 10s - 1ns).empty());
    CHECK(advance(index, start + 10s) == Report{{&entry, writing}});
    CHECK(index.next_wakeup() == start + 30s);
    CHECK(advance(index, start + 30s) == Report{{&entry, reading}});
    CHECK_FALSE(index.next_wakeup());
    CHECK(advance(index, start + 2h).empty());
}

TEST_CASE("idle index: reports never early and at most a second late") {
    IdleIndex index{start};
    IdleEntry entry{1500ms, 0s};
    index.add(entry, start + 700ms);
    CHECK(index.next_wakeup() == start + 3s);
    CHECK(advance(index, start + 2200ms).empty());
    CHECK(advance(index, start + 2999ms).empty());
    CHECK(advance(index, start + 3s) == Report{{&entry, reading}});
}

TEST_CASE("idle index: activity moves an entry, and watches a reported entry again") {
    IdleIndex index{start};
    IdleEntry entry{10s, 0s};
    index.add(entry, start);
    index.on_read(entry, start + 5s);
    index.on_read(entry, start + 5s + 1ms);
    index.on_write(entry, start + 5s); // reported, so not watched
    CHECK(advance(index, start + 15s).empty());
    CHECK(advance(index, start + 16s) == Report{{&entry, reading}});
    index.on_read(entry, start + 20s);
    CHECK(index.next_wakeup() == start + 30s);
    CHECK(advance(index, start + 30s) == Report{{&entry, reading}});
}

TEST_CASE("idle index: several missed seconds are handled in one pass, in order") {
    IdleIndex index{start, 20s};
    IdleEntry late{19s, 0s};
    IdleEntry early{2s, 3s};
    IdleEntry not_yet{20s, 0s};
    index.add(late, start);
    index.add(early, start);
    index.add(not_yet, start + 1s);
    CHECK(advance(index, start + 20s) ==
          Report{{&early, reading}, {&late, reading}, {&early, writing}});
    CHECK(advance(index, start + 10h) == Report{{&not_yet, reading}});
}

TEST_CASE("idle index: an idle time longer than the circle is honoured, not clamped") {
    IdleIndex index{start, 10s};
    IdleEntry entry{35s, 0s};
    index.add(entry, start);
    for (int second = 1; second < 35; ++second) {
        CHECK(advance(index, start + std::chrono::seconds{second}).empty());
        CHECK(index.next_wakeup().value() <= start + 35s);
    }
    CHECK(index.next_wakeup() == start + 35s);
    CHECK(advance(index, start + 35s) == Report{{&entry, reading}});

    IdleEntry jumped{35s, 0s};
    index.add(jumped, start + 35s);
    CHECK(advance(index, start + 69s).empty()); // more than a round at once
    CHECK(advance(index, start + 70s) == Report{{&jumped, reading}});
}

TEST_CASE("idle index: an infinite idle time never fires and causes no wake-up") {
    IdleIndex index{start};
    IdleEntry entry{Duration::max(), Duration::max() - 1s};
    index.add(entry, start);
    CHECK_FALSE(index.next_wakeup());
    CHECK(advance(index, start + 24h * 365).empty());
}

TEST_CASE("idle index: a disabled entry is not reported, and counts from the last activity once "
          "enabled again") {
    IdleIndex index{start};
    IdleEntry entry{10s, 0s};
    index.add(entry, start);
    index.set_idle(entry, reading, 0s);
    CHECK(entry.idle(reading) == 0s);
    CHECK_FALSE(index.next_wakeup());
    CHECK(advance(index, start + 2s).empty());
    index.set_idle(entry, reading, 5s);
    CHECK(index.next_wakeup() == start + 5s);
    CHECK(advance(index, start + 5s) == Report{{&entry, reading}});
    index.set_idle(entry, reading, 20s); // reported: the next activity starts a new period
    CHECK_FALSE(index.next_wakeup());
}

TEST_CASE("idle index: whether an entry is enabled and idle is decided when it fires") {
    IdleIndex index{start};
    IdleEntry first{10s, 0s};
    IdleEntry disabled{10s, 0s};
    IdleEntry lengthened{10s, 0s};
    IdleEntry shortened{10s, 0s};
    for (IdleEntry* entry : {&first, &disabled, &lengthened, &shortened}) {
        index.add(*entry, start);
    }
    Report report;
    index.advance(start + 10s, [&](IdleEntry& entry, IdleKind kind) {
        report.emplace_back(&entry, kind);
        if (&entry == &first) {
            index.set_idle(disabled, reading, 0s);
            index.set_idle(lengthened, reading, 15s);
            index.set_idle(shortened, reading, 5s);
        }
    });
    CHECK(report == Report{{&first, reading}});
    CHECK(advance(index, start + 11s) == Report{{&shortened, reading}});
    CHECK(advance(index, start + 15s) == Report{{&lengthened, reading}});
    CHECK_FALSE(index.next_wakeup());
}

TEST_CASE("idle index: a changed idle time counts from the last activity") {
    IdleIndex index{start};
    IdleEntry longer{10s, 0s};
    IdleEntry shorter{50s, 0s};
    IdleEntry over{50s, 0s};
    index.add(longer, start);
    index.add(shorter, start);
    index.add(over, start);
    CHECK(advance(index, start + 5s).empty());
    index.set_idle(longer, reading, 30s);
    index.set_idle(shorter, reading, 20s);
    index.set_idle(over, reading, 1s);
    CHECK(advance(index, start + 6s) == Report{{&over, reading}});
    CHECK(advance(index, start + 10s).empty());
    CHECK(advance(index, start + 20s) == Report{{&shorter, reading}});
    CHECK(advance(index, start + 30s) == Report{{&longer, reading}});
}

TEST_CASE("idle index: a removed or destroyed entry is not reported") {
    IdleIndex index{start};
    IdleEntry removed{10s, 10s};
    auto destroyed = std::make_unique<IdleEntry>(10s, 10s);
    index.add(removed, start);
    index.add(*destroyed, start);
    index.remove(removed);
    index.remove(removed);
    index.set_idle(removed, writing, 5s);
    destroyed.reset();
    CHECK_FALSE(index.next_wakeup());
    CHECK(advance(index, start + 1h).empty());
}

TEST_CASE("idle index: the visitor may remove, destroy and update entries") {
    IdleIndex index{start};
    auto first = std::make_unique<IdleEntry>(10s, 10s);
    auto destroyed = std::make_unique<IdleEntry>(10s, 10s);
    IdleEntry removed{10s, 10s};
    IdleEntry active{10s, 10s};
    IdleEntry disabled{10s, 0s};
    for (IdleEntry* entry : {first.get(), destroyed.get(), &removed, &active, &disabled}) {
        index.add(*entry, start);
    }
    Report report;
    index.advance(start + 10s, [&](IdleEntry& entry, IdleKind kind) {
        report.emplace_back(&entry, kind);
        if (&entry == first.get()) {
            first.reset();
            destroyed.reset();
            index.remove(removed);
            index.on_read(active, start + 10s);
            index.set_idle(disabled, reading, 0s);
        }
    });
    REQUIRE(report.size() == 2);
    CHECK(report[0].second == reading);
    CHECK(report[1] == std::pair<const IdleEntry*, IdleKind>{&active, writing});
    CHECK(index.next_wakeup() == start + 20s);
}

TEST_CASE("idle index: entries may outlive it") {
    IdleEntry entry{10s, 10s};
    {
        IdleIndex index{start};
        index.add(entry, start);
    }
    IdleIndex another{start};
    another.set_idle(entry, writing, 5s);
    CHECK_FALSE(another.next_wakeup());
    another.add(entry, start);
    CHECK(another.next_wakeup() == start + 5s);
}

TEST_CASE("idle index: agrees with a plain table over random histories") {
    struct Row {
        Duration idle{0};
        TimePoint active{};
        bool watched{false};
    };
    for (unsigned seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random{seed};
        const auto below = [&](std::uint64_t limit) {
            return static_cast<Duration::rep>(random() % limit);
        };
        const auto random_idle = [&] {
            return below(5) == 0 ? Duration{0} : Duration{below(90'000'000'000)};
        };

        IdleIndex index{start, 40s};
        std::deque<IdleEntry> entries;
        std::vector<Row> rows;
        for (int i = 0; i < 30; ++i) {
            rows.push_back({.idle = random_idle()});
            entries.emplace_back(rows.back().idle, 0s);
        }
        TimePoint now = start;
        for (int step = 0; step < 1'000; ++step) {
            now += Duration{below(700'000'000)};
            const auto i = static_cast<std::size_t>(below(entries.size()));
            Row& row = rows[i];
            switch (below(6)) {
            case 0:
                index.remove(entries[i]);
                row.watched = false;
                break;
            case 1:
                row.idle = random_idle();
                index.set_idle(entries[i], reading, row.idle);
                break;
            case 2:
            case 3:
                index.on_read(entries[i], now);
                row.active = now;
                row.watched = true;
                break;
            case 4: now += Duration{below(100'000'000'000)}; [[fallthrough]];
            default:
                now = std::max(now, index.next_wakeup().value_or(now));
                const auto reported = advance(index, now);
                for (const auto& [entry, kind] : reported) {
                    Row& idle = rows[static_cast<std::size_t>(
                        std::ranges::find_if(entries, [&](auto& e) { return &e == entry; }) -
                        entries.begin())];
                    REQUIRE(idle.watched);
                    REQUIRE(idle.idle > 0s);
                    REQUIRE(idle.active + idle.idle <= now);
                    idle.watched = false;
                }
                for (const Row& other : rows) {
                    const bool overdue =
                        other.watched && other.idle > 0s && other.active + other.idle <= now - 1s;
                    REQUIRE_FALSE(overdue);
                }
            }
        }
    }
}
