#pragma once

#include <fstream>
#include <iterator>

#include "nax/modules/storage/http.hpp"

// Credentials of roles, which servers hand out for some hours: by the token of an identity (STS's
// AssumeRoleWithWebIdentity), of a container, or of the machine (IMDS, version 2).
NAX_BEGIN
namespace storage::detail {

struct Lease {
  Credentials credentials;
  std::time_t until = 0;  // to be renewed then; 0: no need to
};

// The text of a member of a flat JSON object.
inline std::string json_text(std::string_view json, const std::string& name) {
  std::size_t at = json.find("\"" + name + "\"");
  if (at == std::string_view::npos) return "";
  at = json.find_first_not_of(" \t\r\n:", at + name.size() + 2);
  if (at == std::string_view::npos || json[at] != '"') return "";
  std::string text;
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\' && at + 1 < json.size()) ++at;
    text += json[at];
  }
  return text;
}
// 2026-11-24T18:05:00Z, less some minutes.
inline std::time_t renewal_time(const std::string& expiration) {
  std::tm parts{};
  if (!::strptime(expiration.c_str(), "%Y-%m-%dT%H:%M:%S", &parts)) return 0;
  return ::timegm(&parts) - 300;
}

// The body of a 200 within a few attempts, without redirects; throws IoError that says what failed.
inline std::string ask_for_credentials(const std::string& url, const char* method, const Pairs& headers,
                                       const std::string& form, double timeout, int attempts) {
  std::string failure;
  for (int i = 0; i < attempts; ++i) {
    Response response;
    CURLcode code;
    const bool has_body = std::string_view(method) != "GET";
    const Body body{has_body ? reinterpret_cast<const std::uint8_t*>(form.c_str()) : nullptr, form.size()};
    const auto deadline = Clock::now() + std::chrono::milliseconds(static_cast<int>(1000 * timeout));
    const End end = attempt(url, method, headers, timeout, deadline, false, response, code, body);
    if (end == End::answered && response.status == 200) return {response.body.begin(), response.body.end()};
    failure = end == End::answered ? "it answers " + std::to_string(response.status) : "no answer";
    if (end == End::left || (end == End::answered && !may_pass(response.status))) break;
  }
  raise<IoError>({"storage: no credentials from ", url.substr(0, url.find('?')), ": ", failure});
}

inline Lease lease_of_json(const std::string& json) {
  return {{json_text(json, "AccessKeyId"), json_text(json, "SecretAccessKey"), json_text(json, "Token")},
          renewal_time(json_text(json, "Expiration"))};
}

inline Lease lease_by_identity() {
  std::ifstream file(environment("AWS_WEB_IDENTITY_TOKEN_FILE"));
  std::string token{std::istreambuf_iterator<char>(file), {}};
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  if (token.empty())
    raise<IoError>({"storage: the file of AWS_WEB_IDENTITY_TOKEN_FILE cannot be read, or is empty"});
  const std::string form =
      query_text({{"Action", "AssumeRoleWithWebIdentity"},
                  {"Version", "2011-06-15"},
                  {"RoleArn", environment("AWS_ROLE_ARN")},
                  {"RoleSessionName", first_of({environment("AWS_ROLE_SESSION_NAME"), "nax"})},
                  {"WebIdentityToken", token}});
  const std::string endpoint = first_of({environment("AWS_ENDPOINT_URL_STS"), environment("AWS_ENDPOINT_URL"),
                                         "https://sts." + aws_region() + ".amazonaws.com"});
  const std::string xml = ask_for_credentials(
      endpoint + "/", "POST", {{"Content-Type", "application/x-www-form-urlencoded"}}, form, 10, 4);
  const auto text = [&](const char* tag) {
    const auto texts = xml_texts(xml, tag);
    return texts.empty() ? "" : xml_unescaped(texts[0]);
  };
  return {{text("AccessKeyId"), text("SecretAccessKey"), text("SessionToken")},
          renewal_time(text("Expiration"))};
}

inline Lease lease_of_container() {
  const std::string relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
                    token = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  const std::string url = relative.empty() ? environment("AWS_CONTAINER_CREDENTIALS_FULL_URI")
                                           : "http://169.254.170.2" + relative;
  Pairs headers;
  if (!token.empty()) headers.emplace_back("Authorization", token);
  return lease_of_json(ask_for_credentials(url, "GET", headers, "", 5, 3));
}

inline Lease lease_of_machine(const std::string& endpoint) {
  const std::string base = endpoint + "/latest/";
  const std::string token = ask_for_credentials(
      base + "api/token", "PUT", {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}}, "", 1, 3);
  const Pairs headers = {{"X-aws-ec2-metadata-token", token}};
  const std::string roles = base + "meta-data/iam/security-credentials/";
  std::string role = ask_for_credentials(roles, "GET", headers, "", 1, 3);
  role = role.substr(0, role.find_first_of("\r\n"));
  return lease_of_json(ask_for_credentials(roles + percent_encoded(role, false), "GET", headers, "", 1, 3));
}

// Where the machine's metadata are: as AWS_EC2_METADATA_SERVICE_ENDPOINT says, or on a machine of Amazon's at
// its own address. Nothing is asked elsewhere, where the address leads nowhere.
inline std::string metadata_endpoint() {
  if (environment("AWS_EC2_METADATA_DISABLED") == "true") return "";
  std::string endpoint = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  while (!endpoint.empty() && endpoint.back() == '/') endpoint.pop_back();
  if (!endpoint.empty()) return endpoint;
  std::ifstream file("/sys/devices/virtual/dmi/id/sys_vendor");
  std::string vendor;
  std::getline(file, vendor);
  return vendor == "Amazon EC2" ? "http://169.254.169.254" : "";
}

// Asked for once, and again before it runs out. No credentials where there is no role.
inline Credentials credentials_of_role() {
  struct Kept {
    std::mutex mutex;
    std::string source;
    Lease lease;
  };
  static Kept* const kept = new Kept;
  const std::string identity = environment("AWS_WEB_IDENTITY_TOKEN_FILE"),
                    container = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") +
                                environment("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
                    machine = metadata_endpoint();
  if (identity.empty() && container.empty() && machine.empty()) return {};
  const std::string source =
      identity + "\n" + environment("AWS_ROLE_ARN") + "\n" + container + "\n" + machine;
  const std::lock_guard lock(kept->mutex);
  Lease& lease = kept->lease;
  const bool is_fresh = lease.until == 0 || std::time(nullptr) < lease.until;
  if (kept->source == source && is_fresh) return lease.credentials;
  const bool is_told =
      !identity.empty() || !container.empty() || !environment("AWS_EC2_METADATA_SERVICE_ENDPOINT").empty();
  kept->source.clear();
  try {
    lease = !identity.empty()    ? lease_by_identity()
            : !container.empty() ? lease_of_container()
                                 : lease_of_machine(machine);
    if (!lease.credentials) raise<IoError>({"storage: the role's server gave no credentials"});
  } catch (const IoError&) {
    if (is_told) throw;
    lease = {{}, std::time(nullptr) + 300};  // a machine without a role
  }
  kept->source = source;
  return lease.credentials;
}

}  // namespace storage::detail
NAX_END
