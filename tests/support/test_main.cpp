// SPDX-License-Identifier: MIT
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

int main(int count, char** arguments) {
    // A sanitizer or a timeout may end the process at once. The output then still names the cases
    // that ran.
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    return doctest::Context{count, arguments}.run();
}
