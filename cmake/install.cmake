# Headers, libraries, program, carom.pc and a CMake package: find_package(carom) or pkg-config carom.
include(CMakePackageConfigHelpers)
set(CAROM_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/carom)

install(TARGETS ${CAROM_LIBRARIES} EXPORT carom-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS carom_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The page that carom view fills, when "make viewer" has built it.
install(FILES viewer/dist/viewer.html DESTINATION ${CMAKE_INSTALL_DATADIR}/carom OPTIONAL)
install(FILES ${CMAKE_BINARY_DIR}/carom.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_BINARY_DIR}/carom.bash RENAME carom
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${CMAKE_BINARY_DIR}/_carom DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(DIRECTORY include/carom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

install(EXPORT carom-targets NAMESPACE carom:: DESTINATION ${CAROM_PACKAGE})
configure_package_config_file(cmake/carom-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/carom-config.cmake INSTALL_DESTINATION ${CAROM_PACKAGE})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/carom-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/carom-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/carom-config-version.cmake DESTINATION ${CAROM_PACKAGE})

# carom.pc finds the rest from where it stands, so that an installed tree may be moved, and
# cmake --install --prefix may name another place than the configuration did.
file(RELATIVE_PATH CAROM_PC_UP ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
list(TRANSFORM CAROM_LINKED_NAMES PREPEND "-l" REGEX "^[^/]" OUTPUT_VARIABLE CAROM_PC_PRIVATE)
list(JOIN CAROM_PC_PRIVATE " " CAROM_PC_PRIVATE)
if(NOT BUILD_SHARED_LIBS) # the archive alone: whoever links it links the rest too
  set(CAROM_PC_ALWAYS ${CAROM_PC_PRIVATE})
endif()
configure_file(cmake/carom.pc.in ${CMAKE_CURRENT_BINARY_DIR}/carom.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/carom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# For the Python package: library and program stand beside the modules. The library has the name
# that the program asks for, since wheels hold no links.
option(CAROM_PYTHON "Install the library and the program into the Python package" OFF)
if(CAROM_PYTHON)
  install(FILES $<TARGET_FILE:carom> DESTINATION carom COMPONENT python
    RENAME $<TARGET_SONAME_FILE_NAME:carom>)
  set_target_properties(carom_cli PROPERTIES INSTALL_RPATH "$ORIGIN/..")
  install(TARGETS carom_cli RUNTIME DESTINATION carom/bin COMPONENT python)
endif()
