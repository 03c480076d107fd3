# SPDX-License-Identifier: MIT
# Compiles several sources of a folder as one. The whole tree then builds in half the time, but a
# change of one file costs more. OFF serves those who change the library.
option(SESSIONQ_JOIN_SOURCES "Compile several sources of a folder as one" ON)

# sessionq_join_sources(TARGET [KIBIBYTES number] [ROOMS folder...] [ALONE source...]): call it when
# the target has all its sources. KIBIBYTES is how much source is joined at once (80): more needs
# more memory and leaves cores idle at the end. ROOMS names folders that are divided into rooms:
# their sources are joined across the rooms, because one room is too small. ALONE names the sources
# that cannot be joined, because their names clash with others.
function(sessionq_join_sources target)
  if(NOT SESSIONQ_JOIN_SOURCES)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KIBIBYTES" "ROOMS;ALONE")
  if(NOT arg_KIBIBYTES)
    set(arg_KIBIBYTES 80)
  endif()
  set_property(TARGET ${target} PROPERTY SESSIONQ_ALONE ${arg_ALONE})
  set_property(TARGET ${target} PROPERTY SESSIONQ_ROOMS ${arg_ROOMS})
  set_property(TARGET ${target} PROPERTY SESSIONQ_KIBIBYTES ${arg_KIBIBYTES})
  get_target_property(sources ${target} SOURCES)
  sessionq_group_sources(${target} "" ${sources})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes a joined source for a header.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# sessionq_join_apart(TARGET PREFIX source...): these sources of a target that is joined are joined
# with one another only. Those named as ALONE stay alone.
function(sessionq_join_apart target prefix)
  if(SESSIONQ_JOIN_SOURCES)
    sessionq_group_sources(${target} ${prefix}_ ${ARGN})
  endif()
endfunction()

# Joins the sources of each folder, in groups of about the same size.
function(sessionq_group_sources target prefix)
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(alone ${target} SESSIONQ_ALONE)
  get_target_property(rooms ${target} SESSIONQ_ROOMS)
  get_target_property(kibibytes ${target} SESSIONQ_KIBIBYTES)
  set(parts)
  foreach(source IN LISTS ARGN)
    if(NOT source MATCHES "\\.cpp$" OR source IN_LIST alone)
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE)
    cmake_path(GET source PARENT_PATH part)
    foreach(divided IN LISTS rooms)
      cmake_path(IS_PREFIX divided ${source} is_in_room)
      if(is_in_room)
        set(part ${divided})
      endif()
    endforeach()
    cmake_path(GET part FILENAME part)
    sessionq_source_size(${source} size)
    list(APPEND parts ${part})
    list(APPEND sources_of_${part} ${source})
    math(EXPR size_of_${part} "0${size_of_${part}} + ${size}")
  endforeach()
  list(REMOVE_DUPLICATES parts)
  foreach(part IN LISTS parts)
    math(EXPR groups "1 + (${size_of_${part}} - 1) / (${kibibytes} * 1024)")
    math(EXPR group_size "1 + ${size_of_${part}} / ${groups}")
    set(sum 0)
    foreach(source IN LISTS sources_of_${part})
      sessionq_source_size(${source} size)
      math(EXPR group "(${sum} + ${size} / 2) / ${group_size}")
      math(EXPR sum "${sum} + ${size}")
      set_property(SOURCE ${source} TARGET_DIRECTORY ${target}
        PROPERTY UNITY_GROUP ${prefix}${part}_${group})
    endforeach()
  endforeach()
endfunction()

# The size in bytes. A source that the build makes counts the same whether it is there or not.
function(sessionq_source_size source result)
  cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} is_made)
  if(is_made)
    set(size 5000)
  else()
    file(SIZE ${source} size)
  endif()
  set(${result} ${size} PARENT_SCOPE)
endfunction()
