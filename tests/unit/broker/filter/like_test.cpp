// SPDX-License-Identifier: MIT
#include "broker/filter/like.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

using namespace sessionq::broker::filter;

namespace {

bool matches(std::string_view text, std::string_view pattern,
             std::optional<char32_t> escape = std::nullopt) {
    Work work{0};
    return is_like(text, pattern, escape, work);
}

std::uint64_t steps(std::string_view text, std::string_view pattern) {
    Work work{0};
    static_cast<void>(is_like(text, pattern, std::nullopt, work));
    return work.done();
}

/// The definition of LIKE for ASCII, by trying all that `%` may match.
bool matches_by_definition(std::string_view text, std::string_view pattern, char escape) {
    if (pattern.empty()) {
        return text.empty();
    }
    if (pattern.front() == '%') {
        for (std::size_t taken = 0; taken <= text.size(); ++taken) {
            if (matches_by_definition(text.substr(taken), pattern.substr(1), escape)) {
                return true;
            }
        }
        return false;
    }
    if (text.empty()) {
        return false;
    }
    const bool is_escaped = pattern.front() == escape && pattern.size() > 1;
    if (is_escaped) {
        pattern.remove_prefix(1);
    }
    const bool takes_any = pattern.front() == '_' && !is_escaped;
    return (takes_any || pattern.front() == text.front()) &&
           matches_by_definition(text.substr(1), pattern.substr(1), escape);
}

/// Whether a text matches, which must be as defined.
bool matches_as_defined(std::string_view text, std::string_view pattern) {
    const bool expected = matches_by_definition(text, pattern, '!');
    INFO(text, " LIKE ", pattern);
    REQUIRE(matches(text, pattern, U'!') == expected);
    return expected;
}

std::string repeated(std::string_view text, std::size_t times) {
    std::string made;
    for (std::size_t i = 0; i < times; ++i) {
        made += text;
    }
    return made;
}

std::string random_text(std::mt19937& random, std::string_view letters, std::size_t longest) {
    std::string made(random() % (longest + 1), ' ');
    for (char& letter : made) {
        letter = letters[random() % letters.size()];
    }
    return made;
}

} // namespace

TEST_CASE("LIKE: random patterns match as defined") {
    std::mt19937 random{7};
    std::size_t matched = 0;
    for (int round = 0; round < 50'000; ++round) {
        const std::string text = random_text(random, "aab%_!", 10);
        const std::string pattern = random_text(random, "aab%%_!", 8);
        matched += matches_as_defined(text, pattern) ? 1 : 0;
    }
    CHECK(matched > 1'000);
}

TEST_CASE("LIKE: parts longer than a word of 64 characters match as defined") {
    std::mt19937 random{8};
    std::size_t matched = 0;
    for (int round = 0; round < 2'000; ++round) {
        const std::string text = repeated("a", 40 + random() % 200) + random_text(random, "ab", 3) +
                                 repeated("a", random() % 150);
        std::string part = text.substr(random() % 30, 60 + random() % 80);
        part[random() % part.size()] = random() % 3 == 0 ? 'b' : '_';
        const std::string pattern = "%" + part + (random() % 2 == 0 ? "%" : "");
        matched += matches_as_defined(text, pattern) ? 1 : 0;
    }
    CHECK(matched > 200);
    CHECK(matched < 1'900);
}

TEST_CASE("LIKE: _ matches one character, also of several bytes; an invalid byte is a character") {
    CHECK(matches("Zoë", "Zo_"));
    CHECK(matches("xxZoëyy", "%o_y%"));
    CHECK(matches("日本語", "%本_"));
    CHECK_FALSE(matches("日本語", "%本__"));
    CHECK(matches("\xc3"
                  "a",
                  "_a"));
    CHECK(matches("a\xf0\x9f", "a__"));
    for (const char* each : {"\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xef\xbf\xbd",
                             "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
        CAPTURE(each);
        CHECK(matches(each, "_")); // the first and last character of each length
    }
    CHECK_FALSE(matches("\xe9"
                        "a",
                        "é_%")); // an invalid byte is not the character of its number
    CHECK_FALSE(matches("x\xe9"
                        "a",
                        "%é%_"));
    CHECK(matches("\xe9"
                  "a",
                  "\xe9_"));
    CHECK_FALSE(matches("é", "%\xc3%")); // nor a part of a character
    CHECK_FALSE(matches("é", "%\xa9"));
    CHECK(matches("xé\xa9y", "%\xa9y"));
    CHECK(matches("日", "日", U'日')); // nothing to escape
    CHECK(matches("%", "日%", U'日'));
    CHECK_FALSE(matches("x", "日%", U'日'));
}

TEST_CASE(
    "LIKE: long parts without _ match as defined, and a character costs three steps at most") {
    std::mt19937 random{9};
    std::size_t matched = 0;
    for (int round = 0; round < 2'000; ++round) {
        const std::string period = random_text(random, "ab", 5) + "a";
        const std::string text = random_text(random, "ab", 40) +
                                 repeated(period, 40 + random() % 40) +
                                 random_text(random, "ab", 40);
        std::string part = text.substr(random() % 30, 129 + random() % 60);
        if (random() % 2 == 0) {
            part[random() % part.size()] = 'b';
        }
        const std::string pattern = "%" + part + (random() % 3 == 0 ? "" : "%");
        matched += matches_as_defined(text, pattern) ? 1 : 0;
    }
    CHECK(matched > 500);
    CHECK(matched < 1'500);

    const std::string part = repeated("a", 450) + "b" + repeated("a", 450);
    const std::uint64_t for_pattern = steps("", "%" + part + "%");
    const std::string rare = repeated("a", 1'000'000);
    CHECK(steps(rare, "%" + part + "%") == rare.size() / 8 + for_pattern);
    CHECK(steps(rare, "%" + part) <= for_pattern + part.size() / 8); // only the end is compared
    const std::string frequent = repeated("aaab", 250'000);
    CHECK(steps(frequent, "%" + part + "%") > 2 * frequent.size() - 10'000);
    CHECK(steps(frequent, "%" + part + "%") <= 2 * frequent.size() + for_pattern);
    const std::string seldom = repeated(repeated("a", 119) + "b", 8'000);
    CHECK(steps(seldom, "%" + part + "%") > seldom.size()); // the comparisons count
    CHECK(steps(seldom, "%" + part + "%") < seldom.size() * 3 / 2);
    CHECK(for_pattern > 20 * part.size()); // it is read each time
    const std::string with_any_one = "%" + repeated("a", 900) + "_b%";
    CHECK(steps(rare, with_any_one) == 15 * rare.size() + steps("", with_any_one));
}

TEST_CASE("LIKE: what was escaped and characters of several bytes are found as bytes") {
    for (const int times : {1, 3, 40, 90}) {
        const std::string part = repeated("日%_本", times);
        const std::string pattern = repeated("日!%!_本", times);
        const std::string texts[] = {part, "xx" + part, part + "本", "日" + part + "日本"};
        for (const std::string& text : texts) {
            INFO(text);
            CHECK(matches(text, "%" + pattern + "%", U'!'));
            CHECK(matches(text, "%" + pattern, U'!') == text.ends_with(part));
            CHECK(matches(text, "%" + pattern + "_", U'!') == (text == part + "本"));
            CHECK(matches(text, "_%" + pattern + "%", U'!') == (text.find(part, 1) != text.npos));
        }
        const std::string other = repeated("日%_本", times - 1) + "日%x本";
        CHECK_FALSE(matches(other, "%" + pattern + "%", U'!'));
        CHECK_FALSE(matches(other, "%" + pattern, U'!'));
        CHECK(matches(part + part, "%" + pattern + "%" + pattern, U'!')); // one behind the other
        CHECK_FALSE(matches(part + part.substr(3), "%" + pattern + "%" + pattern, U'!'));
        CHECK_FALSE(matches(part, "%" + pattern + "%" + pattern + "%", U'!'));
    }
}

TEST_CASE("LIKE: the steps grow with the length of the text, whatever the pattern") {
    const std::string text = repeated("a", 1'000'000);
    const std::string patterns[] = {
        "%" + repeated("a", 900) + "b%", "%" + repeated("a%", 450) + "b",
        "%" + repeated("_", 900) + "b%", "%" + repeated("a_", 450) + "b",
        repeated("%a", 500) + "b",       "%" + repeated("a", 450) + "b" + repeated("a", 450) + "%",
        "%b" + repeated("a", 900),       "%" + repeated("_%", 400) + "b%",
    };
    for (const std::string& pattern : patterns) {
        INFO(pattern);
        CHECK_FALSE(matches(text, pattern));
        CHECK(steps(text, pattern) <= most_like_steps(text.size(), pattern.size()));
        // 16 words at most
        CHECK(steps(text, pattern) <= 16 * text.size());
    }
    CHECK(steps(text, "%" + repeated("a", 60) + "b%") <= text.size() + 2'000);
    // The bound is near: a rule whose bound is too high waits for a turn that it does not need.
    const std::string worst = "%" + repeated("a_", 450) + "b%";
    CHECK(most_like_steps(text.size(), worst.size()) <= steps(text, worst) * 16 / 15 + 100);
    CHECK(most_like_steps(0, worst.size()) <= steps("", worst) + worst.size());
    CHECK(steps(text, "b%") < 100);
    CHECK(steps(text, "a%") < 100);
}
