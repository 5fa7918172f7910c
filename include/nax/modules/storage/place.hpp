#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>

#include "nax/core/at_fork.hpp"
#include "nax/core/error.hpp"
#include "nax/modules/storage/signature.hpp"

// The meaning of an address: which server to ask, with which credentials.
NAX_BEGIN
namespace storage::detail {

inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// A value of an ini file's section, as AWS's tools write them.
inline std::string ini_value(const std::string& path, const std::string& section, const std::string& name) {
  const auto trimmed = [](const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
    return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
  };
  std::ifstream in(path);
  std::string line;
  bool inside = false;
  while (std::getline(in, line)) {
    line = trimmed(line);
    const std::size_t equals = line.find('=');
    if (!line.empty() && line[0] == '[')
      inside = line == "[" + section + "]" || line == "[profile " + section + "]";
    else if (inside && equals != std::string::npos && trimmed(line.substr(0, equals)) == name)
      return trimmed(line.substr(equals + 1));
  }
  return "";
}

inline std::string first_of(std::initializer_list<std::string> values) {
  for (const std::string& value : values)
    if (!value.empty()) return value;
  return "";
}

// Of a role that the machine or the container has, or that a token of an identity gives; none where there is
// no such thing. Asks servers, so that the component sets it.
using RoleCredentials = Credentials();
inline constinit RoleCredentials* role_credentials = nullptr;

// Regions of buckets that answered that they lie in another one than was asked.
class Regions {
 public:
  static Regions& instance() {
    static Regions* const regions = new Regions;
    return *regions;
  }
  std::string of(const std::string& bucket) {
    const std::lock_guard lock(mutex_);
    const auto found = by_bucket_.find(bucket);
    return found == by_bucket_.end() ? "" : found->second;
  }
  void learn(const std::string& bucket, const std::string& region) {
    const std::lock_guard lock(mutex_);
    by_bucket_[bucket] = region;
  }

 private:
  nax::detail::ForkMutex mutex_;
  std::map<std::string, std::string> by_bucket_;
};
// A region's name becomes part of a host's.
inline bool is_region(const std::string& text) {
  return !text.empty() && text.size() < 64 &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

inline Credentials aws_credentials() {
  const Credentials own{environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"),
                        environment("AWS_SESSION_TOKEN")};
  if (own) return own;
  const bool has_token = !environment("AWS_WEB_IDENTITY_TOKEN_FILE").empty();
  if (has_token && role_credentials) return role_credentials();
  const std::string file =
      first_of({environment("AWS_SHARED_CREDENTIALS_FILE"), environment("HOME") + "/.aws/credentials"});
  const std::string profile = first_of({environment("AWS_PROFILE"), "default"});
  const Credentials kept{ini_value(file, profile, "aws_access_key_id"),
                         ini_value(file, profile, "aws_secret_access_key"),
                         ini_value(file, profile, "aws_session_token")};
  return kept || !role_credentials ? kept : role_credentials();
}
inline std::string aws_region() {
  const std::string file = first_of({environment("AWS_CONFIG_FILE"), environment("HOME") + "/.aws/config"});
  return first_of({environment("AWS_REGION"), environment("AWS_DEFAULT_REGION"),
                   ini_value(file, first_of({environment("AWS_PROFILE"), "default"}), "region"),
                   "us-east-1"});
}

// Of an object, or of a bucket whose objects are listed.
struct Place {
  std::string shown;                // what errors say: without a query, which may hold secrets
  std::string base;                 // scheme and host: https://host:port
  std::string host;                 // with the port, as the request says it
  std::string path;                 // encoded
  std::string query;                // of an https address, as it is
  std::string scheme, bucket, key;  // of stores; Azure's bucket is account/container
  bool is_store = false;
  Credentials credentials;
  std::string region, bearer;
  std::string account, account_key, sas;  // of Azure
  std::string object_path() const { return is_store ? path + percent_encoded(key, true) : path; }
  static bool is_list(const Pairs& query) { return !query.empty() && query[0].first == "list-type"; }
};

// az://account/container/blob
inline void complete_azure(const char* function, Place& place) {
  const std::size_t slash = place.key.find('/');
  const std::string container = place.key.substr(0, slash);
  if (container.empty()) raise<IoError>({function, ": '", place.shown, "' has no container"});
  place.account = place.bucket;
  place.bucket += "/" + container;
  place.key = slash == std::string::npos ? "" : place.key.substr(slash + 1);
  const std::string keys_account = environment("AZURE_STORAGE_ACCOUNT");
  if (keys_account.empty() || keys_account == place.account)  // the key of another account is of no use
    place.account_key = environment("AZURE_STORAGE_KEY");
  if (place.account_key.empty()) place.sas = environment("AZURE_STORAGE_SAS_TOKEN");
  if (!place.sas.empty() && place.sas[0] == '?') place.sas.erase(0, 1);
  place.base = environment("AZURE_STORAGE_SERVICE_ENDPOINT");
  while (!place.base.empty() && place.base.back() == '/') place.base.pop_back();
  place.path = "/" + percent_encoded(container, false) + "/";
  if (place.base.empty())
    place.base = "https://" + place.account + ".blob.core.windows.net";
  else  // an emulator, or a proxy: the account is part of the path
    place.path = "/" + percent_encoded(place.account, false) + place.path;
  if (place.base.find("://") == std::string::npos)
    raise<IoError>({function, ": the endpoint '", place.base, "' has no scheme"});
  place.host = place.base.substr(place.base.find("://") + 3);
}

inline Place place_of(const char* function, const std::string& address) {
  const std::size_t colon = address.find("://");
  if (colon == std::string::npos)
    raise<IoError>({function, ": '", address, "' is no address: it has no scheme"});
  Place place;
  place.scheme = address.substr(0, colon);
  const std::string rest = address.substr(colon + 3);
  const std::size_t slash = rest.find('/');
  const std::string first = rest.substr(0, slash);
  if (first.empty()) raise<IoError>({function, ": '", address, "' has no host or bucket"});
  if (place.scheme == "http" || place.scheme == "https") {
    std::string tail = slash == std::string::npos ? "/" : rest.substr(slash);
    tail = tail.substr(0, tail.find('#'));
    const std::size_t mark = tail.find('?');
    if (mark != std::string::npos) place.query = tail.substr(mark + 1);
    place.path = tail.substr(0, mark);
    const std::size_t at = first.rfind('@');  // user:password@host goes along, and is never shown
    place.host = at == std::string::npos ? first : first.substr(at + 1);
    place.base = place.scheme + "://" + first;
    place.shown = place.scheme + "://" + place.host + place.path;
    return place;
  }
  place.is_store = true;
  place.shown = address;
  place.bucket = first;
  place.key = slash == std::string::npos ? "" : rest.substr(slash + 1);
  if (place.scheme == "az") {
    complete_azure(function, place);
    return place;
  }
  std::string endpoint;
  bool by_path = true;
  if (place.scheme == "s3") {
    place.credentials = aws_credentials();
    place.region = first_of({Regions::instance().of(place.bucket), aws_region()});
    endpoint = first_of({environment("AWS_ENDPOINT_URL_S3"), environment("AWS_ENDPOINT_URL")});
    if (endpoint.empty()) {
      by_path = place.bucket.find('.') != std::string::npos;  // a certificate's star stands for no dots
      endpoint = "https://" + (by_path ? "" : place.bucket + ".") + "s3." + place.region + ".amazonaws.com";
    }
  } else if (place.scheme == "gs") {
    place.bearer =
        first_of({environment("GOOGLE_OAUTH_ACCESS_TOKEN"), environment("CLOUDSDK_AUTH_ACCESS_TOKEN")});
    if (place.bearer.empty())
      place.credentials = {environment("GS_ACCESS_KEY_ID"), environment("GS_SECRET_ACCESS_KEY"), ""};
    place.region = "auto";
    endpoint = first_of({environment("GS_ENDPOINT_URL"), "https://storage.googleapis.com"});
  } else {
    raise<IoError>({function, ": '", address, "': nothing is known of ", place.scheme, "://"});
  }
  while (!endpoint.empty() && endpoint.back() == '/') endpoint.pop_back();
  const std::size_t host = endpoint.find("://");
  if (host == std::string::npos) raise<IoError>({function, ": the endpoint '", endpoint, "' has no scheme"});
  place.base = endpoint;
  place.host = endpoint.substr(host + 3);
  if (place.credentials) {  // the signature is of the host as a client says it: without the scheme's own port
    const bool tls = endpoint.compare(0, 5, "https") == 0;
    const std::string own = tls ? ":443" : ":80";
    if (place.host.size() > own.size() &&
        place.host.compare(place.host.size() - own.size(), own.size(), own) == 0)
      place.host.resize(place.host.size() - own.size());
  }
  place.path = (by_path ? "/" + percent_encoded(place.bucket, false) : "") + "/";
  return place;
}

// The texts of all <tag> elements within `xml`, as they are.
inline std::vector<std::string> xml_texts(std::string_view xml, const std::string& tag) {
  std::vector<std::string> texts;
  const std::string open = "<" + tag + ">", close = "</" + tag + ">";
  for (std::size_t at = 0; (at = xml.find(open, at)) != std::string_view::npos;) {
    const std::size_t begin = at + open.size(), end = xml.find(close, begin);
    if (end == std::string_view::npos) break;
    texts.emplace_back(xml.substr(begin, end - begin));
    at = end + close.size();
  }
  return texts;
}
inline std::string xml_unescaped(std::string_view text) {
  static constexpr std::pair<std::string_view, char> names[] = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    bool found = false;
    for (const auto& [name, c] : names)
      if (!found && text.substr(i, name.size()) == name) out += c, i += name.size(), found = true;
    if (!found) out += text[i++];
  }
  return out;
}

}  // namespace storage::detail
NAX_END
