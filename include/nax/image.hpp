#pragma once

// Images: sizes and augmentation, and declarations of the decoders; link nax::image for what is behind those.

#include "nax/modules/image/augment.hpp"
#include "nax/modules/image/codec.hpp"
#include "nax/modules/image/enhance.hpp"
#include "nax/modules/image/mix.hpp"
#include "nax/modules/image/rand_augment.hpp"
#include "nax/modules/image/resize.hpp"
