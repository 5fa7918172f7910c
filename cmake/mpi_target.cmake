# nax::mpi for programs that run as several processes. It brings a source file, compiled with the program's own. MPI
# (OpenMPI, MPICH) is looked for here, and missed only by those who link this target.
find_package(MPI QUIET COMPONENTS CXX GLOBAL)
set(path include/nax/backend/mpi/nax_mpi.cpp)
add_library(nax_mpi INTERFACE)
add_library(nax::mpi ALIAS nax_mpi)
set_target_properties(nax_mpi PROPERTIES EXPORT_NAME mpi)
target_sources(nax_mpi INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/${path}> $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${path}>)
target_link_libraries(nax_mpi INTERFACE nax MPI::MPI_CXX)
