# Makes a Debian package of the headers by CPACK, unpacks it and configures a project that finds nax in it.
set(temporary $ENV{TMPDIR})
if(NOT temporary)
  set(temporary /tmp)
endif()
string(RANDOM LENGTH 12 random)
set(scratch ${temporary}/nax-deb-${random})
function(run folder)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${folder} OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    file(REMOVE_RECURSE ${scratch})
    message(FATAL_ERROR "${ARGN}: ${said}")
  endif()
endfunction()

file(MAKE_DIRECTORY ${scratch})
run(${scratch} ${CMAKE_COMMAND} -S ${NAX_SOURCE_DIR} -B nax -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DNAX_BUILD_TESTS=OFF -DNAX_BUILD_EXAMPLES=OFF -DNAX_BUILD_ENGINE=OFF)
run(${scratch}/nax ${CPACK} -G DEB)
file(GLOB package ${scratch}/nax/libnax-dev_*_all.deb)
run(${scratch} ${DPKG_DEB} -x "${package}" unpacked)
run(${scratch} ${CMAKE_COMMAND} -S ${NAX_SOURCE_DIR}/packaging/conan -B project -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_PREFIX_PATH=${scratch}/unpacked/usr)
file(REMOVE_RECURSE ${scratch})
