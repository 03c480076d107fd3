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
  set(most_at_once 12) # more would need too much memory and leave cores idle at the end
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "\\.cpp$" OR source IN_LIST arg_ALONE)
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE)
    cmake_path(GET source PARENT_PATH part)
    cmake_path(GET part FILENAME part)
    list(APPEND seen_in_${part} ${source})
    list(LENGTH seen_in_${part} number)
    math(EXPR group "(${number} - 1) / ${most_at_once}")
    set_property(SOURCE ${source} TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP ${part}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
