#pragma once

// Files: npz, npy, safetensors, checkpoints (nax/io/gzip.hpp, idx.hpp and mnist.hpp are apart: they need
// zlib).

#include "nax/io/checkpoint_folder.hpp"
#include "nax/io/checkpoints.hpp"
#include "nax/io/crc32.hpp"
#include "nax/io/deflate.hpp"
#include "nax/io/file.hpp"
#include "nax/io/mapped_file.hpp"
#include "nax/io/member.hpp"
#include "nax/io/new_file.hpp"
#include "nax/io/npy.hpp"
#include "nax/io/npy_header.hpp"
#include "nax/io/numpy_files.hpp"
#include "nax/io/part_files.hpp"
#include "nax/io/remote.hpp"
#include "nax/io/safetensors.hpp"
#include "nax/io/safetensors_header.hpp"
#include "nax/io/save.hpp"
#include "nax/io/text_tables.hpp"
#include "nax/io/torch.hpp"
#include "nax/io/unpack.hpp"
#include "nax/io/zip_reader.hpp"
#include "nax/io/zip_writer.hpp"
