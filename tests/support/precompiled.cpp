// CMake compiles a precompiled header only beside a source that uses it; test_main.cpp, which implements doctest, cannot.
