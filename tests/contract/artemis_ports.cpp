// SPDX-License-Identifier: MIT
#include "contract/port_under_test.hpp"

#include "contract/groups_fixture.hpp"

namespace sessionq::test {

std::span<const PortUnderTest> ports_under_test() {
    static constexpr PortUnderTest ports[] = {
        {"sessionq::test::ArtemisByIdFixture", &make_fixture<ArtemisByIdFixture>},
        {"sessionq::test::ArtemisSharedLinkFixture", &make_fixture<ArtemisSharedLinkFixture>}};
    return ports;
}

} // namespace sessionq::test
