# SPDX-License-Identifier: MIT
# The tests are many programs, and GNU ld takes seconds to link each of them in a checked build.
# gold comes with GNU ld, but with clang's sanitizers it prints many warnings.
include(CheckLinkerFlag)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(faster lld)
else()
  set(faster gold)
endif()
check_linker_flag(CXX -fuse-ld=${faster} SESSIONQ_LINKER_IS_${faster})
if(SESSIONQ_LINKER_IS_${faster})
  add_link_options(-fuse-ld=${faster})
endif()
