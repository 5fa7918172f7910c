# nax::storage (objects by address, by libcurl) and nax::image (JPEG and PNG, by libjpeg and libpng). Like nax::cuda both
# bring a source file that is compiled with the program's own. Their libraries are looked for here, and missed only by
# those who link these targets.
find_package(CURL QUIET GLOBAL)
find_package(JPEG QUIET GLOBAL)
find_package(PNG QUIET GLOBAL)

function(nax_add_component name)
  set(path include/nax/${name}/nax_${name}.cpp)
  add_library(nax_${name} INTERFACE)
  add_library(nax::${name} ALIAS nax_${name})
  set_target_properties(nax_${name} PROPERTIES EXPORT_NAME ${name})
  target_sources(nax_${name} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/${path}>
                                       $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${path}>)
  target_link_libraries(nax_${name} INTERFACE nax ${ARGN})
endfunction()

nax_add_component(storage CURL::libcurl)
nax_add_component(image JPEG::JPEG PNG::PNG)
