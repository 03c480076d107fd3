# SPDX-License-Identifier: MIT
# Finds standalone Asio, which is headers only: target Asio::Asio, variable Asio_VERSION.
find_path(Asio_INCLUDE_DIR asio.hpp)
mark_as_advanced(Asio_INCLUDE_DIR)

if(Asio_INCLUDE_DIR)
  file(STRINGS ${Asio_INCLUDE_DIR}/asio/version.hpp Asio_version_line
    REGEX "#define ASIO_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" Asio_version_number "${Asio_version_line}")
  math(EXPR Asio_major "${Asio_version_number} / 100000")
  math(EXPR Asio_minor "${Asio_version_number} / 100 % 1000")
  math(EXPR Asio_patch "${Asio_version_number} % 100")
  set(Asio_VERSION ${Asio_major}.${Asio_minor}.${Asio_patch})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Asio REQUIRED_VARS Asio_INCLUDE_DIR VERSION_VAR Asio_VERSION)

if(Asio_FOUND AND NOT TARGET Asio::Asio)
  add_library(Asio::Asio INTERFACE IMPORTED)
  target_include_directories(Asio::Asio SYSTEM INTERFACE ${Asio_INCLUDE_DIR})
endif()
