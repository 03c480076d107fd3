# Linked privately by every target of this project; never exported.
add_library(sessionq_warnings INTERFACE)
target_compile_options(sessionq_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual)
if(NOT SESSIONQ_SANITIZE) # a sanitiser's own checks make GCC suspect null pointers where there are none
  target_compile_options(sessionq_warnings INTERFACE -Wnull-dereference)
endif()
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(sessionq_warnings INTERFACE -Werror)
endif()
