# SPDX-License-Identifier: MIT
# Linked privately by every target of this project; never exported.
add_library(sessionq_warnings INTERFACE)
target_compile_options(sessionq_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual)
# GCC 12's warnings about the flow of values are wrong too often where code is inlined.
foreach(warning maybe-uninitialized array-bounds stringop-overflow restrict)
  target_compile_options(sessionq_warnings INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-${warning}>)
endforeach()
