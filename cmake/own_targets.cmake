# Flags of nax's own programs (tests, examples, benchmarks). They do not affect users of the library.
set(CMAKE_CXX_EXTENSIONS OFF)

# Sets a build type if none was given, since Eigen is slow without optimisation.
get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT is_multi_config)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# ccache needs this sloppiness to cache files that use a precompiled header.
find_program(NAX_CCACHE ccache)
if(PROJECT_IS_TOP_LEVEL AND NAX_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${NAX_CCACHE})
endif()

add_library(nax_own INTERFACE)
target_compile_options(nax_own INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Werror -Wno-error=unused-result>
  $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings -Xcompiler=-Wall,-Wextra>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${NAX_NATIVE}>>:-march=native>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${NAX_NATIVE}>>:-Xcompiler=-march=native>)
target_link_libraries(nax_own INTERFACE nax::headers)
nax_compile_with_memory(nax_own INTERFACE 700000)

if(TARGET nax_cuda_object)
  target_link_libraries(nax_cuda_object PRIVATE nax_own)
  target_compile_options(nax_cuda_object PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O2>)
endif()

# Linked by most of them, with the engine where it is built. (nax_own itself stays headers-only.)
add_library(nax_own_compiled INTERFACE)
target_link_libraries(nax_own_compiled INTERFACE nax_own nax::nax)

# nax_public_headers(<variable>): the paths of all headers, relative to include/
function(nax_public_headers variable)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/nax/*.hpp)
  list(FILTER headers EXCLUDE REGEX "nax/(devices|formula/machine)/|nax/modules/storage/(http|roles|upload)|nax/core/(graph_memory|memory_pool|profile_lanes)|-inl[.]hpp$")
  set(${variable} ${headers} PARENT_SCOPE)
endfunction()

# nax_source_per_header(<variable> <extension>): one generated file for each header, which includes it and nothing else
function(nax_source_per_header variable extension)
  nax_public_headers(headers)
  set(sources "")
  foreach(header IN LISTS headers)
    string(REPLACE "/" "." name ${header})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/sources/${name}.${extension})
    # twice: a header without its guard would not compile
    file(CONFIGURE OUTPUT ${source} CONTENT "#include <${header}>\n#include <${header}>\n")
    list(APPEND sources ${source})
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# nax_sources_of_all_headers(<variable> <extension>): two generated files that include all headers, in both orders: what one
# header leaves to those before it does not compile
function(nax_sources_of_all_headers variable extension)
  nax_public_headers(headers)
  list(FILTER headers EXCLUDE REGEX "nax/compiled/")
  set(sources "")
  foreach(order down up)
    list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n" OUTPUT_VARIABLE includes)
    list(JOIN includes "" includes)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/sources/${order}.${extension})
    file(CONFIGURE OUTPUT ${source} CONTENT "${includes}" @ONLY)
    list(APPEND sources ${source})
    list(REVERSE headers)
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# nax_source_per_folder(<variable> <extension>): one generated file for each folder, which includes all of its headers
function(nax_source_per_folder variable extension)
  nax_public_headers(headers)
  set(folders "")
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH folder)
    string(REPLACE "/" "." folder ${folder})
    list(APPEND folders ${folder})
    # the last first: what one header leaves to those above it does not compile
    string(PREPEND content_${folder} "#include <${header}>\n")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(sources "")
  foreach(folder IN LISTS folders)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/sources/${folder}.${extension})
    file(CONFIGURE OUTPUT ${source} CONTENT "${content_${folder}}" @ONLY)
    list(APPEND sources ${source})
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
