// SPDX-License-Identifier: MIT
// CMake compiles a precompiled header only with a source that uses it. test_main.cpp cannot,
// because it implements doctest.
