#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nax/io/file.hpp"

// Objects by address: https:// and http://, s3://bucket/key, gs://bucket/key, az://account/container/blob.
// Programs that call this link nax::storage, which brings libcurl; data::from_files and data::image_folder
// then take such addresses as paths.
//
// Credentials come from where each store's own tools look: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
// AWS_SESSION_TOKEN, or the profile AWS_PROFILE of AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials), with
// AWS_REGION and AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL; or roles: AWS_WEB_IDENTITY_TOKEN_FILE with
// AWS_ROLE_ARN, a container's (AWS_CONTAINER_CREDENTIALS_FULL_URI), that of a machine at Amazon's. For gs://
// GOOGLE_OAUTH_ACCESS_TOKEN, or GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY, with GS_ENDPOINT_URL. For az://
// AZURE_STORAGE_KEY (of AZURE_STORAGE_ACCOUNT, where that is set) or AZURE_STORAGE_SAS_TOKEN, with
// AZURE_STORAGE_SERVICE_ENDPOINT. Without any, requests are not signed. No error shows them, nor the query of
// an address. AWS_CA_BUNDLE, CURL_CA_BUNDLE or SSL_CERT_FILE names a file of certificates to trust instead of
// the system's.
NAX_BEGIN
namespace storage {

struct Options {
  int connections = 8;                // at once for one large object
  std::int64_t part_bytes = 8 << 20;  // of a large object, for each request
  int retries = 6;         // after errors that may pass: 5xx, 408, 429, resets, timeouts, short bodies
  double backoff = 0.1;    // seconds before the first retry; doubles, with jitter, up to 10 s
  double timeout = 30;     // seconds without a byte, then the request is tried again
  double deadline = 600;   // seconds for a request (a part, or an object), retries counted in
  bool verify = true;      // bytes against the checksums that the store keeps
  std::string cache = "";  // a folder for what was read; none: nothing is kept
  std::int64_t cache_bytes = std::int64_t{16}
                             << 30;  // what it may hold; what was not used for longest goes first
  bool revalidate = false;           // asks the store, by ETag, whether a kept object is still its own
  std::int64_t upload_part_bytes = 16 << 20;  // larger objects are uploaded in parts of this size
};

// For all reads from now on.
void configure(const Options& options);

// All bytes of an object. Throws IoError naming it and the last failure where it did not arrive whole.
io::Bytes read(const std::string& address);

// Uploads an object to s3://, gs:// or az://, or replaces it. Objects of more than .upload_part_bytes go in
// parts, several at once. The store checks every part by its CRC32C (Azure: its MD5) before it takes it. The
// object is there complete or not at all: a failed upload is aborted. Throws IoError naming it and the last
// failure.
void write(const std::string& address, const io::Bytes& object);

struct Object {
  std::string address;
  std::int64_t size = 0;
  std::string etag = "";  // changes with the object
};
// The objects of s3://, gs:// and az:// whose addresses begin with this one, in the store's order (by name).
std::vector<Object> list(const std::string& address);

}  // namespace storage
NAX_END
