# nax::nax: headers, and the engine as a library: tape, evaluation, programs, printing, files, the host's kernels. A file that
# links it compiles its own expressions, if it is compiled for a processor that an engine was compiled for: that of the project's
# flags, or one of NAX_ENGINE_FOR. A file for another is headers only, as all are with NAX_BUILD_ENGINE=OFF. It is static, or shared
# with BUILD_SHARED_LIBS.
set(NAX_ENGINE_FOR "" CACHE STRING "Further processors, values of -march, that nax::nax brings an engine for")

# nax_compile_with_memory(<target> <scope> <KiB>): lets GCC use that much memory before it collects garbage; collecting takes a
# tenth of its time, a third for Eigen's factorisations
function(nax_compile_with_memory target scope size)
  target_compile_options(${target} ${scope}
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=${size}>")
endfunction()

set(NAX_LIBRARY_FLAGS "" CACHE STRING "What the libraries add to an optimised build's flags")
set(NAX_PROCESSOR "")  # a value of -march; none: the project's flags
if(NAX_NATIVE)
  set(NAX_PROCESSOR native)
endif()
function(nax_compile_for_library target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET default
                                             VISIBILITY_INLINES_HIDDEN OFF)
  # clang makes one function of a constructor's two forms where it sees all calls; those of other files need both.
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -mno-constructor-aliases>")
  # With it alone, which -O2 implies, GCC clears the upper halves of registers; a call of libm takes thirty times as long else.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fexpensive-optimizations>)
  # Sections let the linker drop functions that a program does not call.
  target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections
                                           $<$<CONFIG:Release,RelWithDebInfo>:${NAX_LIBRARY_FLAGS}>)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CXX_FLAGS MATCHES "-O")  # projects that optimise their own targets alone
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-O2>)
  endif()
  if(NAX_PROCESSOR)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-march=${NAX_PROCESSOR}>)
  endif()
  nax_compile_with_memory(${target} PRIVATE 1500000)
endfunction()

# nax_sources_of_library(<variable> <name>...): the sources of these names
function(nax_sources_of_library variable)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/include/nax/compiled/ OUTPUT_VARIABLE sources)
  list(TRANSFORM sources APPEND .cpp)
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# Kernels that do not depend on devices, found by dtype.
set(NAX_KERNEL_SOURCES kernels reducers products samplers fft conv)
set(NAX_FACTORISATION_SOURCES float double complex_float complex_double)
list(TRANSFORM NAX_FACTORISATION_SOURCES PREPEND factorisations/)

include(${CMAKE_CURRENT_LIST_DIR}/choose_engine.cmake)
# The instructions that an engine is compiled for. Nothing where the compiler does not say it: then all files are headers only.
function(nax_find_instructions variable)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}}")
  get_directory_property(options COMPILE_OPTIONS)
  list(FILTER options EXCLUDE REGEX "[$]<")
  if(NAX_PROCESSOR)
    list(APPEND options -march=${NAX_PROCESSOR})
  endif()
  nax_name_instructions(instructions ${PROJECT_SOURCE_DIR}/include ${flags} ${options})
  set(${variable} "${instructions}" PARENT_SCOPE)
endfunction()

# Kernels for levels of x86-64 above the engine's, chosen when a program starts (include/nax/core/further_kernels.hpp): an object
# for each, in which all names but the function that shows its kernels are local.
set(NAX_KERNELS_FOR "" CACHE STRING "Levels, x86-64-v3;x86-64-v4, whose kernels the engine brings for processors that have them; OFF: none")
find_program(NAX_GNU_LD NAMES ld.bfd ld DOC "GNU's linker, which joins the kernels of a level")
mark_as_advanced(NAX_GNU_LD)
set(NAX_FURTHER_KERNELS "")  # the objects
set(NAX_FURTHER_LEVELS "")   # V3, V4
set(levels ${NAX_KERNELS_FOR})
# Kernels that a project which adds nax gets unasked: x86-64-v3's, without the factorisations', which take three quarters of the time.
set(NAX_FEW_KERNELS OFF)
get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
nax_find_instructions(NAX_INSTRUCTIONS)
if(NAX_KERNELS_FOR STREQUAL "" AND NAX_BUILD_ENGINE AND NOT PROJECT_IS_TOP_LEVEL AND NAX_INSTRUCTIONS STREQUAL "x86_v1"
   AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT is_multi_config AND NOT "${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
  foreach(tool NAX_GNU_LD CMAKE_OBJCOPY)
    execute_process(COMMAND "${${tool}}" --version OUTPUT_VARIABLE said ERROR_QUIET)
    if(NOT CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF" OR NOT said MATCHES "^GNU (ld|objcopy)")
      message(STATUS "nax: the engine for any x86-64 has no kernels for AVX2, which need GNU's ld and objcopy")
      break()
    endif()
    set(NAX_FEW_KERNELS ${tool})
  endforeach()
  if(NAX_FEW_KERNELS STREQUAL "CMAKE_OBJCOPY")
    set(levels x86-64-v3)
  endif()
elseif(NOT NAX_KERNELS_FOR)
  set(levels "")  # OFF
endif()
foreach(level IN LISTS levels)
  if(NOT level MATCHES "^x86-64-(v[34])$")
    message(FATAL_ERROR "nax: NAX_KERNELS_FOR: x86-64-v3 and x86-64-v4 are possible, not ${level}")
  elseif(NAX_NATIVE)
    message(FATAL_ERROR "nax: NAX_KERNELS_FOR is for engines that are not compiled for this processor: add NAX_NATIVE=OFF")
  elseif(NOT CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF" OR NOT CMAKE_OBJCOPY OR NOT NAX_GNU_LD
         OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    message(FATAL_ERROR "nax: NAX_KERNELS_FOR needs ELF files of x86-64, objcopy and GNU's ld")
  elseif("${CMAKE_CXX_FLAGS}" MATCHES "-m(arch|cpu|avx|sse|fma|bmi|gfni)")
    message(FATAL_ERROR "nax: NAX_KERNELS_FOR is for engines of any x86-64: CMAKE_CXX_FLAGS has ${CMAKE_MATCH_0}")
  endif()
  string(REPLACE "x86-64-v" "V" letters ${level})
  list(APPEND NAX_FURTHER_LEVELS ${letters})
  block(PROPAGATE NAX_FURTHER_KERNELS)
    set(NAX_PROCESSOR ${level})
    set(names ${NAX_KERNEL_SOURCES} further/give_kernels)
    if(NOT NAX_FEW_KERNELS)
      list(APPEND names ${NAX_FACTORISATION_SOURCES})
    endif()
    nax_sources_of_library(sources ${names})
    add_library(nax_kernels_${level} OBJECT EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(nax_kernels_${level} PRIVATE nax_headers)
    nax_compile_for_library(nax_kernels_${level})
    # (Unique variables cannot become local, and objects for link-time optimisation cannot be joined.)
    target_compile_options(nax_kernels_${level} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique> -fno-lto)
    target_compile_definitions(nax_kernels_${level} PRIVATE NAX_GIVES_KERNELS $<$<BOOL:${NAX_FEW_KERNELS}>:NAX_FEW_KERNELS>)
    set_target_properties(nax_kernels_${level} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/nax_kernels_${level}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${NAX_GNU_LD} -r --force-group-allocation -o ${object} $<TARGET_OBJECTS:nax_kernels_${level}>
      COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=nax_kernels_* --keep-global-symbol=_ZN10nax_shared* ${object}
      DEPENDS nax_kernels_${level} $<TARGET_OBJECTS:nax_kernels_${level}>
      COMMENT "Joining the kernels for ${level}" COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    list(APPEND NAX_FURTHER_KERNELS ${object})
  endblock()
endforeach()

# Formulas become machine code on 64-bit ARM, and on x86-64 where Xbyak is there (Debian's libxbyak-dev).
find_path(NAX_XBYAK_INCLUDE xbyak/xbyak.h DOC "The folder of xbyak/xbyak.h")
mark_as_advanced(NAX_XBYAK_INCLUDE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64" OR (NAX_XBYAK_INCLUDE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64"))
  set(NAX_HAVE_MACHINE_CODE ON)
endif()

# Parts of the engine: factorisations, which take half of its time to compile, and folders of include/nax/modules. A program
# that calls a function of another does not link.
set(NAX_ALL_MODULES arrow data exporting factorisations image integrate interpolate mcmc metrics neighbours optimize profiler signal stats storage training)
set(NAX_MODULES all CACHE STRING "Modules in the engine: all, or a list of ${NAX_ALL_MODULES}")
set(NAX_LEFT_OUT_MODULES ${NAX_ALL_MODULES})
foreach(module IN LISTS NAX_MODULES)
  if(module STREQUAL "all")
    set(NAX_LEFT_OUT_MODULES "")
  elseif(NOT module IN_LIST NAX_ALL_MODULES)
    message(FATAL_ERROR "nax: NAX_MODULES: ${module} is none of ${NAX_ALL_MODULES}")
  endif()
  list(REMOVE_ITEM NAX_LEFT_OUT_MODULES ${module})
endforeach()
set(kernels ${NAX_KERNEL_SOURCES})
if(NOT "factorisations" IN_LIST NAX_LEFT_OUT_MODULES)
  list(APPEND kernels ${NAX_FACTORISATION_SOURCES})
endif()
nax_sources_of_library(NAX_KERNELS ${kernels})
list(TRANSFORM NAX_LEFT_OUT_MODULES TOUPPER)
list(TRANSFORM NAX_LEFT_OUT_MODULES PREPEND NAX_WITHOUT_)

# nax_add_engine(<target> <sources or objects of kernels> <option of add_library>...): such a library
function(nax_add_engine target kernels)
  set(names engine rules functions modules special numbers)
  if(NOT NAX_WITHOUT_EXPORTING IN_LIST NAX_LEFT_OUT_MODULES)
    list(APPEND names exporting)
  endif()
  nax_sources_of_library(sources ${names})
  add_library(${target} ${ARGN} ${sources} ${kernels})
  target_compile_definitions(${target} PRIVATE ${NAX_LEFT_OUT_MODULES})
  nax_compile_for_library(${target})
  target_link_libraries(${target} PUBLIC nax_headers)
  if(NAX_HAVE_MACHINE_CODE)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include/nax/formula/machine/nax_jit.cpp)
    if(NAX_XBYAK_INCLUDE)
      target_include_directories(${target} SYSTEM PRIVATE ${NAX_XBYAK_INCLUDE})
    endif()
    target_compile_definitions(${target} PRIVATE NAX_HAVE_MACHINE_CODE)
  else()  # formulas run block by block: files compile kernels of their expressions
    target_compile_definitions(${target} PUBLIC NAX_COMPILES_KERNELS)
  endif()
endfunction()

add_library(nax_kernels OBJECT EXCLUDE_FROM_ALL ${NAX_KERNELS})
target_link_libraries(nax_kernels PRIVATE nax_headers)
nax_compile_for_library(nax_kernels)
nax_add_engine(nax_engine $<TARGET_OBJECTS:nax_kernels>)
if(NAX_FURTHER_KERNELS)
  if(NOT NAX_HAVE_MACHINE_CODE)
    message(STATUS "nax: expressions of programs for any x86-64 run by SSE2: Xbyak (libxbyak-dev) was not found")
  endif()
  nax_sources_of_library(sources further/take_kernels)
  target_sources(nax_engine PRIVATE ${sources} ${NAX_FURTHER_KERNELS})
  list(TRANSFORM NAX_FURTHER_LEVELS PREPEND NAX_HAVE_KERNELS_)
  target_compile_definitions(nax_engine PRIVATE ${NAX_FURTHER_LEVELS})
endif()
set_target_properties(nax_engine PROPERTIES EXPORT_NAME engine)

add_library(nax INTERFACE)
add_library(nax::nax ALIAS nax)
target_link_libraries(nax INTERFACE nax_headers)
set(NAX_ENGINE_TARGETS nax_engine)
# nax_bring_engine(<target> <instructions>): to files of nax::nax that are compiled for these
function(nax_bring_engine target instructions)
  target_link_libraries(nax INTERFACE ${target})
  target_compile_definitions(nax INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:NAX_LINKED> $<$<COMPILE_LANGUAGE:CXX>:NAX_LINKED_FOR_${instructions}=1>)
endfunction()

if(NAX_BUILD_ENGINE)
  set(engines "")  # <instructions>=<target>, or without the target where nax::nax brings it anyway
  macro(nax_offer_engine target when)
    nax_find_instructions(instructions)
    if(instructions AND NOT engines MATCHES "(^|;)${instructions}=")
      if("${when}" STREQUAL "where_wanted")
        list(APPEND engines ${instructions}=${target})
      else()
        list(APPEND engines ${instructions}=)
        nax_bring_engine(${target} ${instructions})
      endif()
    endif()
  endmacro()
  set(when always)
  if(NOT PROJECT_IS_TOP_LEVEL AND NOT NAX_INSTALL)
    set(when where_wanted)
  endif()
  nax_offer_engine(nax_engine ${when})
  foreach(processor IN LISTS NAX_ENGINE_FOR)
    block(PROPAGATE NAX_ENGINE_TARGETS engines)
      set(NAX_PROCESSOR ${processor})
      nax_add_engine(nax_engine_${processor} "${NAX_KERNELS}")
      nax_offer_engine(nax_engine_${processor} always)
      list(APPEND NAX_ENGINE_TARGETS nax_engine_${processor})
      if(NOT PROJECT_IS_TOP_LEVEL AND NOT NAX_INSTALL)
        set_target_properties(nax_engine_${processor} PROPERTIES EXCLUDE_FROM_ALL ON)
      endif()
    endblock()
  endforeach()
  # A project that adds nax often says -march=native for its own targets alone, which its flags do not tell.
  if(when STREQUAL "where_wanted" AND NOT CMAKE_CROSSCOMPILING AND NOT TARGET nax_engine_native)
    block(PROPAGATE engines)
      set(NAX_PROCESSOR native)
      nax_add_engine(nax_engine_native "${NAX_KERNELS}" EXCLUDE_FROM_ALL)
      nax_offer_engine(nax_engine_native where_wanted)
    endblock()
  endif()
  if(NOT PROJECT_IS_TOP_LEVEL)
    nax_choose_engines_later(${PROJECT_SOURCE_DIR}/include ${engines})
  endif()
  if(NOT APPLE)
    target_link_options(nax INTERFACE LINKER:--gc-sections)
  endif()
endif()
if(NOT NAX_BUILD_ENGINE OR NOT (PROJECT_IS_TOP_LEVEL OR NAX_INSTALL))
  set_target_properties(nax_engine PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

# nax::compiled: nax::nax, and the processor that the engine is compiled for, which programs must be compiled for as well.
add_library(nax_compiled INTERFACE)
add_library(nax::compiled ALIAS nax_compiled)
target_link_libraries(nax_compiled INTERFACE nax)
if(NAX_NATIVE)
  target_compile_options(nax_compiled INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
endif()
set_target_properties(nax_compiled PROPERTIES EXPORT_NAME compiled)

# For projects of many files: nax.hpp, precompiled once for each target that links this.
add_library(nax_pch INTERFACE)
add_library(nax::pch ALIAS nax_pch)
set_target_properties(nax_pch PROPERTIES EXPORT_NAME pch)
target_link_libraries(nax_pch INTERFACE nax)
target_precompile_headers(nax_pch INTERFACE <nax/nax.hpp>)
