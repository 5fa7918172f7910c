#pragma once

#include <filesystem>

// MNIST from the network into a folder, through the program curl. Only files with the right contents get
// there.
namespace examples {

// Fetches what the folder has not; false where that is not possible. What is there already is checked too.
bool fetch_mnist(const std::filesystem::path& folder);

}  // namespace examples
