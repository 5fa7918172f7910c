# nax::cuda for programs that use GPUs, nax::nvrtc for those whose own files no CUDA compiler reads, nax::cudnn for those whose convolutions cuDNN computes, nax::nccl for those whose pmap
# runs on several, nax::cuda_emulated for tests without a GPU. Each adds source files that are compiled with the program: with its flags, for its architectures.
# The source of nax::cuda, which takes minutes, is compiled once (cuda_object.cmake).
#
# nax::cuda needs CUDA as a language of the project (LANGUAGES CXX CUDA) and the toolkit, which is looked for here; only projects
# that link this target fail without it.
find_package(CUDAToolkit QUIET GLOBAL)

function(nax_add_accelerator name source)
  set(path include/nax/${source})
  add_library(nax_${name} INTERFACE)
  add_library(nax::${name} ALIAS nax_${name})
  set_target_properties(nax_${name} PROPERTIES EXPORT_NAME ${name})
  target_sources(nax_${name} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/${path}>
                                       $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${path}>)
  target_link_libraries(nax_${name} INTERFACE nax_headers)
endfunction()

# Rules are plain constexpr, so nvcc needs --expt-relaxed-constexpr to call them on the device; Eigen's own annotations
# for CUDA would get in the way. -std by hand: CMake 3.25 knows no C++20 for nvcc 13. To the host's compiler all of a .cu
# file comes from some header, and lambdas that hold lambdas, as transforms make them, would look suspicious there.
nax_add_accelerator(cuda devices/cuda/nax_cuda.cu)
target_link_libraries(nax_cuda INTERFACE CUDA::cudart CUDA::cublasLt CUDA::cublas CUDA::cusolver CUDA::cufft)
target_compile_options(nax_cuda INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr -Xcompiler=-Wno-subobject-linkage>)
target_compile_definitions(nax_cuda INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:EIGEN_NO_CUDA> $<$<COMPILE_LANGUAGE:CUDA>:NAX_CUDA_LINKED>)

# nax::cuda for programs whose own files are C++: expressions of floating numbers are compiled by NVRTC when they first run.
# nax_cuda.cu alone is compiled by nvcc. libnvrtc is opened when it is needed.
nax_add_accelerator(nvrtc devices/cuda/nax_nvrtc.cpp)
target_link_libraries(nax_nvrtc INTERFACE nax_cuda ${CMAKE_DL_LIBS})
target_compile_definitions(nax_nvrtc INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:NAX_CUDA_FORMULAS>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<TARGET_EXISTS:CUDA::nvrtc>>:NAX_NVRTC_LIBRARY="$<TARGET_FILE:CUDA::nvrtc>">)

nax_add_accelerator(cuda_emulated devices/cuda/nax_cuda_emulated.cpp)
target_compile_definitions(nax_cuda_emulated INTERFACE NAX_CUDA_EMULATED)

# cuDNN: convolutions. As with NCCL below.
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
find_package(CUDNN 9 QUIET)
nax_add_accelerator(cudnn devices/cuda/cudnn/nax_cudnn.cpp)
target_link_libraries(nax_cudnn INTERFACE nax_cuda CUDNN::CUDNN)

# NCCL: pmap's collectives between cards. The library is looked for here; only projects that link this target fail without it.
find_package(NCCL QUIET)
nax_add_accelerator(nccl devices/nccl/nax_nccl.cu)
target_link_libraries(nax_nccl INTERFACE nax_cuda NCCL::NCCL)

# nax::cuda_emulated, whose sources include an emulated NCCL.
nax_add_accelerator(nccl_emulated devices/nccl/nax_nccl_emulated.cpp)
target_link_libraries(nax_nccl_emulated INTERFACE nax_cuda_emulated)
