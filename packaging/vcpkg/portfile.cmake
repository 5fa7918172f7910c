# An overlay port for a checkout of nax: vcpkg install nax --overlay-ports=<nax>/packaging/vcpkg
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES compiled NAX_BUILD_ENGINE)
if(NOT "compiled" IN_LIST FEATURES)
  set(VCPKG_BUILD_TYPE release)  # headers are the same in both
endif()

if("kernels" IN_LIST FEATURES)
  list(APPEND features "-DNAX_KERNELS_FOR=x86-64-v3\\;x86-64-v4")
endif()

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${features} -DNAX_BUILD_TESTS=OFF -DNAX_BUILD_EXAMPLES=OFF -DNAX_NATIVE=OFF -DNAX_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME nax CONFIG_PATH share/cmake/nax)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
