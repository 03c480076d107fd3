# SPDX-License-Identifier: MIT
# Installs BUILD into a fresh prefix, and shows that others can use what is there:
# - the programs say VERSION, and what the build has in share/ came along;
# - the samples in SAMPLES, as an outside project that knows the package only through find_package,
#   pass their tests;
# - PACKAGE's programs are built with what pkg-config says, from where the tree was moved to, and
#   say VERSION, and what a message with JSON holds; also with Clang, if it is there;
# - a client is linked without the broker and SQLite, and a shared library exports nothing of ours;
# - SOURCE can be part of an application's tree without the tools and their dependencies.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

# output_of(VARIABLE command...)
function(output_of variable)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
  set(${variable} ${output} PARENT_SCOPE)
endfunction()

# must_say(WORDS command...)
function(must_say words)
  output_of(said ${ARGN})
  if(NOT said STREQUAL words)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "'${command}' says '${said}', not '${words}'")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)

foreach(program sessionq sessionqd)
  must_say("${program} ${VERSION}" ${WORK}/prefix/bin/${program} --version)
endforeach()
file(GLOB_RECURSE shared RELATIVE ${BUILD} ${BUILD}/share/*)
foreach(file LICENSE CHANGELOG.md README.md sdk/docs/concepts.md sdk/docs/slots.svg
    sdk/TROUBLESHOOTING.md)
  list(APPEND shared share/doc/sessionq/${file})
endforeach()
foreach(file IN LISTS shared)
  if(NOT EXISTS ${WORK}/prefix/${file})
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()

set(settings -G ${GENERATOR}
  -D CMAKE_CXX_COMPILER=${COMPILER}
  -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
  -D CMAKE_BUILD_TYPE=Debug)
run(${CMAKE_COMMAND} -S ${SAMPLES} -B ${WORK}/build ${settings}
  -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_UNITY_BUILD=ON)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CTEST} --test-dir ${WORK}/build --output-on-failure)
must_say("replay ${VERSION}" ${WORK}/build/replay --version)

run(${CMAKE_COMMAND} -E create_symlink ${WORK}/prefix ${WORK}/elsewhere)
file(GLOB_RECURSE description ${WORK}/elsewhere/sessionq.pc)
cmake_path(GET description PARENT_PATH folder)
set(ENV{PKG_CONFIG_PATH} ${folder})
must_say("${VERSION}" ${PKG_CONFIG} --modversion sessionq)
output_of(flags ${PKG_CONFIG} --cflags --libs --static sessionq-local-broker)
separate_arguments(flags UNIX_COMMAND ${flags})
output_of(client_flags ${PKG_CONFIG} --cflags --libs --static sessionq)
separate_arguments(client_flags UNIX_COMMAND ${client_flags})
find_program(CLANG clang++-16)
foreach(compiler IN ITEMS ${COMPILER} ${CLANG}) # Asio 1.22 sees no coroutines in Clang
  if(compiler)
    run(${compiler} -std=c++20 -Werror -DASIO_HAS_CO_AWAIT ${PACKAGE}/program.cpp
      -o ${WORK}/program ${flags})
    must_say("${VERSION}" ${WORK}/program)
    run(${compiler} -std=c++20 -Werror ${PACKAGE}/json.cpp -o ${WORK}/json ${flags})
    must_say("5" ${WORK}/json)
  endif()
endforeach()

# A client needs no broker in the process, so no SQLite.
run(${COMPILER} -std=c++20 -O2 ${PACKAGE}/client.cpp -o ${WORK}/client ${client_flags})
must_say("no broker" ${WORK}/client)
output_of(loaded ldd ${WORK}/client)
if(loaded MATCHES "sqlite")
  message(FATAL_ERROR "a client is linked with ${loaded}")
endif()

# A shared library that has sessionq inside exports its own names only.
run(${COMPILER} -std=c++20 -O2 -fPIC -shared -fvisibility=hidden -fvisibility-inlines-hidden
  ${PACKAGE}/plugin.cpp -o ${WORK}/plugin.so ${flags})
output_of(exported ${NM} -D -C --defined-only ${WORK}/plugin.so)
# Instances of std's templates may be visible, as those of any program.
set(ours "[0-9a-f]+ [A-Za-z] ([a-z -]+ (for|to) )?sessionq[^\n]*")
if(NOT exported MATCHES "handled_orders" OR exported MATCHES "${ours}")
  string(REGEX MATCHALL "${ours}" exported "${exported}")
  message(FATAL_ERROR "a shared library passes names on: ${exported}")
endif()

run(${CMAKE_COMMAND} -S ${PACKAGE} -B ${WORK}/application ${settings} -D SESSIONQ=${SOURCE})
