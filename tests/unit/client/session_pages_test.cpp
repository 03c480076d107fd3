// SPDX-License-Identifier: MIT
#include "client/session_pages.hpp"

#include <doctest/doctest.h>

using sessionq::client::SessionPages;
using Next = SessionPages::Next;

namespace {

using Page = std::vector<std::string>;

Page full_page() { return Page(SessionPages::per_page, "id"); }

} // namespace

TEST_CASE("session pages: asks until a page is not full") {
    SessionPages pages;
    CHECK(pages.skip() == 0);
    CHECK(pages.add(full_page()) == Next::ask);
    CHECK(pages.skip() == 1000);
    CHECK(pages.add(full_page()) == Next::ask);
    CHECK(pages.add(Page(999, "id")) == Next::done);
    CHECK(pages.take().size() == 2999);
    CHECK(SessionPages{}.add({}) == Next::done);
}

TEST_CASE("session pages: stops where the ids take more than the bound") {
    constexpr std::size_t id_bytes = sizeof(std::string) + 2;
    SessionPages fits{2000 * id_bytes};
    CHECK(fits.add(full_page()) == Next::ask);
    CHECK(fits.add(full_page()) == Next::ask);
    CHECK(fits.add({}) == Next::done);
    SessionPages exceeds{2000 * id_bytes - 1};
    CHECK(exceeds.add(full_page()) == Next::ask);
    CHECK(exceeds.add(full_page()) == Next::too_much);
    CHECK(SessionPages{100}.add({std::string(200, 'x')}) == Next::too_much);
}
