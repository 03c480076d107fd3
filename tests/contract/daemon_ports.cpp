// SPDX-License-Identifier: MIT
#include "contract/port_under_test.hpp"

#include "contract/daemon_fixture.hpp"

namespace sessionq::test {

std::span<const PortUnderTest> ports_under_test() {
    static constexpr PortUnderTest ports[] = {
        {"sessionq::test::DaemonFixture", &make_fixture<DaemonFixture>}};
    return ports;
}

} // namespace sessionq::test
