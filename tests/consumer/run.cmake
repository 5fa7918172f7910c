# Installs nax into a fresh prefix and builds a project outside the tree against it, then, where NAX_SOURCE_DIR is given, the
# same project with FetchContent from the source folder; runs the programs. With CUDA_COMPILER the project is one for GPUs. A consumer's
# build must not need what only nax's own tests need.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    file(REMOVE_RECURSE ${scratch})
    message(FATAL_ERROR "exit status ${result}")
  endif()
endfunction()

set(temporary $ENV{TMPDIR})
if(NOT temporary)
  set(temporary /tmp)
endif()
string(RANDOM LENGTH 12 random)
set(scratch ${temporary}/nax-consumer-${random})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/project DESTINATION ${scratch})

run(${CMAKE_COMMAND} --install ${NAX_BINARY_DIR} --prefix ${scratch}/prefix)

set(configure ${CMAKE_COMMAND} -S ${scratch}/project -G ${GENERATOR} -DCMAKE_BUILD_TYPE=None
    -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS} -O0")
if(CUDA_COMPILER)
  list(APPEND configure -DCMAKE_CUDA_COMPILER=${CUDA_COMPILER} -DCMAKE_CUDA_ARCHITECTURES=90)
endif()
run(${configure} -B ${scratch}/found -DCMAKE_PREFIX_PATH=${scratch}/prefix)
run(${CMAKE_COMMAND} --build ${scratch}/found)
run(${scratch}/found/consumer)
run(${scratch}/found/gpu_consumer)
if(CUDA_COMPILER)
  run(${scratch}/found/nvrtc_consumer)
endif()
if(COMPILED)
  run(${scratch}/found/compiled_consumer)
endif()

if(NAX_SOURCE_DIR)
  run(${configure} -B ${scratch}/fetched -DNAX_FOLDER=${NAX_SOURCE_DIR})
  run(${CMAKE_COMMAND} --build ${scratch}/fetched)
  run(${scratch}/fetched/consumer)
endif()

file(REMOVE_RECURSE ${scratch})
