#include "rows.hpp"

namespace bench {

Rows random_rows() {
  return {
      {"random_uniform_1m",
       [] {
         const auto key = nax::random::key(0);
         return calls([=] { return nax::random::uniform<float>(key, {1 << 20}); });
       }},
      {"random_normal_1m",
       [] {
         const auto key = nax::random::key(0);
         return calls([=] { return nax::random::normal<float>(key, {1 << 20}); });
       }},
  };
}

}  // namespace bench
