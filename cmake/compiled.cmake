# nax::compiled: a library of the engine and of the common functions at the common types. A program that links it compiles only
# its own expressions. It is static, or shared with BUILD_SHARED_LIBS.

# nax_compile_with_memory(<target> <scope> <KiB>): lets GCC use that much memory before it collects garbage; collecting takes a
# tenth of its time, a third for Eigen's factorisations
function(nax_compile_with_memory target scope size)
  target_compile_options(${target} ${scope}
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=${size}>")
endfunction()

set(NAX_LIBRARY_FLAGS "" CACHE STRING "What nax::compiled adds to an optimised build's flags")
function(nax_compile_for_library target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  # Sections let the linker drop functions that a program does not call.
  target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections
                                           $<$<CONFIG:Release,RelWithDebInfo>:${NAX_LIBRARY_FLAGS}>)
  nax_compile_with_memory(${target} PRIVATE 1500000)
endfunction()

# nax_sources_of_library(<variable> <name>...): the sources of these names
function(nax_sources_of_library variable)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/include/nax/compiled/ OUTPUT_VARIABLE sources)
  list(TRANSFORM sources APPEND .cpp)
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# Kernels independent of devices, equal in every such library.
nax_sources_of_library(sources kernels reducers products samplers fft special factorisations_float factorisations_double svd_float svd_double conv)
add_library(nax_compiled_kernels OBJECT EXCLUDE_FROM_ALL ${sources})
target_link_libraries(nax_compiled_kernels PRIVATE nax)
nax_compile_for_library(nax_compiled_kernels)
if(NAX_NATIVE)
  target_compile_options(nax_compiled_kernels PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
endif()

# Formulas become machine code on 64-bit ARM, and on x86-64 where Xbyak is there (Debian's libxbyak-dev); only this source
# reads it.
find_path(NAX_XBYAK_INCLUDE xbyak/xbyak.h DOC "The folder of xbyak/xbyak.h")
mark_as_advanced(NAX_XBYAK_INCLUDE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64" OR (NAX_XBYAK_INCLUDE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64"))
  set(NAX_HAVE_MACHINE_CODE ON)
  add_library(nax_jit_code OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/include/nax/formula/machine/nax_jit.cpp)
  target_link_libraries(nax_jit_code PRIVATE nax)
  if(NAX_XBYAK_INCLUDE)
    target_include_directories(nax_jit_code SYSTEM PRIVATE ${NAX_XBYAK_INCLUDE})
  endif()
  nax_compile_for_library(nax_jit_code)
  if(NAX_NATIVE)
    target_compile_options(nax_jit_code PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
  endif()
endif()

# nax_add_compiled(<target>): such a library. Programs must be compiled for the processor that it is compiled for, so it
# hands that flag on.
function(nax_add_compiled target)
  nax_sources_of_library(sources engine numbers float double int32 int64 bool operations_float operations_double)
  add_library(${target} ${ARGN} ${sources} $<TARGET_OBJECTS:nax_compiled_kernels>)
  nax_compile_for_library(${target})
  target_link_libraries(${target} PUBLIC nax)
  if(NAX_HAVE_MACHINE_CODE)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:nax_jit_code>)
    target_compile_definitions(${target} PRIVATE NAX_HAVE_MACHINE_CODE)
  endif()
  target_compile_definitions(${target} INTERFACE NAX_COMPILED)
  if(NOT APPLE)
    target_link_options(${target} INTERFACE LINKER:--gc-sections)
  endif()
  if(NAX_NATIVE)
    target_compile_options(${target} PUBLIC $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
  endif()
endfunction()

nax_add_compiled(nax_compiled)
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
