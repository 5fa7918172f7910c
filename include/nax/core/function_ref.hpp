#pragma once

#include <memory>
#include <type_traits>

#include "nax/core/abi.hpp"

NAX_BEGIN

// A callable lent for the duration of a call: what takes one is compiled once, not once for each callable.
template <class Signature>
class FunctionRef;

template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>) FunctionRef(F&& f)
      : function_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* function, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<F>*>(function))(args...);
        }) {}

  Result operator()(Args... args) const { return call_(function_, args...); }

 private:
  void* function_;
  Result (*call_)(void*, Args...);
};

NAX_END
