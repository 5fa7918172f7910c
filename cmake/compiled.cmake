# nax::compiled: nax::nax, and a library of Eigen's factorisations, which a file of nax::nax compiles itself where it calls them.
# Both are static, or shared with BUILD_SHARED_LIBS.

nax_sources_of_library(sources ${NAX_FACTORISATION_SOURCES})
add_library(nax_factorisations ${sources})
nax_compile_for_library(nax_factorisations)
target_link_libraries(nax_factorisations PUBLIC nax_headers)
target_compile_definitions(nax_factorisations INTERFACE NAX_FACTORISED)
set_target_properties(nax_factorisations PROPERTIES EXPORT_NAME factorisations)
if(NOT NAX_BUILD_COMPILED)  # for projects that link it
  set_target_properties(nax_factorisations PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

# Programs must be compiled for the processor that the engine is compiled for, so this hands the flag on.
add_library(nax_compiled INTERFACE)
add_library(nax::compiled ALIAS nax_compiled)
target_link_libraries(nax_compiled INTERFACE nax_factorisations nax)
if(NAX_NATIVE)
  target_compile_options(nax_compiled INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
endif()
set_target_properties(nax_compiled PROPERTIES EXPORT_NAME compiled)

# For projects that want it: nax.hpp, precompiled once for each target that links this.
add_library(nax_pch INTERFACE)
add_library(nax::pch ALIAS nax_pch)
set_target_properties(nax_pch PROPERTIES EXPORT_NAME pch)
target_precompile_headers(nax_pch INTERFACE <nax/nax.hpp>)
