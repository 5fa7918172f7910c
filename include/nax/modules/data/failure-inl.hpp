#pragma once

#include "nax/modules/data/failure.hpp"

NAX_BEGIN
namespace data::detail {

NAX_ENGINE void rethrow_from(const std::string& stage, const std::string& source) {
  try {
    throw;
  } catch (const ShapeError& error) {
    throw_again(stage, source, error);
  } catch (const TypeError& error) {
    throw_again(stage, source, error);
  } catch (const IndexError& error) {
    throw_again(stage, source, error);
  } catch (const ValueError& error) {
    throw_again(stage, source, error);
  } catch (const DeviceError& error) {
    throw_again(stage, source, error);
  } catch (const IoError& error) {
    throw_again(stage, source, error);
  } catch (const std::exception& error) {
    throw_again(stage, source, Error(error.what()));
  } catch (...) {
    throw_again(stage, source, Error("an exception that is no std::exception"));
  }
}

NAX_ENGINE std::string stage_label(const char* kind, const std::string& name) {
  return name.empty() ? kind : kind + (" '" + name + "'");
}

NAX_ENGINE void check_not_negative(const char* function, const char* what, std::int64_t n) {
  if (n < 0) raise<ValueError>({function, ": ", what, " must not be negative, got ", n});
}

}  // namespace data::detail
NAX_END
