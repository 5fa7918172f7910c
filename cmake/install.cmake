# cmake --install: the headers, and the package that find_package(nax) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(NAX_PACKAGE_DIR ${CMAKE_INSTALL_DATADIR}/cmake/nax)  # share, not lib: headers serve every architecture

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nax DESTINATION include)
install(TARGETS nax nax_gzip nax_cuda nax_cuda_emulated EXPORT nax)
install(EXPORT nax NAMESPACE nax:: FILE nax-targets.cmake DESTINATION ${NAX_PACKAGE_DIR})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/nax-config.cmake.in nax-config.cmake
                              INSTALL_DESTINATION ${NAX_PACKAGE_DIR})
write_basic_package_version_file(nax-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nax-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/nax-config-version.cmake
        DESTINATION ${NAX_PACKAGE_DIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
