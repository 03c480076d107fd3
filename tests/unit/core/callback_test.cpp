// SPDX-License-Identifier: MIT
#include <sessionq/callback.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

using namespace sessionq;

namespace {

using TextLength = Callback<std::size_t(const std::string&)>;

struct TakesNumbers {
    std::size_t operator()(int number) const { return static_cast<std::size_t>(number); }
};

struct NextNumber {
    [[nodiscard]] int next() const { return last + 1; }
    int last{0};
};

struct ReturnsNothing {
    void operator()(const std::string& /*text*/) const {}
};

} // namespace

static_assert(std::is_constructible_v<TextLength, std::size_t (*)(const std::string&)>);
static_assert(!std::is_constructible_v<TextLength, TakesNumbers>);
static_assert(!std::is_constructible_v<TextLength, ReturnsNothing>);
static_assert(!std::is_constructible_v<TextLength, int>);
static_assert(std::is_copy_constructible_v<TextLength>);

TEST_CASE("callback: calls the function, which need not be copyable") {
    const TextLength plain = [](const std::string& text) { return text.size(); };
    CHECK(plain("four") == 4);
    const TextLength owning = [more = std::make_unique<std::size_t>(2)](const std::string& text) {
        return text.size() + *more;
    };
    CHECK(owning("four") == 6);
    const Callback<int(const NextNumber&)> member = &NextNumber::next;
    CHECK(member(NextNumber{}) == 1);
}

TEST_CASE("callback: what the function returns may be ignored") {
    int calls = 0;
    const Callback<void()> copyable = [&calls] { return ++calls; };
    copyable();
    const Callback<void()> owning = [&calls, one = std::make_unique<int>(1)] {
        return calls += *one;
    };
    owning();
    CHECK(calls == 2);
}

TEST_CASE("callback: takes arguments that cannot be copied, and passes references on") {
    int last = 0;
    const Callback<void(std::unique_ptr<int>, int&)> keep =
        [none = std::unique_ptr<int>{}](std::unique_ptr<int> given, int& out) { out = *given; };
    keep(std::make_unique<int>(7), last);
    CHECK(last == 7);
}

TEST_CASE("callback: copies share a function that cannot be copied, and have their own otherwise") {
    const Callback<int()> sharing = [count = std::make_unique<int>(0)] { return ++*count; };
    const Callback<int()> shared = sharing;
    CHECK(sharing() == 1);
    CHECK(shared() == 2);
    const Callback<int()> counting = [count = 0]() mutable { return ++count; };
    const Callback<int()> own = counting;
    CHECK(counting() == 1);
    CHECK(own() == 1);
}

TEST_CASE("callback: empty") {
    CHECK_FALSE(TextLength{});
    CHECK_FALSE(TextLength{nullptr});
    CHECK_FALSE(TextLength{std::function<std::size_t(const std::string&)>{}});
    TextLength cleared = [](const std::string& text) { return text.size(); };
    CHECK(cleared);
    cleared = nullptr;
    CHECK_FALSE(cleared);
}
