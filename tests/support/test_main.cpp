#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

int main(int count, char** arguments) {
    // A sanitizer or a timeout ends the process at once; the cases that were done are to be named all the same.
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    return doctest::Context{count, arguments}.run();
}
