# Toolchain of the preset mingw: Windows programs by MinGW-w64 (Debian's g++-mingw-w64-x86-64-posix, libz-mingw-w64-dev), whose tests
# run under wine (wine64).
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
# GCC aligns no stack of Windows to the 32 bytes of AVX's registers (its bug 54412), and an object file has more sections here than
# its plain form can count.
set(CMAKE_CXX_FLAGS_INIT "-march=x86-64-v3 -Wa,-muse-unaligned-vector-move -Wa,-mbig-obj")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")

# Libraries and packages of this machine are for this machine. Headers alone serve both.
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ZLIB_USE_STATIC_LIBS ON)
set(ENV{PKG_CONFIG_LIBDIR} /nowhere)
if(EXISTS /usr/include/xbyak/xbyak.h AND NOT EXISTS ${CMAKE_BINARY_DIR}/headers/xbyak)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/headers)
  file(CREATE_LINK /usr/include/xbyak ${CMAKE_BINARY_DIR}/headers/xbyak SYMBOLIC)
endif()
if(EXISTS /usr/include/xbyak/xbyak.h)
  set(NAX_XBYAK_INCLUDE ${CMAKE_BINARY_DIR}/headers)
endif()

find_program(NAX_WINE NAMES wine64 wine PATHS /usr/lib/wine)
if(NAX_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR env WINEDEBUG=-all ${NAX_WINE})
endif()
