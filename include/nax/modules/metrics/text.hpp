#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "nax/modules/metrics/mean.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/tree/static.hpp"

// Metrics of texts as sequences of words or numbers.
NAX_BEGIN
namespace metrics {

// BLEU of a corpus (Papineni and others 2002): the geometric mean of the shares of n-grams, up to `orders` of
// them, that a reference has too, times a penalty where the candidates are shorter than the nearest
// references. Without smoothing: 0 where no n-gram of an order is found.
struct Bleu {
  Array<double> found, all;                          // (orders,): n-grams
  Array<double> candidate_length, reference_length;  // ()

  static Bleu make(std::int64_t orders = 4) {
    if (orders < 1) raise<ValueError>({"metrics::Bleu: there must be an order, got ", orders});
    return {zeros<double>({orders}), zeros<double>({orders}), zeros<double>({}), zeros<double>({})};
  }
  // One candidate and its references, of words or numbers. Throws ValueError without references.
  template <class Token>
  Bleu update(const std::vector<Token>& candidate, const std::vector<std::vector<Token>>& references) const {
    if (references.empty()) throw ValueError("metrics::Bleu: a candidate must have a reference");
    const std::size_t orders = static_cast<std::size_t>(found.shape(0));
    std::vector<double> right(orders), total(orders);
    for (std::size_t n = 1; n <= orders; ++n) {
      std::map<std::vector<Token>, std::int64_t> most;  // in one reference
      for (const auto& reference : references)
        for (const auto& [gram, count] : grams(reference, n)) most[gram] = std::max(most[gram], count);
      for (const auto& [gram, count] : grams(candidate, n)) {
        total[n - 1] += static_cast<double>(count);
        if (const auto it = most.find(gram); it != most.end())
          right[n - 1] += static_cast<double>(std::min(count, it->second));
      }
    }
    const std::int64_t length = static_cast<std::int64_t>(candidate.size());
    std::int64_t nearest = static_cast<std::int64_t>(references[0].size());
    for (const auto& reference : references) {
      const std::int64_t n = static_cast<std::int64_t>(reference.size());
      const std::int64_t far = std::abs(n - length), best = std::abs(nearest - length);
      if (far < best || (far == best && n < nearest)) nearest = n;
    }
    return merge(Bleu{asarray(right), asarray(total), Array<double>(static_cast<double>(length)),
                      Array<double>(static_cast<double>(nearest))});
  }
  template <class M = Bleu>
  M merge(const M& other) const {
    return {found + other.found, all + other.all, candidate_length + other.candidate_length,
            reference_length + other.reference_length};
  }
  template <class A = Array<double>>
  A value() const {
    const double orders = static_cast<double>(found.shape(0));
    const A shares = nax::detail::ratio_or_zero<A>(found, all);
    const A mean = exp(sum(log(shares)) / orders);
    const A penalty =
        where(candidate_length < reference_length,
              exp(1.0 - nax::detail::ratio_or_zero<A>(reference_length, candidate_length)), 1.0);
    return where(candidate_length == 0.0, 0.0, mean * penalty);
  }

 private:
  template <class Token>
  static std::map<std::vector<Token>, std::int64_t> grams(const std::vector<Token>& text, std::size_t n) {
    std::map<std::vector<Token>, std::int64_t> counts;
    for (std::size_t i = 0; i + n <= text.size(); ++i)
      ++counts[std::vector<Token>(text.begin() + static_cast<std::ptrdiff_t>(i),
                                  text.begin() + static_cast<std::ptrdiff_t>(i + n))];
    return counts;
  }
};

}  // namespace metrics
NAX_END
