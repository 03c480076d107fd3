# SPDX-License-Identifier: MIT
# Compiles several sources of a folder as one. The whole tree then builds in half the time, but a
# change of one file costs more. OFF serves those who change the library.
option(SESSIONQ_JOIN_SOURCES "Compile several sources of a folder as one" ON)

# sessionq_join_sources(TARGET [MOST number] [ALONE source...]): call it when the target has all its
# sources. MOST is how many are joined at once (12): more need more memory and leave cores idle at
# the end. ALONE names the sources that cannot be joined, because their names clash with others.
function(sessionq_join_sources target)
  if(NOT SESSIONQ_JOIN_SOURCES)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MOST" "ALONE")
  if(NOT arg_MOST)
    set(arg_MOST 12)
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  set(joined)
  foreach(source IN LISTS sources)
    if(NOT source IN_LIST arg_ALONE)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE)
      list(APPEND joined ${source})
    endif()
  endforeach()
  sessionq_group_sources(${target} "" ${arg_MOST} ${joined})
  set_property(TARGET ${target} PROPERTY SESSIONQ_ALONE ${arg_ALONE})
  set_property(TARGET ${target} PROPERTY SESSIONQ_MOST ${arg_MOST})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes a joined source for a header.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# sessionq_join_apart(TARGET PREFIX source...): these sources of a target that is joined are joined
# with one another only. Those named as ALONE stay alone.
function(sessionq_join_apart target prefix)
  if(NOT SESSIONQ_JOIN_SOURCES)
    return()
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(alone ${target} SESSIONQ_ALONE)
  get_target_property(most ${target} SESSIONQ_MOST)
  set(joined)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE)
    if(NOT source IN_LIST alone)
      list(APPEND joined ${source})
    endif()
  endforeach()
  sessionq_group_sources(${target} ${prefix}_ ${most} ${joined})
endfunction()

# Those of one folder are joined, `most` at once.
function(sessionq_group_sources target prefix most)
  foreach(source IN LISTS ARGN)
    if(NOT source MATCHES "\\.cpp$")
      continue()
    endif()
    cmake_path(GET source PARENT_PATH part)
    cmake_path(GET part FILENAME part)
    list(APPEND seen_in_${part} ${source})
    list(LENGTH seen_in_${part} number)
    math(EXPR group "(${number} - 1) / ${most}")
    set_property(SOURCE ${source} TARGET_DIRECTORY ${target}
      PROPERTY UNITY_GROUP ${prefix}${part}_${group})
  endforeach()
endfunction()
