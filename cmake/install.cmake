# cmake --install: the headers, and the package that find_package(nax) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(NAX_PACKAGE_DIR ${CMAKE_INSTALL_DATADIR}/cmake/nax)  # share, not lib: headers serve every architecture

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nax DESTINATION include)
set(targets nax nax_headers nax_compiled nax_pch nax_gzip nax_storage nax_image nax_lapack nax_cuda nax_nvrtc nax_cuda_emulated nax_cudnn nax_nccl nax_nccl_emulated nax_mpi nax_hnsw)
if(NAX_BUILD_ENGINE)
  list(APPEND targets ${NAX_ENGINE_TARGETS})
endif()
install(TARGETS ${targets} EXPORT nax)
install(EXPORT nax NAMESPACE nax:: FILE nax-targets.cmake DESTINATION ${NAX_PACKAGE_DIR})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/nax-config.cmake.in nax-config.cmake
                              INSTALL_DESTINATION ${NAX_PACKAGE_DIR})
write_basic_package_version_file(nax-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nax-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/nax-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindCUDNN.cmake ${PROJECT_SOURCE_DIR}/cmake/FindNCCL.cmake ${PROJECT_SOURCE_DIR}/cmake/webp.cmake
              ${PROJECT_SOURCE_DIR}/cmake/hnswlib.cmake
              ${PROJECT_SOURCE_DIR}/cmake/cuda_object.cmake ${PROJECT_SOURCE_DIR}/cmake/choose_engine.cmake
        DESTINATION ${NAX_PACKAGE_DIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# For builds without CMake: `pkg-config --cflags --libs nax`.
configure_file(${PROJECT_SOURCE_DIR}/cmake/nax.pc.in nax.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nax.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
if(NAX_BUILD_ENGINE)  # and with the engine: `pkg-config --cflags --libs nax-compiled`
  set(NAX_COMPILED_FLAGS "")
  if(NAX_NATIVE)
    set(NAX_COMPILED_FLAGS -march=native)
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/nax-compiled.pc.in nax-compiled.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nax-compiled.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
endif()

# `cpack` in the build folder: an archive, and a Debian package, of what is installed.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR TGZ DEB)
  set(CPACK_PACKAGE_VENDOR nax)
  set(CPACK_PACKAGE_CONTACT nax)
  set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_NAME libnax-dev)
  if(NOT NAX_BUILD_ENGINE)
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
  endif()
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libeigen3-dev (>= 3.4)")
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  include(CPack)
endif()
