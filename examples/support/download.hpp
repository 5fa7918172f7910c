#pragma once

#include <filesystem>

// MNIST from the network into a folder, through the program curl. Only files with the right contents get
// there.
namespace examples {

// Fetches the files that the folder lacks; returns false if that is not possible. Existing files are checked,
// too.
bool fetch_mnist(const std::filesystem::path& folder);

}  // namespace examples
