# hnswlib, which nax::hnsw is made of: NAX_HAVE_HNSWLIB and NAX_HNSWLIB_INCLUDE.
find_path(NAX_HNSWLIB_INCLUDE hnswlib/hnswlib.h)
mark_as_advanced(NAX_HNSWLIB_INCLUDE)
set(NAX_HAVE_HNSWLIB FALSE)
if(NAX_HNSWLIB_INCLUDE)
  set(NAX_HAVE_HNSWLIB TRUE)
endif()
