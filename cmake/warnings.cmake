# Linked privately by every target of this project; never exported.
add_library(sessionq_warnings INTERFACE)
target_compile_options(sessionq_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual)
if(SESSIONQ_SANITIZE)
  # Beside a sanitiser's own checks GCC suspects null pointers and missing values where there are none; the other builds do the warning.
  target_compile_options(sessionq_warnings INTERFACE -Wno-maybe-uninitialized)
else()
  target_compile_options(sessionq_warnings INTERFACE -Wnull-dereference)
endif()
if(PROJECT_IS_TOP_LEVEL AND NOT SESSIONQ_SANITIZE)
  target_compile_options(sessionq_warnings INTERFACE -Werror)
endif()
