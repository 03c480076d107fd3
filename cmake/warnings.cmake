# Linked privately by every target of this project; never exported.
add_library(sessionq_warnings INTERFACE)
target_compile_options(sessionq_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual)
if(SESSIONQ_SANITIZE)
  # Beside a sanitiser's own checks GCC suspects null pointers and missing values where there are none; the other builds do the warning.
  target_compile_options(sessionq_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
else()
  target_compile_options(sessionq_warnings INTERFACE -Wnull-dereference)
endif()
if(PROJECT_IS_TOP_LEVEL AND NOT SESSIONQ_SANITIZE)
  target_compile_options(sessionq_warnings INTERFACE -Werror)
endif()
# What GCC 12 says of these at -O3 is unfounded; the development build, at -O2, still fails on them.
target_compile_options(sessionq_warnings INTERFACE $<$<CONFIG:Release>:-Wno-null-dereference -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict>)
