#pragma once

// Images: sizes and augmentation, and declarations of the decoders; link nax::image for what is behind those.

#include "nax/image/augment.hpp"
#include "nax/image/codec.hpp"
#include "nax/image/enhance.hpp"
#include "nax/image/mix.hpp"
#include "nax/image/rand_augment.hpp"
#include "nax/image/resize.hpp"
