#include <doctest/doctest.h>

#include <sessionq/error.hpp>

#include "tools/sessionqd/daemon.hpp"

using namespace sessionq;
using namespace sessionq::sessionqd;

namespace {

Options on_free_port() { return {.listen = {.address = "127.0.0.1", .port = 0}, .keys = {{"name", "value"}}}; }

} // namespace

TEST_CASE("Daemon: says where it listens, and stops at once when nobody is connected") {
    Options options = on_free_port();
    options.receive_threads = 2;
    options.queues = {{.name = "orders", .options = {.requires_session = true}}};
    Daemon daemon{options};
    REQUIRE(daemon.urls().size() == 1);
    CHECK(daemon.urls()[0].starts_with("amqp://127.0.0.1:"));
    CHECK_FALSE(daemon.urls()[0].ends_with(":0"));
    daemon.stop(std::chrono::seconds{60});
    daemon.stop(std::chrono::seconds{60});
}

TEST_CASE("Daemon: what cannot be made or had is said") {
    Options twice = on_free_port();
    twice.queues = {{.name = "orders"}, {.name = "orders"}};
    CHECK_THROWS_AS(Daemon{twice}, Error);
    Options no_file = on_free_port();
    no_file.listens_tls = true;
    no_file.tls_listen = {.address = "127.0.0.1", .port = 0};
    no_file.tls_certificate_file = "/nonexistent.pem";
    CHECK_THROWS_AS(Daemon{no_file}, Error);
    Options first = on_free_port();
    Daemon daemon{first};
    Options same = on_free_port();
    same.listen.port = static_cast<std::uint16_t>(std::stoi(daemon.urls()[0].substr(daemon.urls()[0].rfind(':') + 1)));
    CHECK_THROWS_AS(Daemon{same}, Error);
}
