# SPDX-License-Identifier: MIT
# Linked privately by every target of this project; never exported.
add_library(sessionq_warnings INTERFACE)
target_compile_options(sessionq_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual)
if(SESSIONQ_SANITIZE)
  # A sanitizer's own checks make GCC suspect null pointers and missing values. Other builds warn.
  target_compile_options(sessionq_warnings INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
else()
  target_compile_options(sessionq_warnings INTERFACE -Wnull-dereference)
endif()
# GCC 12 gives these without reason at -O3. The development build, at -O2, has them.
foreach(warning null-dereference maybe-uninitialized array-bounds stringop-overflow restrict)
  target_compile_options(sessionq_warnings INTERFACE $<$<CONFIG:Release>:-Wno-${warning}>)
endforeach()
