// SPDX-License-Identifier: MIT
#include "contract/port_under_test.hpp"

#include "contract/in_process_fixture.hpp"
#include "contract/service_bus_fixture.hpp"
#include "contract/subscription_fixture.hpp"

namespace sessionq::test {

std::span<const PortUnderTest> ports_under_test() {
    static constexpr PortUnderTest ports[] = {
        {"sessionq::test::InProcessFixture", &make_fixture<InProcessFixture>},
        {"sessionq::test::OnSubscription<sessionq::test::InProcessFixture>",
         &make_fixture<OnSubscription<InProcessFixture>>},
        {"sessionq::test::ServiceBusFixture", &make_fixture<ServiceBusFixture>},
        {"sessionq::test::OnSubscription<sessionq::test::ServiceBusFixture>",
         &make_fixture<OnSubscription<ServiceBusFixture>>},
        {"sessionq::test::TlsServiceBusFixture", &make_fixture<TlsServiceBusFixture>}};
    return ports;
}

} // namespace sessionq::test
