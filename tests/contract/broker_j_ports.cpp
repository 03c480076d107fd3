// SPDX-License-Identifier: MIT
#include "contract/port_under_test.hpp"

#include "contract/groups_fixture.hpp"

namespace sessionq::test {

std::span<const PortUnderTest> ports_under_test() {
    static constexpr PortUnderTest ports[] = {
        {"sessionq::test::BrokerJPinnedFixture", &make_fixture<BrokerJPinnedFixture>},
        {"sessionq::test::BrokerJSharedFixture", &make_fixture<BrokerJSharedFixture>}};
    return ports;
}

} // namespace sessionq::test
