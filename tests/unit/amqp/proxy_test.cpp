// SPDX-License-Identifier: MIT
#include "amqp/proxy.hpp"

#include <doctest/doctest.h>

using sessionq::amqp::Proxy;

TEST_CASE("proxy: serves every host that is not bypassed") {
    const Proxy proxy{.bypass = {"example.com", ".inner", "127.0.0.1"}};
    for (const char* host : {"other.com", "notexample.com", "example.com.evil", "inner.com", ""}) {
        CAPTURE(host);
        CHECK(proxy.serves(host));
    }
    for (const char* host :
         {"example.com", "a.example.com", "A.B.EXAMPLE.com", "inner", "x.inner", "127.0.0.1"}) {
        CAPTURE(host);
        CHECK_FALSE(proxy.serves(host));
    }
}

TEST_CASE("proxy: a star bypasses it for every host, an empty entry for none") {
    CHECK_FALSE(Proxy{.bypass = {"*"}}.serves("example.com"));
    CHECK(Proxy{.bypass = {"", "."}}.serves("example.com"));
    CHECK(Proxy{}.serves("example.com"));
}
