# Installs the library and the package that find_package(sessionq) finds.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sessionq)

install(TARGETS sessionq EXPORT sessionqTargets FILE_SET HEADERS)
install(EXPORT sessionqTargets NAMESPACE sessionq:: DESTINATION ${package_dir})

configure_package_config_file(
  cmake/sessionqConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/sessionqConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${CMAKE_CURRENT_BINARY_DIR}/sessionqConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/sessionqConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/sessionqConfigVersion.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/FindAsio.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/FindWslay.cmake
  DESTINATION ${package_dir})
