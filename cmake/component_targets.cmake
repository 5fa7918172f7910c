# Components with a library of others: nax::storage (objects by address, by libcurl), nax::image (JPEG and PNG, by libjpeg and
# libpng, and WebP where libwebp is there), nax::lapack (matrix factorisations by a LAPACK, such as OpenBLAS's), nax::mpi (programs that run as several
# processes, by OpenMPI or MPICH) and nax::hnsw (nearest vectors by hnswlib, which is headers alone). Like nax::cuda each brings a source file that is compiled with the program's own. The
# libraries are looked for here, and missed only by those who link these targets.
find_package(CURL QUIET GLOBAL)
find_package(JPEG QUIET GLOBAL)
find_package(PNG QUIET GLOBAL)
find_package(LAPACK QUIET GLOBAL)
find_package(MPI QUIET COMPONENTS CXX GLOBAL)

# nax_add_component(<name> <folder> <library>...): nax::<name>, whose source is nax_<name>.cpp in that folder of include/nax
function(nax_add_component name folder)
  set(path include/nax/${folder}/nax_${name}.cpp)
  add_library(nax_${name} INTERFACE)
  add_library(nax::${name} ALIAS nax_${name})
  set_target_properties(nax_${name} PROPERTIES EXPORT_NAME ${name})
  target_sources(nax_${name} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/${path}>
                                       $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${path}>)
  target_link_libraries(nax_${name} INTERFACE nax_headers ${ARGN})
endfunction()

nax_add_component(storage modules/storage CURL::libcurl)
nax_add_component(image modules/image JPEG::JPEG PNG::PNG)
# Within this build; nax-config.cmake looks for it again, as the machine of an installed package may be another one.
include(${CMAKE_CURRENT_LIST_DIR}/webp.cmake)
if(NAX_HAVE_WEBP)
  target_compile_definitions(nax_image INTERFACE $<BUILD_INTERFACE:NAX_HAVE_WEBP>)
  target_include_directories(nax_image INTERFACE $<BUILD_INTERFACE:${NAX_WEBP_INCLUDE}>)
  target_link_libraries(nax_image INTERFACE $<BUILD_INTERFACE:${NAX_WEBP_LIBRARY}>)
endif()
nax_add_component(lapack devices/lapack LAPACK::LAPACK)
nax_add_component(mpi devices/mpi MPI::MPI_CXX)
nax_add_component(hnsw modules/neighbours)
include(${CMAKE_CURRENT_LIST_DIR}/hnswlib.cmake)
if(NAX_HAVE_HNSWLIB)
  target_include_directories(nax_hnsw SYSTEM INTERFACE $<BUILD_INTERFACE:${NAX_HNSWLIB_INCLUDE}>)
endif()
