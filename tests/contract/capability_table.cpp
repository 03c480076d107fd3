// SPDX-License-Identifier: MIT
#include <cstdio>

#include "contract/port_case.hpp"

using namespace sessionq;
using namespace sessionq::test;

/// Prints the capabilities, which decide the cases that apply.
PORT_CASE("capabilities: prints the table") {
    PortCase t{port};
    const ports::Capabilities& capabilities = t.endpoint->capabilities();
    std::printf("%s\n", capabilities.broker().c_str());
    for (int i = 0; i <= static_cast<int>(ports::last_capability); ++i) {
        const auto capability = static_cast<ports::Capability>(i);
        std::printf("  %-40s %s\n", std::string{to_string(capability)}.c_str(),
                    !capabilities.has(capability) ? "no"
                    : t.has(capability)           ? "yes"
                                                  : "yes, not used here");
    }
    CHECK(capabilities.has(ports::Capability::accept_next));
}
