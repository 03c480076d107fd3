// SPDX-License-Identifier: MIT
#include "client/browsing/session_pages.hpp"

#include <doctest/doctest.h>

using sessionq::detail::client::SessionPages;
using Next = SessionPages::Next;

namespace {

using Page = std::vector<std::string>;

/// A page of ids of six characters, the first of which has this number.
Page page_from(int first, std::size_t size = SessionPages::per_page) {
    Page page;
    for (std::size_t i = 0; i < size; ++i) {
        page.push_back(std::to_string(100'000 + first + static_cast<int>(i)));
    }
    return page;
}

} // namespace

TEST_CASE("session pages: asks until a page is not full") {
    SessionPages pages;
    CHECK(pages.skip() == 0);
    CHECK(pages.add(page_from(0)) == Next::ask);
    CHECK(pages.skip() == 1000);
    CHECK(pages.add(page_from(1000)) == Next::ask);
    CHECK(pages.add(page_from(2000, 999)) == Next::done);
    const Page all = pages.take();
    CHECK(all.size() == 2999);
    CHECK(all.front() == "100000");
    CHECK(all.back() == "102998");
    CHECK(SessionPages{}.add({}) == Next::done);
}

TEST_CASE("session pages: stops where the ids take more than the bound") {
    constexpr std::size_t id_bytes = sizeof(std::string) + 6;
    SessionPages fits{2000 * id_bytes};
    CHECK(fits.add(page_from(0)) == Next::ask);
    CHECK(fits.add(page_from(1000)) == Next::ask);
    CHECK(fits.add({}) == Next::done);
    SessionPages exceeds{2000 * id_bytes - 1};
    CHECK(exceeds.add(page_from(0)) == Next::ask);
    CHECK(exceeds.add(page_from(1000)) == Next::too_much);
    CHECK(SessionPages{100}.add({std::string(200, 'x')}) == Next::too_much);
}

TEST_CASE("session pages: a broker that lists the same sessions again and again is found out") {
    SessionPages pages;
    CHECK(pages.add(page_from(0)) == Next::ask);
    CHECK(pages.add(page_from(1)) == Next::ask); // one is new: others left while it listed them
    CHECK(pages.skip() == 2000);
    CHECK(pages.add(page_from(0)) == Next::repeats);
    SessionPages one;
    CHECK(one.add(Page(SessionPages::per_page, "id")) == Next::ask);
    CHECK(one.add(Page(SessionPages::per_page, "id")) == Next::repeats);
}

TEST_CASE("session pages: each session is listed once") {
    SessionPages pages;
    CHECK(pages.add({"b", "a", "b"}) == Next::done);
    CHECK(pages.take() == Page{"b", "a"});
}
