// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "server/claims.hpp"
#include "server/shared_access.hpp"

using namespace sessionq;
using namespace sessionq::server;

namespace {

// Signed with SAS_KEY_VALUE for sb://localhost:5672/myqueue, until 1700000000.
constexpr const char* token =
    "SharedAccessSignature "
    "sr=sb%3A%2F%2Flocalhost%3A5672%2Fmyqueue&sig=6wme1afeFYxIv9ulmYfF7qW7pRgLizNHgPG0KZ4niKY%3D&"
    "se=1700000000&skn=RootManageSharedAccessKey";
constexpr const char* audience = "sb://localhost:5672/myqueue";

const WallTime expiry{std::chrono::seconds{1700000000}};
const WallTime before = expiry - std::chrono::seconds{1};

const AccessPolicy policy{.keys = {{"RootManageSharedAccessKey", "SAS_KEY_VALUE"}}};

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    text.replace(text.find(what), what.size(), by);
    return text;
}

} // namespace

TEST_CASE("shared access: is_same_secret compares every byte and the length") {
    using namespace std::string_view_literals;
    CHECK(is_same_secret("", ""));
    CHECK(is_same_secret("a key\0of bytes"sv, "a key\0of bytes"sv));
    CHECK_FALSE(is_same_secret("a key\0of bytes"sv, "a key\0of bytez"sv));
    CHECK_FALSE(is_same_secret("a key", ""));
    CHECK_FALSE(is_same_secret("a key", "a key "));
}

TEST_CASE("shared access: a plus is a space in the resource, and a digit in the signature") {
    const auto parsed =
        parse_shared_access_token("SharedAccessSignature sr=my+queue&sig=a+b%2Bc&se=1&skn=k+1");
    REQUIRE(parsed);
    CHECK(parsed->signed_resource == "my+queue");
    CHECK(parsed->resource == "my queue");
    CHECK(parsed->signature == "a+b+c");
    CHECK(parsed->key_name == "k 1");
}

TEST_CASE("Claims: a lost key ends a login at once and a token's claim within an hour") {
    const std::string name = "RootManageSharedAccessKey";
    Claims login{policy};
    CHECK(login.log_in(name, "SAS_KEY_VALUE"));
    login.keys_lost({"another"}, before);
    CHECK(login.covers("myqueue", Rights::listen(), before));
    login.keys_lost({name}, before);
    CHECK(login.empty());
    CHECK(login.bytes() == 0);

    const WallTime early = expiry - std::chrono::hours{3};
    Claims claims{policy};
    CHECK(claims.put_token(audience, token, early).status == 202);
    claims.keys_lost({name}, early);
    CHECK(claims.next_expiry() == early + std::chrono::hours{1});
    claims.keys_lost({name}, early + std::chrono::minutes{1}); // no longer than before
    CHECK(claims.next_expiry() == early + std::chrono::hours{1});
}

TEST_CASE("Claims: a valid signature grants its audience and the nodes below it until it expires") {
    Claims claims{policy};
    CHECK_FALSE(claims.covers("myqueue", Rights::listen(), before));
    const auto answer = claims.put_token(audience, token, before);
    CHECK(answer.status == 202);
    CHECK(answer.description == "Accepted");
    CHECK(answer.condition.empty());
    CHECK(claims.covers("myqueue", Rights::listen(), before));
    CHECK(claims.covers("MyQueue", Rights::listen(), before));
    CHECK(claims.covers("myqueue/$DeadLetterQueue", Rights::listen(), before));
    CHECK_FALSE(claims.covers("myqueue2", Rights::listen(), before));
    CHECK_FALSE(claims.covers("other", Rights::listen(), before));
    CHECK(claims.next_expiry() == expiry);
    CHECK_FALSE(claims.covers("myqueue", Rights::listen(), expiry));
    claims.drop_expired(expiry);
    CHECK(claims.empty());
}

TEST_CASE("Claims: a token may grant more than the audience, but not less") {
    Claims claims{policy};
    CHECK(claims.put_token("sb://localhost/myqueue/$management", token, before).status == 202);
    CHECK(claims.covers("myqueue/$management", Rights::listen(), before));
    CHECK_FALSE(claims.covers("myqueue", Rights::listen(), before));
    for (const char* other : {"sb://localhost/", "sb://localhost/myqueue2", "sb://localhost/other",
                              "sb://elsewhere/myqueue"}) {
        CAPTURE(other);
        const auto refused = claims.put_token(other, token, before);
        CHECK(refused.status == 401);
        CHECK(refused.condition == "amqp:unauthorized-access");
        CHECK(refused.description.find("InvalidAudience") == 0);
    }
}

TEST_CASE("Claims: ports and schemes of token and audience may differ") {
    Claims claims{policy};
    CHECK(claims.put_token("amqps://LOCALHOST/MyQueue", token, before).status == 202);
    CHECK(claims.covers("myqueue", Rights::listen(), before));
}

TEST_CASE("Claims: rejects bad signatures, unknown keys, expired and malformed tokens without "
          "repeating them") {
    const std::string right = token;
    const std::pair<std::string, std::string_view> cases[] = {
        {replaced(right, "6wme", "7wme"), "InvalidSignature"},
        {replaced(right, "se=1700000000", "se=1900000000"), "InvalidSignature"},
        {replaced(right, "skn=RootManage", "skn=Unknown"), "InvalidSignature"},
        {replaced(right, "myqueue&", "other&"), "InvalidSignature"},
        {replaced(right, "&se=1700000000", ""), "MalformedToken"},
        {replaced(right, "1700000000", "soon"), "MalformedToken"},
        {"SharedAccessSignature ", "MalformedToken"},
        {"SharedAccessSignature nonsense", "MalformedToken"},
        {"eyJhbGciOi.J9.x", "UnsupportedToken"},
        {"", "UnsupportedToken"},
    };
    for (const auto& [text, why] : cases) {
        CAPTURE(text);
        Claims claims{policy};
        const auto answer = claims.put_token(audience, text, before);
        CHECK(answer.status == 401);
        CHECK(answer.description.starts_with(why));
        CHECK(answer.description.find("6wme") == std::string::npos);
        CHECK(claims.empty());
    }
    Claims claims{policy};
    CHECK(claims.put_token(audience, token, expiry).description.starts_with("ExpiredToken"));
}

TEST_CASE("Claims: checks the resource as it was written, with lower-case escapes or a plus for a "
          "space") {
    // sr=sb%3a%2f%2flocalhost%2fmyqueue and sr=amqps%3A%2F%2Flocalhost%2Fmy+queue, signed in this
    // form.
    SharedAccessToken lower = *parse_shared_access_token(
        "SharedAccessSignature "
        "sr=sb%3a%2f%2flocalhost%2fmyqueue&sig=x&se=1700000000&skn=RootManageSharedAccessKey");
    CHECK(lower.resource == "sb://localhost/myqueue");
    CHECK(lower.signed_resource == "sb%3a%2f%2flocalhost%2fmyqueue");
    CHECK_FALSE(is_signed_with(lower, "SAS_KEY_VALUE"));
    SharedAccessToken plus = *parse_shared_access_token(
        "SharedAccessSignature "
        "sr=amqps%3A%2F%2Flocalhost%2Fmy+queue&sig=a%2Bb%3D&se=1&skn=key+name");
    CHECK(plus.resource == "amqps://localhost/my queue");
    CHECK(plus.signature == "a+b=");
    CHECK(plus.key_name == "key name");
}

TEST_CASE("Claims: the verifier, if any, judges other tokens") {
    AccessPolicy with = policy;
    with.verifier = [](std::string_view text, std::string_view, WallTime) {
        return text == "good" ? std::optional{expiry} : std::nullopt;
    };
    Claims claims{with};
    CHECK(claims.put_token(audience, "bad", before).status == 401);
    CHECK(claims.put_token(audience, "good", before).status == 202);
    CHECK(claims.covers("myqueue", Rights::listen(), before));
    CHECK(claims.put_token(audience, "good", expiry).status == 401);
}

TEST_CASE("Claims: a password gives its key's rights, for good") {
    Claims claims{policy};
    CHECK_FALSE(claims.log_in("RootManageSharedAccessKey", "SAS_KEY_VALUF"));
    CHECK_FALSE(claims.log_in("nobody", "SAS_KEY_VALUE"));
    CHECK_FALSE(claims.covers("anything", Rights::all(), before));
    CHECK(claims.log_in("RootManageSharedAccessKey", "SAS_KEY_VALUE"));
    CHECK(claims.covers("anything", Rights::manage(), before));
    CHECK(claims.next_expiry() == WallTime::max());
}

TEST_CASE("Claims: a token gives the rights of the key that signed it, and to its entity only") {
    AccessPolicy with = policy;
    AccessKey& key = with.keys.at("RootManageSharedAccessKey");
    key.rights = Rights::send();
    Claims claims{with};
    CHECK(claims.put_token(audience, token, before).status == 202);
    CHECK(claims.covers("myqueue", Rights::send(), before));
    CHECK(claims.covers("myqueue", Rights::all(), before)); // one of them
    CHECK_FALSE(claims.covers("myqueue", Rights::listen() | Rights::manage(), before));
    key.rights = Rights::listen();
    CHECK(claims.put_token(audience, token, before).status == 202); // in place of the one before
    CHECK_FALSE(claims.covers("myqueue", Rights::send(), before));
    CHECK(claims.size() == 1);
    key.entity = "other";
    CHECK(claims.put_token(audience, token, before).description.starts_with("InvalidAudience"));
    key.entity = "myqueue";
    CHECK(claims.put_token(audience, token, before).status == 202);
}
