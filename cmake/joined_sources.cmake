# SPDX-License-Identifier: MIT
# Compiles several sources of a folder as one. The whole tree then builds sooner, but a change of
# one file costs more, so the checked builds and CI do this and the development build does not.
option(SESSIONQ_JOIN_SOURCES "Compile several sources of a folder as one" OFF)

# sessionq_join_sources(TARGET [ALONE source...]): call it when the target has all its sources.
# ALONE names the sources that cannot be joined, because their names clash with names of others.
function(sessionq_join_sources target)
  if(NOT SESSIONQ_JOIN_SOURCES)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE")
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  set(joined)
  foreach(source IN LISTS sources)
    if(NOT source IN_LIST arg_ALONE)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE)
      list(APPEND joined ${source})
    endif()
  endforeach()
  sessionq_group_sources(${target} "" ${joined})
  set_property(TARGET ${target} PROPERTY SESSIONQ_ALONE ${arg_ALONE})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# sessionq_join_apart(TARGET PREFIX source...): these sources of a target that is joined are joined
# with one another only. Those named as ALONE stay alone.
function(sessionq_join_apart target prefix)
  if(NOT SESSIONQ_JOIN_SOURCES)
    return()
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(alone ${target} SESSIONQ_ALONE)
  set(joined)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE)
    if(NOT source IN_LIST alone)
      list(APPEND joined ${source})
    endif()
  endforeach()
  sessionq_group_sources(${target} ${prefix}_ ${joined})
endfunction()

# Those of one folder are joined, but not too many: that would need too much memory and leave cores
# idle at the end.
function(sessionq_group_sources target prefix)
  set(most_at_once 12)
  foreach(source IN LISTS ARGN)
    if(NOT source MATCHES "\\.cpp$")
      continue()
    endif()
    cmake_path(GET source PARENT_PATH part)
    cmake_path(GET part FILENAME part)
    list(APPEND seen_in_${part} ${source})
    list(LENGTH seen_in_${part} number)
    math(EXPR group "(${number} - 1) / ${most_at_once}")
    set_property(SOURCE ${source} TARGET_DIRECTORY ${target}
      PROPERTY UNITY_GROUP ${prefix}${part}_${group})
  endforeach()
endfunction()
