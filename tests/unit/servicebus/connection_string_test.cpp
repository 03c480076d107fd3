// SPDX-License-Identifier: MIT
#include "servicebus/connection_string.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using detail::servicebus::ConnectionString;

namespace {

ConnectionString good(std::string_view text) {
    const auto parsed = ConnectionString::parse(text);
    REQUIRE(parsed.ok());
    return parsed.value();
}

std::string complaint(std::string_view text) {
    const auto parsed = ConnectionString::parse(text);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.failure().code == Errc::invalid_argument);
    CHECK(parsed.failure().detail.find("SECRET") == std::string::npos);
    return parsed.failure().detail;
}

} // namespace

TEST_CASE("ConnectionString: as the portal gives it") {
    const ConnectionString parsed =
        good("Endpoint=sb://ns.servicebus.windows.net/"
             ";SharedAccessKeyName=Root;SharedAccessKey=abc=;EntityPath=orders");
    CHECK(parsed.host == "ns.servicebus.windows.net");
    CHECK(parsed.port == 5671);
    CHECK(parsed.tls);
    CHECK(parsed.key_name == "Root");
    CHECK(parsed.key == "abc=");
    CHECK(parsed.entity_path == "orders");
}

TEST_CASE("ConnectionString: the emulator is plain, on its own port unless one is named") {
    CHECK(good("Endpoint=sb://"
               "localhost;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true;")
              .port == 5672);
    const ConnectionString parsed = good("endpoint=sb://localhost:5680; sharedaccesskeyname=a "
                                         ";SHAREDACCESSKEY=b;usedevelopmentemulator=TRUE");
    CHECK(parsed.port == 5680);
    CHECK_FALSE(parsed.tls);
    CHECK(parsed.key_name == "a");
}

TEST_CASE("ConnectionString: the transport is AMQP over TCP, or a WebSocket, which has ports of "
          "its own") {
    CHECK(good("Endpoint=sb://h").transport == Transport::tcp);
    CHECK(good("Endpoint=sb://h;TransportType=Amqp").transport == Transport::tcp);
    CHECK(good("Endpoint=sb://h;TransportType=AmqpWebSockets").transport == Transport::web_sockets);
    CHECK(good("Endpoint=sb://h;transporttype=AMQPWEBSOCKETS").port == 443);
    CHECK(good("Endpoint=sb://h;TransportType=AmqpWebSockets;UseDevelopmentEmulator=true").port ==
          80);
    CHECK(good("TransportType=AmqpWebSockets;Endpoint=sb://h:8443").port == 8443);
    CHECK(complaint("Endpoint=sb://h;TransportType=NetMessaging").find("TransportType must be") !=
          std::string::npos);
}

TEST_CASE(
    "ConnectionString: the transport asked for beside it counts, and must not be contradicted") {
    const auto with = [](std::string_view text, Transport transport) {
        return ConnectionString::parse(text, transport);
    };
    CHECK(with("Endpoint=sb://h", Transport::web_sockets).value().transport ==
          Transport::web_sockets);
    CHECK(with("Endpoint=sb://h", Transport::web_sockets).value().port == 443);
    CHECK(
        with("Endpoint=sb://h;UseDevelopmentEmulator=true", Transport::web_sockets).value().port ==
        80);
    CHECK(with("Endpoint=sb://h:8443", Transport::web_sockets).value().port == 8443);
    CHECK(with("Endpoint=sb://h", Transport::tcp).value().port == 5671);
    CHECK(with("Endpoint=sb://h;TransportType=Amqp", Transport::tcp).ok());
    CHECK(with("Endpoint=sb://h;TransportType=AmqpWebSockets", Transport::web_sockets).ok());
    for (const auto& refused :
         {with("Endpoint=sb://h;TransportType=AmqpWebSockets", Transport::tcp),
          with("TransportType=Amqp;Endpoint=sb://h", Transport::web_sockets)}) {
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.failure().code == Errc::invalid_option);
        CHECK(refused.failure().detail.find("ClientOptions::transport") == 0);
    }
}

TEST_CASE("ConnectionString: what is none at all is told the form of one") {
    for (const char* text : {"contoso", "https://contoso.servicebus.windows.net"}) {
        CHECK(complaint(text).find("Endpoint=sb://HOST") != std::string::npos);
    }
}

TEST_CASE(
    "ConnectionString: a signature stands in for name and key; addresses of both kinds are hosts") {
    CHECK(good("Endpoint=sb://h;SharedAccessSignature=SharedAccessSignature sr=x&sig=y&se=1&skn=z")
              .signature == "SharedAccessSignature sr=x&sig=y&se=1&skn=z");
    CHECK(good("Endpoint=sb://[::1]:5680").host == "::1");
    CHECK(good("Endpoint=sb://[::1]:5680").port == 5680);
    CHECK(good("Endpoint=sb://[::1]").port == 5671);
}

TEST_CASE(
    "ConnectionString: a bad one is refused by the key that is wrong, and no secret is said") {
    CHECK(complaint("").find("Endpoint is missing") != std::string::npos);
    CHECK(complaint("SharedAccessKeyName=a;SharedAccessKey=SECRET").find("Endpoint") !=
          std::string::npos);
    CHECK(complaint("Endpoint=http://h;SharedAccessKeyName=a;SharedAccessKey=SECRET")
              .find("Endpoint") != std::string::npos);
    CHECK(complaint("Endpoint=sb://;SharedAccessKeyName=a;SharedAccessKey=SECRET").find("host") !=
          std::string::npos);
    CHECK(complaint("Endpoint=sb://h:0").find("port") != std::string::npos);
    CHECK(complaint("Endpoint=sb://h:99999").find("port of Endpoint") != std::string::npos);
    CHECK(complaint("Endpoint=sb://h:SECRET=").find("port of Endpoint") != std::string::npos);
    CHECK(complaint("Endpoint=sb://h/path").find("host") != std::string::npos);
    CHECK(complaint("Endpoint=sb://h;SharedAccessKeyName=a").find("needs SharedAccessKey") !=
          std::string::npos);
    CHECK(complaint("Endpoint=sb://h;SharedAccessKey=SECRET").find("needs SharedAccessKeyName") !=
          std::string::npos);
    CHECK(complaint("Endpoint=sb://"
                    "h;SharedAccessKeyName=a;SharedAccessKey=SECRET;SharedAccessSignature=SECRET")
              .find("either SharedAccessKey or") != std::string::npos);
    CHECK(
        complaint("Endpoint=sb://h;SharedAccessKey=SECRET;SharedAccessKey=SECRET").find("twice") !=
        std::string::npos);
    CHECK(complaint("Endpoint=sb://h;Colour=red").find("Colour") != std::string::npos);
    CHECK(complaint("Endpoint=sb://h;SECRET").find("no '='") != std::string::npos);
    CHECK(complaint("Endpoint=sb://h;EntityPath=").find("EntityPath is empty") !=
          std::string::npos);
    CHECK(complaint("Endpoint=sb://h;UseDevelopmentEmulator=yes").find("UseDevelopmentEmulator") !=
          std::string::npos);
}
