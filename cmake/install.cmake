# SPDX-License-Identifier: MIT
# Installs two components: `development` is the library and the packages that find_package(sessionq)
# and pkg-config find; `programs` is the rest, with the pages and completions of share.cmake.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sessionq)

install(TARGETS sessionq EXPORT sessionqTargets
  ARCHIVE COMPONENT development LIBRARY COMPONENT development RUNTIME COMPONENT development
  FILE_SET HEADERS COMPONENT development FILE_SET adapters COMPONENT development)
install(TARGETS sessionq_local_broker EXPORT sessionqLocalBrokerTargets # needs SQLite too
  ARCHIVE COMPONENT development LIBRARY COMPONENT development RUNTIME COMPONENT development)
install(EXPORT sessionqLocalBrokerTargets NAMESPACE sessionq:: DESTINATION ${package_dir}
  COMPONENT development)
if(TARGET sessionq_opentelemetry) # its targets apart, because they need another package
  install(TARGETS sessionq_opentelemetry EXPORT sessionqOpenTelemetryTargets
    ARCHIVE COMPONENT development LIBRARY COMPONENT development RUNTIME COMPONENT development
    FILE_SET HEADERS COMPONENT development)
  install(EXPORT sessionqOpenTelemetryTargets NAMESPACE sessionq:: DESTINATION ${package_dir}
    COMPONENT development)
endif()
install(EXPORT sessionqTargets NAMESPACE sessionq:: DESTINATION ${package_dir}
  COMPONENT development)

configure_package_config_file(
  cmake/sessionqConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/sessionqConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${CMAKE_CURRENT_BINARY_DIR}/sessionqConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/sessionqConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/sessionqConfigVersion.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/FindWslay.cmake
  DESTINATION ${package_dir} COMPONENT development)

# pkg-config. Its paths are relative to the file, so the tree can be moved.
foreach(kind INCLUDE LIB)
  set(path ${CMAKE_INSTALL_${kind}DIR})
  if(path MATCHES "^/")
    set(pc_${kind}dir ${path})
  else()
    set(pc_${kind}dir "\${prefix}/${path}")
  endif()
endforeach()
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(ABSOLUTE_PATH pc_dir BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE pc_prefix)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${pc_prefix} OUTPUT_VARIABLE pc_prefix)
foreach(name sessionq sessionq-local-broker)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
endforeach()
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/sessionq.pc ${CMAKE_CURRENT_BINARY_DIR}/sessionq-local-broker.pc
  DESTINATION ${pc_dir} COMPONENT development)

if(SESSIONQ_TOOLS)
  install(TARGETS sessionq_cli sessionqd RUNTIME COMPONENT programs)
endif()
install(FILES LICENSE CHANGELOG.md README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
# Where the README's links lead.
install(DIRECTORY sdk/docs
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/sdk COMPONENT development)
install(FILES sdk/TROUBLESHOOTING.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/sdk COMPONENT development)
