// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>

#include "tools/sessionq/doctor_place.hpp"

using namespace sessionq;
using namespace sessionq::cli;

namespace {

constexpr const char* plain = "Endpoint=sb://h:1;SharedAccessKeyName=app;SharedAccessKey=hush;"
                              "EntityPath=orders;UseDevelopmentEmulator=true";

DoctorPlace place_of(std::string connection, const std::string& entity = {}) {
    return find_place({.connection = std::move(connection)}, entity);
}

bool keeps_secret(const DoctorPlace& place, const std::string& secret) {
    return std::ranges::count(place.secrets, secret) == 1;
}

} // namespace

TEST_CASE("doctor place: a connection string names a host, a key and an entity") {
    const DoctorPlace place = place_of(plain);
    REQUIRE(place.targets.size() == 1);
    CHECK(place.targets[0].host == "h");
    CHECK(place.targets[0].port == 1);
    CHECK(place.targets[0].tls == nullptr);
    CHECK(place.targets[0].web_socket_path.empty());
    CHECK(place.tokens != nullptr);
    CHECK(place.key_name == "app");
    CHECK(place.entity == "orders");
    CHECK(keeps_secret(place, "hush"));
    CHECK_FALSE(place.is_groups);
    CHECK(place_of(plain, "others").entity == "others");
}

TEST_CASE("doctor place: TLS and WebSockets") {
    const DoctorPlace place =
        place_of("Endpoint=sb://h;SharedAccessSignature=hush;TransportType=AmqpWebSockets");
    CHECK(place.targets[0].tls != nullptr);
    CHECK_FALSE(place.targets[0].web_socket_path.empty());
    CHECK(place.key_name.empty());
    CHECK(place.tokens != nullptr);
    CHECK(keeps_secret(place, "hush"));
}

TEST_CASE("doctor place: a URL of message groups names hosts, a user and a dialect") {
    const DoctorPlace place = place_of("amqp://u:hush@a:1,b:2/vhost?dialect=artemis");
    CHECK(place.is_groups);
    REQUIRE(place.targets.size() == 2);
    CHECK(place.targets[1].host == "b");
    CHECK(place.targets[1].port == 2);
    CHECK(place.credentials.user == "u");
    CHECK(place.credentials.password == "hush");
    CHECK(place.virtual_host == "vhost");
    CHECK(place.dialect != nullptr);
    CHECK(place.tokens == nullptr);
    CHECK(keeps_secret(place, "hush"));
    CHECK(place_of("amqps://a").targets[0].tls != nullptr);
}

TEST_CASE("doctor place: a proxy is used for every host, and its password is a secret") {
    const DoctorPlace place = find_place(
        {.connection = plain,
         .proxy = HttpProxy{.host = "p", .port = 3128, .user = "u", .password = "whisper"}},
        {});
    REQUIRE(place.targets[0].proxy != nullptr);
    CHECK(place.targets[0].proxy->at.host == "p");
    CHECK(keeps_secret(place, "whisper"));
}

TEST_CASE("doctor place: a wrong connection string is named without its secret") {
    try {
        static_cast<void>(place_of("Endpoint=sb://h;SharedAccessKey=hush"));
        FAIL("it was taken");
    } catch (const Error& error) {
        CHECK(error.code() == Errc::invalid_argument);
        CHECK(std::string_view{error.what()}.find("hush") == std::string_view::npos);
    }
}
