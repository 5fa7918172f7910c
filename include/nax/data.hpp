#pragma once

// Datasets: pipelines that feed devices. (nax/data/idx.hpp is apart: it needs zlib.)

#include "nax/data/batch.hpp"
#include "nax/data/cache.hpp"
#include "nax/data/cache_folder.hpp"
#include "nax/data/combine.hpp"
#include "nax/data/cursors.hpp"
#include "nax/data/dataset.hpp"
#include "nax/data/failure.hpp"
#include "nax/data/image_folder.hpp"
#include "nax/data/iterator.hpp"
#include "nax/data/map.hpp"
#include "nax/data/npy.hpp"
#include "nax/data/prefetch.hpp"
#include "nax/data/remote.hpp"
#include "nax/data/shuffle.hpp"
#include "nax/data/slices.hpp"
#include "nax/data/sources.hpp"
#include "nax/data/stage.hpp"
#include "nax/data/stored.hpp"
#include "nax/data/trees.hpp"
#include "nax/data/workers.hpp"
