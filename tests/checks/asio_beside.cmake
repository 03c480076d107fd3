# SPDX-License-Identifier: MIT
# An application may use another Asio beside sessionq, or the same one in another configuration.
# - The installed library has no symbol of Asio's own names, and exports no macro of it.
# - PACKAGE's program runs with the Asio of this machine, with and without macros that change Asio,
#   and beside Boost.Asio, at -O0 and -O2. It is linked with what pkg-config says.
# - With Boost.Asio it also awaits operations by <sessionq/boost_asio.hpp>, in a file of its own.
# - A file that includes both headers of the asynchronous functions is refused.
# BUILD is installed into WORK. Without Boost.Asio its part says "skipped".
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "failed (${result}): ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
file(GLOB_RECURSE description ${WORK}/prefix/sessionq.pc)
cmake_path(GET description PARENT_PATH folder)
set(ENV{PKG_CONFIG_PATH} ${folder})
run(${PKG_CONFIG} --cflags --libs --static sessionq-local-broker)
separate_arguments(flags UNIX_COMMAND ${output})

file(GLOB_RECURSE exported ${WORK}/prefix/*.cmake ${WORK}/prefix/*.pc)
foreach(file IN LISTS exported)
  file(STRINGS ${file} found REGEX "ASIO_|[^A-Za-z_]asio=")
  if(found)
    message(FATAL_ERROR "${file} exports macros of Asio: ${found}")
  endif()
endforeach()

file(GLOB_RECURSE library ${WORK}/prefix/libsessionq.a ${WORK}/prefix/libsessionq.so)
run(${NM} --defined-only --extern-only -C ${library})
string(REGEX MATCHALL "[^\n]* (asio::|asio_|[a-z ]*for asio::)[^\n]*" found "${output}")
if(found OR NOT output MATCHES "sessionq::v1::Client::connect")
  message(FATAL_ERROR "${library} has names of Asio: ${found}")
endif()

# must_work(NAME SOURCES source... FLAGS flag...)
function(must_work name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;FLAGS")
  list(TRANSFORM arg_SOURCES PREPEND ${PACKAGE}/)
  foreach(level -O0 -O2)
    run(${COMPILER} -std=c++20 ${level} -Wall -Werror ${arg_FLAGS} ${arg_SOURCES}
      -o ${WORK}/${name}${level} ${flags})
    run(${WORK}/${name}${level})
    if(NOT output STREQUAL "both work")
      message(FATAL_ERROR "${name} ${level} says '${output}'")
    endif()
  endforeach()
endfunction()

set(sources SOURCES asio_beside.cpp asio_elsewhere.cpp)
if(COMPILER_ID MATCHES "Clang")
  set(coroutines -DASIO_HAS_CO_AWAIT -DBOOST_ASIO_HAS_CO_AWAIT) # Asio 1.22 does not see them there
endif()
must_work(plain ${sources})
must_work(macros ${sources} asio_compiled.cpp FLAGS -DCOROUTINES ${coroutines}
  -DASIO_SEPARATE_COMPILATION -DASIO_NO_DEPRECATED -DASIO_ENABLE_HANDLER_TRACKING
  -DASIO_DISABLE_EPOLL -DASIO_STANDALONE)

find_path(BOOST_INCLUDE boost/asio.hpp)
if(BOOST_INCLUDE)
  must_work(boost ${sources} boost_awaits.cpp
    FLAGS -DBOOST -I${BOOST_INCLUDE} -DCOROUTINES ${coroutines})
  file(WRITE ${WORK}/both.cpp
    "#include <sessionq/async.hpp>\n#include <sessionq/boost_asio.hpp>\n")
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${coroutines} -I${BOOST_INCLUDE}
    ${flags} ${WORK}/both.cpp RESULT_VARIABLE result ERROR_VARIABLE error OUTPUT_QUIET)
  if(result EQUAL 0 OR NOT error MATCHES "in different source files")
    message(FATAL_ERROR "both headers in one file: ${error}")
  endif()
else()
  message("skipped: boost: no boost/asio.hpp on this machine")
  must_work(coroutines ${sources} FLAGS -DCOROUTINES ${coroutines})
endif()
