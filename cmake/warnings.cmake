# SPDX-License-Identifier: MIT
# Linked privately by every target of this project; never exported.
add_library(sessionq_warnings INTERFACE)
target_compile_options(sessionq_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual)
# GCC 12's warnings about the flow of values are wrong too often where code is inlined. So
# -Wnull-dereference is left out, and the others at -O3 or with a sanitizer.
if(SESSIONQ_SANITIZE)
  target_compile_options(sessionq_warnings INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
foreach(warning maybe-uninitialized array-bounds stringop-overflow restrict)
  target_compile_options(sessionq_warnings INTERFACE $<$<CONFIG:Release>:-Wno-${warning}>)
endforeach()
