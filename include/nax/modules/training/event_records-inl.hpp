#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "nax/io/deflate.hpp"
#include "nax/modules/training/event_records.hpp"

NAX_BEGIN
namespace training::detail {

NAX_ENGINE void ProtoWriter::doubles(int field, const std::vector<double>& values) {
  tag(field, 2);
  raw(values.size() * sizeof(double));
  bytes(values.data(), values.size() * sizeof(double));
}

NAX_ENGINE std::string framed(const std::string& data) {
  const std::uint64_t size = data.size();
  const std::uint32_t of_size = data::detail::masked_crc32c(&size, sizeof size);
  const std::uint32_t of_data = data::detail::masked_crc32c(data.data(), data.size());
  std::string out(reinterpret_cast<const char*>(&size), sizeof size);
  out.append(reinterpret_cast<const char*>(&of_size), sizeof of_size);
  out += data;
  return out.append(reinterpret_cast<const char*>(&of_data), sizeof of_data);
}

NAX_ENGINE ProtoWriter histogram_of(const std::vector<double>& values) {
  static const std::vector<double> limits = [] {
    std::vector<double> all;
    for (double limit = 1e-12; limit < 1e20; limit *= 1.1) all.push_back(limit);
    const std::vector<double> positive = all;
    all.assign(positive.rbegin(), positive.rend());
    for (double& limit : all) limit = -limit;
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    all.push_back(std::numeric_limits<double>::max());
    return all;
  }();
  std::vector<double> counts(limits.size(), 0.0);
  double least = std::numeric_limits<double>::max(), largest = -least, count = 0, sum = 0, squares = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const auto at = std::upper_bound(limits.begin(), limits.end() - 1, value) - limits.begin();
    ++counts[static_cast<std::size_t>(at)];
    least = std::min(least, value), largest = std::max(largest, value);
    ++count, sum += value, squares += value * value;
  }
  // Of a run of empty buckets only the last is written: it is the lower limit of the next.
  std::vector<double> edges, kept;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const bool next = i + 1 < counts.size() && counts[i + 1] > 0;
    if (counts[i] > 0 || next) edges.push_back(limits[i]), kept.push_back(counts[i]);
  }
  if (edges.empty()) edges.push_back(limits.back()), kept.push_back(0);
  ProtoWriter histogram;
  histogram.fixed64(1, count > 0 ? least : 0);
  histogram.fixed64(2, count > 0 ? largest : 0);
  histogram.fixed64(3, count);
  histogram.fixed64(4, sum);
  histogram.fixed64(5, squares);
  histogram.doubles(6, edges);
  histogram.doubles(7, kept);
  return histogram;
}

NAX_ENGINE std::string png_of(const std::uint8_t* pixels, std::int64_t height, std::int64_t width,
                              std::int64_t channels) {
  std::string out("\x89PNG\r\n\x1a\n", 8);
  const auto big_endian = [](std::uint32_t value) {
    std::string four;
    for (int shift = 24; shift >= 0; shift -= 8) four += static_cast<char>(value >> shift & 0xff);
    return four;
  };
  const auto chunk = [&](const char* name, const std::string& body) {
    const std::string named = name + body;
    out += big_endian(static_cast<std::uint32_t>(body.size())) + named;
    out += big_endian(io::detail::crc32(reinterpret_cast<const std::uint8_t*>(named.data()), named.size()));
  };
  const char colours = channels == 1 ? 0 : channels == 3 ? 2 : 6;
  chunk("IHDR", big_endian(static_cast<std::uint32_t>(width)) +
                    big_endian(static_cast<std::uint32_t>(height)) + std::string{8, colours, 0, 0, 0});
  const auto row = static_cast<std::size_t>(width * channels);
  std::string raw;
  for (std::int64_t y = 0; y < height; ++y) {
    raw += '\0';  // a row without a filter
    raw.append(reinterpret_cast<const char*>(pixels) + static_cast<std::size_t>(y) * row, row);
  }
  std::uint32_t a = 1, b = 0;  // Adler's checksum
  for (const char c : raw) a = (a + static_cast<std::uint8_t>(c)) % 65521, b = (b + a) % 65521;
  chunk("IDAT", "\x78\x01" +
                    io::detail::Deflate::pack(reinterpret_cast<const std::uint8_t*>(raw.data()), raw.size()) +
                    big_endian(b << 16 | a));
  chunk("IEND", "");
  return out;
}

}  // namespace training::detail
NAX_END
