// SPDX-License-Identifier: MIT
#include "servicebus/shared_access_signature.hpp"

#include <doctest/doctest.h>

using namespace sessionq;

TEST_CASE(
    "make_shared_access_signature: the signature that Python's hmac and urllib make of the same") {
    // hmac.new(b"SAS_KEY_VALUE", b"sb%3A%2F%2Flocalhost%2Forders%20%C3%BC\n1700003600", sha256),
    // base64, quoted
    const std::string token = detail::servicebus::make_shared_access_signature(
        "sb://localhost/orders ü", "Root Key", "SAS_KEY_VALUE",
        WallTime{std::chrono::seconds{1'700'003'600}});
    CHECK(token == "SharedAccessSignature "
                   "sr=sb%3A%2F%2Flocalhost%2Forders%20%C3%BC&sig="
                   "IYmglH3p1CvfItVCgoHXALtMVGQnOQe6Xeg0%2FEvkPm4%3D&se=1700003600&skn=Root%20Key");
}

TEST_CASE("make_shared_access_signature: only letters, digits and -_.~ stay as they are") {
    const std::string token = detail::servicebus::make_shared_access_signature(
        "sb://localhost/a", "azAZ09-_.~@[`{/:", "SAS_KEY_VALUE", WallTime{});
    CHECK(token.ends_with("&skn=azAZ09-_.~%40%5B%60%7B%2F%3A"));
}
