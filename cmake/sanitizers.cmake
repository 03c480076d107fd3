# SPDX-License-Identifier: MIT
# A switch for the whole build: SESSIONQ_SANITIZE.
if(SESSIONQ_SANITIZE STREQUAL "address")
  add_compile_options(
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(SESSIONQ_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
  # ThreadSanitizer does not know fences; it sees Asio's locks.
  add_compile_definitions(ASIO_DISABLE_FENCED_BLOCK)
elseif(SESSIONQ_SANITIZE)
  message(FATAL_ERROR "SESSIONQ_SANITIZE is '${SESSIONQ_SANITIZE}': use address or thread")
endif()
if(SESSIONQ_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Sources ask for GCC's macro. Clang 16 has only __has_feature.
  string(TOUPPER "${SESSIONQ_SANITIZE}" sanitizer)
  add_compile_definitions(__SANITIZE_${sanitizer}__=1)
endif()
