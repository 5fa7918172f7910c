# nax::compiled: the engine, and a library of the common functions at the common types. A program that links it compiles only
# its own expressions. Both are static, or shared with BUILD_SHARED_LIBS.

# Kernels independent of devices, equal in every such library.
nax_sources_of_library(sources ${NAX_KERNEL_SOURCES})
add_library(nax_compiled_kernels OBJECT EXCLUDE_FROM_ALL ${sources})
target_link_libraries(nax_compiled_kernels PRIVATE nax_headers)
nax_compile_for_library(nax_compiled_kernels)

# nax_add_compiled(<target> <engine> <option of add_library>...): such a library beside an engine. Programs must be compiled for
# the processor that it is compiled for, so it hands that flag on.
function(nax_add_compiled target engine)
  nax_sources_of_library(sources numbers float double int32 int64 bool operations_float operations_double)
  add_library(${target} ${ARGN} ${sources} $<TARGET_OBJECTS:nax_compiled_kernels>)
  nax_compile_for_library(${target})
  target_link_libraries(${target} PUBLIC ${engine})
  target_compile_definitions(${target} INTERFACE NAX_COMPILED)
  if(NOT APPLE)
    target_link_options(${target} INTERFACE LINKER:--gc-sections)
  endif()
  if(NAX_NATIVE)
    target_compile_options(${target} INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
  endif()
endfunction()

nax_add_compiled(nax_compiled nax_engine)
add_library(nax::compiled ALIAS nax_compiled)
set_target_properties(nax_compiled PROPERTIES EXPORT_NAME compiled)
# Its expressions have no kernels for emulated GPUs: CMake refuses a target that links both (nax::cuda_emulated says ON).
set_property(TARGET nax_compiled PROPERTY INTERFACE_NAX_EMULATED_GPUS OFF)
set_property(TARGET nax_compiled APPEND PROPERTY COMPATIBLE_INTERFACE_BOOL NAX_EMULATED_GPUS)
if(NOT NAX_BUILD_COMPILED)  # for projects that link it
  set_target_properties(nax_compiled PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

# For projects that want it: nax.hpp, precompiled once for each target that links this.
add_library(nax_pch INTERFACE)
add_library(nax::pch ALIAS nax_pch)
set_target_properties(nax_pch PROPERTIES EXPORT_NAME pch)
target_precompile_headers(nax_pch INTERFACE <nax/nax.hpp>)
