# libwebp, which nax::image uses where it is: NAX_HAVE_WEBP, NAX_WEBP_INCLUDE and NAX_WEBP_LIBRARY.
find_path(NAX_WEBP_INCLUDE webp/decode.h)
find_library(NAX_WEBP_LIBRARY webp)
mark_as_advanced(NAX_WEBP_INCLUDE NAX_WEBP_LIBRARY)
set(NAX_HAVE_WEBP FALSE)
if(NAX_WEBP_INCLUDE AND NAX_WEBP_LIBRARY)
  set(NAX_HAVE_WEBP TRUE)
endif()
